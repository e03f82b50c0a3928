//! The patterns of names in the options. A pattern that matches no tensor is probably a mistake.

use glob::Pattern;
use nonfinite_check::Selector;

use crate::command::args::How;
use crate::report::OneLine;

/// The patterns that have matched no tensor so far, with their options.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<(&'static str, Pattern)>);

impl Patterns {
    /// The patterns of the options.
    #[must_use]
    pub fn new(how: &How) -> Self {
        let allow = how.allow.iter().map(|allow| ("--allow", allow.pattern.clone()));
        let taken_as = how.taken_as.iter().filter_map(|taken_as| match &taken_as.of {
            Selector::Names(pattern) => Some(("--as", pattern.clone())),
            Selector::Dtype(_) => None,
        });
        Self(allow.chain(taken_as).collect())
    }

    /// Drops the patterns that match the name of a tensor.
    pub fn see(&mut self, tensor: &str) {
        self.0.retain(|(_, pattern)| !pattern.matches(tensor));
    }

    /// A message for each pattern that has matched no tensor.
    pub fn unused(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(option, pattern)| {
            format!("warning: {option}: no tensor has a name that matches {}", OneLine(pattern))
        })
    }
}
