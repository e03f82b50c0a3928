//! Numbers as codes of a format.

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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The text is neither a finite number nor `max` nor `min`.
    #[error("{0:?} is no finite number, and neither max nor min")]
    Syntax(String),
    /// The number is beyond the largest or the least finite number of the format.
    #[error("{number} does not fit into {format}; max and min stand for what does")]
    Range {
        /// The number.
        number: f64,
        /// The format.
        format: Format,
    },
}

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
