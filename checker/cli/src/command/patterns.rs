//! The patterns of names in `--allow`. A pattern that matches no tensor is probably a mistake.

use glob::Pattern;
use nonfinite_check::Allow;
use nonfinite_report::lines::OneLine;

/// The patterns that have matched no tensor so far.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// The patterns of the option.
    #[must_use]
    pub fn new(allow: &[Allow]) -> Self {
        Self(allow.iter().map(|allow| allow.pattern.clone()).collect())
    }

    /// Drops the patterns that match the name of a tensor.
    pub fn see(&mut self, tensor: &str) {
        self.0.retain(|pattern| !pattern.matches(tensor));
    }

    /// A message for each pattern that has matched no tensor.
    pub fn unused(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|pattern| {
            format!("warning: --allow: no tensor has a name that matches {}", OneLine(pattern))
        })
    }
}
