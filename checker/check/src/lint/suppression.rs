//! Findings that are meant to be there.

use std::str::FromStr;

use glob::Pattern;

use super::finding::{Finding, Rule, rule};

/// Findings of a rule that are left out, in tensors of some names or in all.
#[derive(Clone, Debug, PartialEq)]
pub struct Suppression {
    /// The rule.
    pub rule: &'static Rule,
    /// The names of the tensors: `*` stands for any characters, `?` for one character, `[..]` for
    /// one of these characters. None for all findings of the rule.
    pub pattern: Option<Pattern>,
}

impl Suppression {
    /// Whether the finding is left out.
    #[must_use]
    pub fn allows(&self, finding: &Finding) -> bool {
        let matches = |pattern: &Pattern| {
            finding.tensor.as_ref().is_some_and(|tensor| pattern.matches(tensor))
        };
        self.rule.id == finding.rule.id && self.pattern.as_ref().is_none_or(matches)
    }
}

/// `RULE` or `RULE:PATTERN`, such as `scale-zero:*.lm_head.*`.
impl FromStr for Suppression {
    type Err = SuppressionError;

    fn from_str(text: &str) -> Result<Self, SuppressionError> {
        let (id, pattern) = match text.split_once(':') {
            Some((id, pattern)) => {
                (id, Some(Pattern::new(pattern).map_err(SuppressionError::Pattern)?))
            }
            None => (text, None),
        };
        let rule = rule(id).ok_or_else(|| SuppressionError::Rule(id.to_owned()))?;
        Ok(Self { rule, pattern })
    }
}

/// Why a text is no [`Suppression`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuppressionError {
    /// There is no rule of this name.
    #[error("there is no rule {0:?}: `nonfinite lint --rules` lists them")]
    Rule(String),
    /// The pattern is not valid.
    #[error("{0}")]
    Pattern(#[source] glob::PatternError),
}
