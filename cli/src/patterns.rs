//! The patterns of names in the options. A pattern that matches no tensor is probably a mistake.

use nonfinite_check::{Allow, TakenAs};

use crate::args::How;
use crate::report::OneLine;

/// The patterns that have matched no tensor so far.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    allow: Vec<Allow>,
    taken_as: Vec<TakenAs>,
}

impl Patterns {
    /// The patterns of the options.
    #[must_use]
    pub fn new(how: &How) -> Self {
        Self { allow: how.allow.clone(), taken_as: how.taken_as.clone() }
    }

    /// Drops the patterns that match the name of a tensor.
    pub fn see(&mut self, tensor: &str) {
        self.allow.retain(|allow| !allow.pattern.matches(tensor));
        self.taken_as.retain(|taken_as| !taken_as.pattern.matches(tensor));
    }

    /// A message for each pattern that has matched no tensor.
    pub fn unused(&self) -> impl Iterator<Item = String> {
        let allow = self.allow.iter().map(|allow| ("--allow", allow.pattern.as_str()));
        let taken_as = self.taken_as.iter().map(|taken_as| ("--as", taken_as.pattern.as_str()));
        allow.chain(taken_as).map(|(option, pattern)| {
            format!("warning: {option}: no tensor has a name that matches {}", OneLine(pattern))
        })
    }
}
