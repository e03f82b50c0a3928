//! Which numbers make a tensor bad.

use std::str::FromStr;

use glob::Pattern;

use crate::model::Kinds;

/// `nan`, `inf` (either sign), `+inf`, `-inf` and `all`, in any case, with commas between them.
impl FromStr for Kinds {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let mut kinds = Self::default();
        for word in text.split(',') {
            kinds = kinds.or(match word.trim().to_ascii_lowercase().as_str() {
                "nan" => Self { nan: true, ..Self::default() },
                "inf" => Self { nan: false, ..Self::ALL },
                "+inf" => Self { pos_inf: true, ..Self::default() },
                "-inf" => Self { neg_inf: true, ..Self::default() },
                "all" => Self::ALL,
                _ => {
                    let why = format!("{word:?} is none of nan, inf, +inf, -inf and all");
                    return Err(PolicyError(why));
                }
            });
        }
        Ok(kinds)
    }
}

/// Numbers that are meant to be there, such as the -Inf of an attention mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The names of the tensors: `*` stands for any characters, `?` for one character, `[..]` for
    /// one of these characters.
    pub pattern: Pattern,
    /// The kinds that they may hold.
    pub kinds: Kinds,
    /// Whether they may hold numbers above [`Options::max_abs`](crate::Options::max_abs).
    pub large: bool,
}

/// The kinds that are meant to be in a tensor of this name.
pub(crate) fn allowed(allow: &[Allow], name: &str) -> Kinds {
    let allowed = allow.iter().filter(|allow| allow.pattern.matches(name));
    allowed.fold(Kinds::default(), |kinds, allow| kinds.or(allow.kinds))
}

/// Whether numbers above the bound on magnitudes are meant to be in a tensor of this name.
pub(crate) fn allows_large(allow: &[Allow], name: &str) -> bool {
    allow.iter().any(|allow| allow.large && allow.pattern.matches(name))
}

/// `PATTERN:KINDS`, such as `*.attn_mask:-inf`. The last colon separates the two. The kinds are
/// those of [`Kinds`] and `large`. `all` includes `large`.
impl FromStr for Allow {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let parts = text.rsplit_once(':');
        let (pattern, kinds) =
            parts.ok_or_else(|| PolicyError("no colon, as in '*.mask:-inf'".to_owned()))?;
        let pattern = Pattern::new(pattern).map_err(|error| PolicyError(error.to_string()))?;
        let mut allow = Self { pattern, kinds: Kinds::default(), large: false };
        for word in kinds.split(',') {
            let is = |kind: &str| word.trim().eq_ignore_ascii_case(kind);
            allow.large |= is("large") || is("all");
            if !is("large") {
                allow.kinds = allow.kinds.or(word.parse()?);
            }
        }
        Ok(allow)
    }
}

/// Why a text is not [`Kinds`] or not [`Allow`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(String);
