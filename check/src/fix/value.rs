//! Numbers as codes of a format.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};
use nonfinite::{Census, Format, Occurrences, Predicate, Replacement, TensorView};

use super::FixOptions;
use crate::stats::value_of_code;

/// A finite number to be put into tensors of any format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// This number, rounded to nearest with ties to even.
    Number(f64),
    /// The largest finite number of the format.
    Max,
    /// The least finite number of the format.
    Min,
}

/// Why a value cannot be had.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueError {
    /// Neither a finite number nor `max` nor `min`.
    Syntax(String),
    /// Beyond the largest or the least finite number of the format.
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
                let code = match format {
                    Format::F64 => number.to_bits(),
                    Format::F32 => u64::from((number as f32).to_bits()),
                    Format::F16 => u64::from(f16::from_f64(number).to_bits()),
                    Format::Bf16 => u64::from(bf16::from_f64(number).to_bits()),
                    _ => return small(number, format),
                };
                if is_finite(code, format) {
                    Ok(code)
                } else {
                    Err(ValueError::Range { number, format })
                }
            }
        }
    }
}

fn is_finite(code: u64, format: Format) -> bool {
    let bytes = code.to_ne_bytes();
    let size = format.size_in_bytes();
    let bytes = if cfg!(target_endian = "big") { &bytes[8 - size..] } else { &bytes[..size] };
    TensorView::from_bytes(bytes, format).is_ok_and(|x| x.all(Predicate::Finite))
}

/// The code of a format of one byte whose value is nearest; of two, the even one. Nothing is beyond
/// the largest but what is at least half a step away from it.
fn small(number: f64, format: Format) -> Result<u64, ValueError> {
    let codes = (0..=u8::MAX).filter(|&code| is_finite(u64::from(code), format));
    let mut values: Vec<(f64, u8)> =
        codes.map(|code| (value_of_code(code, format), code)).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let distance = |value: f64| (value - number).abs();
    let nearest = values.iter().min_by(|a, b| {
        let by_sign = |value: f64| value.is_sign_negative() != number.is_sign_negative();
        (distance(a.0).total_cmp(&distance(b.0)))
            .then((a.1 & 1).cmp(&(b.1 & 1)))
            // The zeros are apart by their signs alone.
            .then(by_sign(a.0).cmp(&by_sign(b.0)))
    });
    let (Some(&(value, code)), [.., below_last, last]) = (nearest, &values[..]) else {
        return Err(ValueError::Range { number, format });
    };
    let first_step = values[1].0 - values[0].0;
    let last_step = last.0 - below_last.0;
    let beyond = number > last.0 && distance(value) >= last_step / 2.0
        || number < values[0].0 && distance(value) >= first_step / 2.0;
    if beyond { Err(ValueError::Range { number, format }) } else { Ok(u64::from(code)) }
}

/// The codes of the values for what was found. Others are not asked for: a value that is not needed
/// need not fit.
pub(super) fn codes(
    format: Format,
    options: &FixOptions,
    found: &Census,
) -> Result<Replacement<u64>, ValueError> {
    let code = |class: Occurrences, value: Value| {
        if class.count == 0 { Ok(0) } else { value.code(format) }
    };
    Ok(Replacement {
        nan: code(found.nan, options.nan)?,
        pos_inf: code(found.pos_inf, options.pos_inf)?,
        neg_inf: code(found.neg_inf, options.neg_inf)?,
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

    /// Every finite code is the code of its value.
    #[test]
    fn every_code_is_found_again() {
        for format in Format::ALL.iter().copied().filter(|format| format.size_in_bytes() == 1) {
            let bits = match format {
                Format::F4E2M1Fn => 4,
                Format::F6E2M3Fn | Format::F6E3M2Fn => 6,
                _ => 8,
            };
            for code in (0..1u16 << bits).map(|code| code as u8) {
                if is_finite(u64::from(code), format) {
                    let number = value_of_code(code, format);
                    assert_eq!(
                        Value::Number(number).code(format),
                        Ok(u64::from(code)),
                        "{format} {code:#x}"
                    );
                }
            }
        }
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
