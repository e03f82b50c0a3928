//! Which of the numbers found make a tensor a bad one.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;

/// Some of NaN, +Inf and -Inf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// NaN.
    pub nan: bool,
    /// +Inf.
    pub pos_inf: bool,
    /// -Inf.
    pub neg_inf: bool,
}

impl Kinds {
    /// All three.
    pub const ALL: Self = Self { nan: true, pos_inf: true, neg_inf: true };

    /// Whether it is none of them.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        !(self.nan || self.pos_inf || self.neg_inf)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self {
            nan: self.nan || other.nan,
            pos_inf: self.pos_inf || other.pos_inf,
            neg_inf: self.neg_inf || other.neg_inf,
        }
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self {
            nan: self.nan && !other.nan,
            pos_inf: self.pos_inf && !other.pos_inf,
            neg_inf: self.neg_inf && !other.neg_inf,
        }
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        self.without(Self::ALL.without(other))
    }
}

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
                _ => return Err(PolicyError::Kind(word.to_owned())),
            });
        }
        Ok(kinds)
    }
}

/// Numbers that are meant to be there, such as the -Inf of an attention mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The names of the tensors: `*` stands for any characters, `?` for one, `[..]` for one of
    /// these.
    pub pattern: Pattern,
    /// What they may hold.
    pub kinds: Kinds,
}

/// `PATTERN:KINDS`, such as `*.attn_mask:-inf`. The last colon counts.
impl FromStr for Allow {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let (pattern, kinds) = text.rsplit_once(':').ok_or(PolicyError::NoColon)?;
        Ok(Self {
            pattern: Pattern::new(pattern).map_err(PolicyError::Pattern)?,
            kinds: kinds.parse()?,
        })
    }
}

/// Why a text is no [`Kinds`] or no [`Allow`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PolicyError {
    /// Not `nan`, `inf`, `+inf`, `-inf` or `all`.
    Kind(String),
    /// No colon between pattern and kinds.
    NoColon,
    /// The pattern is not a good one.
    Pattern(glob::PatternError),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(word) => write!(f, "{word:?} is none of nan, inf, +inf, -inf and all"),
            Self::NoColon => f.write_str("no colon, as in '*.mask:-inf'"),
            Self::Pattern(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PolicyError {}
