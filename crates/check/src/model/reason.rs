//! Why numbers were not looked at, and the option that would change this.

use std::borrow::Cow;
use std::fmt;

use nonfinite::Format;
use serde::{Deserialize, Serialize};

/// Why numbers were not looked at. As text, it names the option of this library that would change
/// this. [`Reason::worded`] names the option in the words of another program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The bytes are a part of the file and no tensor, such as a member of an archive: why they
    /// are not read.
    Part(String),
    /// The elements have this dtype of numpy, which is one of raw bytes. numpy saves bf16 and fp8
    /// arrays of `ml_dtypes` in this way.
    RawDtype(String),
    /// Any other reason.
    Other(String),
}

impl Reason {
    /// Whether the bytes are no tensor, but another part of the file.
    #[must_use]
    pub const fn is_of_part(&self) -> bool {
        matches!(self, Self::Part(_))
    }

    /// The reason without the option of [`Reason::asks`].
    #[must_use]
    pub fn cause(&self) -> Cow<'_, str> {
        match self {
            Self::Part(why) | Self::Other(why) => why.into(),
            Self::RawDtype(dtype) => {
                format!("dtype '{dtype}' is raw bytes, as bf16 and fp8 are saved").into()
            }
        }
    }

    /// The option that lets a check look at the numbers, if there is one.
    #[must_use]
    pub fn asks(&self) -> Option<Asks> {
        let Self::RawDtype(dtype) = self else { return None };
        let (dtype, format) = match dtype.trim_start_matches(['<', '>', '=', '|']) {
            "f1" => ("f1", Format::F8E5M2),
            "V1" => ("V1", Format::F8E4M3Fn),
            "V2" => ("V2", Format::Bf16),
            "V4" => ("V4", Format::F32),
            "V8" => ("V8", Format::F64),
            // No format has elements of this length.
            _ => return None,
        };
        Some(Asks::TakenAs { dtype, format })
    }

    /// The reason as text. `option` names the option of [`Reason::asks`] in the words of the
    /// program that prints the text, such as `--as V2=bf16`.
    #[must_use]
    pub fn worded(&self, option: impl FnOnce(&Asks) -> String) -> String {
        match self.asks() {
            Some(asks) => format!("{}: say what they are by {}", self.cause(), option(&asks)),
            None => self.cause().into_owned(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(Asks::to_string))
    }
}

impl From<String> for Reason {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<&str> for Reason {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

/// An option that lets a check look at more. As text, it is the option of this library.
///
/// A program with other names for the options matches on all variants, so none is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// [`Options::taken_as`](crate::Options::taken_as): a format for elements of this dtype.
    TakenAs {
        /// The dtype without its byte order.
        dtype: &'static str,
        /// An example of a format that fits.
        format: Format,
    },
    /// A larger [`Options::max_bytes`](crate::Options::max_bytes).
    MaxBytes,
}

impl Asks {
    /// An example of a value, such as `V2=bf16`. None for a number.
    #[must_use]
    pub fn example(&self) -> Option<String> {
        match self {
            Self::TakenAs { dtype, format } => Some(format!("{dtype}={}", format.name())),
            Self::MaxBytes => None,
        }
    }
}

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenAs { .. } => f.write_str("Options::taken_as")?,
            Self::MaxBytes => f.write_str("Options::max_bytes")?,
        }
        match self.example() {
            Some(example) => write!(f, ", such as {example}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_raw_dtypes() {
        for (dtype, example) in [
            ("<f1", Some("f1=f8e5m2")),
            ("|V1", Some("V1=f8e4m3fn")),
            (">V2", Some("V2=bf16")),
            ("V4", Some("V4=f32")),
            ("=V8", Some("V8=f64")),
            ("|V3", None),
        ] {
            let asks = Reason::RawDtype(dtype.to_owned()).asks();
            let found = asks.as_ref().and_then(Asks::example);
            assert_eq!((found.as_deref(), asks.is_some()), (example, example.is_some()), "{dtype}");
            // Programs take the example as it is.
            let parsed = example.map(str::parse::<crate::TakenAs>);
            assert!(parsed.is_none_or(|parsed| parsed.is_ok()), "{example:?}");
        }
        assert!(Reason::from("V2").asks().is_none());
    }
}
