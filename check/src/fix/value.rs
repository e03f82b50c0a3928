//! Numbers as codes of a format.

use std::fmt;
use std::str::FromStr;

use nonfinite::{Format, Replacement};

use crate::model::{ByKind, Kinds, number};

/// A finite number for tensors of any format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// This number, rounded to nearest with ties to even.
    Number(f64),
    /// The largest finite number of the format.
    Max,
    /// The least finite number of the format.
    Min,
}

/// Why a text is not a [`Value`], or why a value has no code.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueError {
    /// The text is neither a finite number nor `max` nor `min`.
    Syntax(String),
    /// The number is beyond the largest or the least finite number of the format.
    Range {
        /// The number.
        number: f64,
        /// The format.
        format: Format,
    },
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(text) => {
                write!(f, "{text:?} is no finite number, and neither max nor min")
            }
            Self::Range { number, format } => {
                write!(f, "{number} does not fit into {format}; max and min stand for what does")
            }
        }
    }
}

impl std::error::Error for ValueError {}

/// Takes `max`, `min`, and finite numbers as Rust writes them.
impl FromStr for Value {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text {
            "max" => Ok(Self::Max),
            "min" => Ok(Self::Min),
            _ => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Self::Number(number)),
                _ => Err(ValueError::Syntax(text.to_owned())),
            },
        }
    }
}

impl Value {
    /// The code of the value in a format.
    ///
    /// # Errors
    /// [`ValueError::Range`].
    pub fn code(self, format: Format) -> Result<u64, ValueError> {
        match self {
            Self::Max => Ok(format.max_bits()),
            Self::Min => Ok(format.min_bits()),
            Self::Number(number) => {
                number::code(number, format).ok_or(ValueError::Range { number, format })
            }
        }
    }
}

/// The codes of the values for these kinds. A value of another kind may not fit.
pub(super) fn codes(
    format: Format,
    values: &ByKind<Value>,
    kinds: Kinds,
) -> Result<Replacement<u64>, ValueError> {
    let code = |needed: bool, value: Value| if needed { value.code(format) } else { Ok(0) };
    Ok(Replacement {
        nan: code(kinds.nan, values.nan)?,
        pos_inf: code(kinds.pos_inf, values.pos_inf)?,
        neg_inf: code(kinds.neg_inf, values.neg_inf)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ml_dtypes 0.6: `np.array(x).astype(dtype).view(np.uint8)`, for numbers that do not overflow.
    #[test]
    fn small_formats() {
        let cases = [
            (Format::F8E4M3Fn, 448.0, 0x7E),
            (Format::F8E4M3Fn, -448.0, 0xFE),
            (Format::F8E4M3Fn, 0.0, 0x00),
            (Format::F8E4M3Fn, -0.0, 0x80),
            (Format::F8E4M3Fn, 1.0, 0x38),
            (Format::F8E4M3Fn, 1.0625, 0x38),
            (Format::F8E4M3Fn, 1.1875, 0x3A),
            (Format::F8E4M3Fn, 463.0, 0x7E),
            (Format::F8E5M2, 57344.0, 0x7B),
            (Format::F8E5M2, 1.0, 0x3C),
            (Format::F8E4M3FnUz, -240.0, 0xFF),
            (Format::F8E4M3FnUz, -0.0, 0x00),
            (Format::F8E5M2FnUz, 1.0, 0x40),
            (Format::F8E8M0Fnu, 1.0, 0x7F),
            (Format::F8E8M0Fnu, 2.0, 0x80),
        ];
        for (format, number, code) in cases {
            assert_eq!(Value::Number(number).code(format), Ok(code), "{format} {number}");
        }
        for (format, number) in [
            (Format::F8E4M3Fn, 464.0),
            (Format::F8E5M2, 61440.0),
            (Format::F8E4M3FnUz, -248.0),
            (Format::F8E8M0Fnu, -1.0),
            (Format::F16, 65520.0),
            (Format::Bf16, 1e39),
            (Format::F32, 1e39),
        ] {
            assert_eq!(
                Value::Number(number).code(format),
                Err(ValueError::Range { number, format })
            );
        }
        assert_eq!(Value::Number(65519.0).code(Format::F16), Ok(0x7BFF));
        assert_eq!(Value::Number(1.0 + 1.0 / 256.0).code(Format::Bf16), Ok(0x3F80));
    }

    #[test]
    fn words() {
        assert_eq!("max".parse(), Ok(Value::Max));
        assert_eq!("min".parse(), Ok(Value::Min));
        assert_eq!("-1e4".parse(), Ok(Value::Number(-1e4)));
        for text in ["", "inf", "nan", "-inf", "1e999", "one"] {
            assert_eq!(text.parse::<Value>(), Err(ValueError::Syntax(text.to_owned())));
        }
    }
}
