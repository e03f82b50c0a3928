//! The formats.

mod table;

use core::fmt;
use core::str::FromStr;

use crate::UnknownName;

use table::TABLE;
pub(crate) use table::{Row, Special};

/// A floating-point format. One element takes [`Format::size_in_bytes`] bytes; formats of 4 and 6
/// bits take one byte for each element, and the unused high bits are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of an [`Format::F32`].
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// OCP OFP8 E4M3: no infinity, NaN is `S.1111.111`; finite up to 448.
    F8E4M3Fn,
    /// E4M3 without infinity and negative zero, whose code 0x80 is the only NaN; bias 8.
    F8E4M3FnUz,
    /// OCP OFP8 E5M2: as IEEE formats.
    F8E5M2,
    /// E5M2 without infinity and negative zero, whose code 0x80 is the only NaN; bias 16.
    F8E5M2FnUz,
    /// E4M3 as IEEE formats: infinity is `S.1111.000`.
    F8E4M3,
    /// E3M4 as IEEE formats: infinity is `S.111.0000`.
    F8E3M4,
    /// As [`Format::F8E4M3FnUz`] with bias 11.
    F8E4M3B11FnUz,
    /// OCP MX scale: 8 exponent bits, no sign; 0xFF is NaN.
    F8E8M0Fnu,
    /// OCP MX FP4: all codes are finite.
    F4E2M1Fn,
    /// OCP MX FP6: all codes are finite.
    F6E2M3Fn,
    /// OCP MX FP6: all codes are finite.
    F6E3M2Fn,
}

impl Format {
    /// Every format, for tables and tests.
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::F16; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            assert!(TABLE[i].format as usize == i, "the table is in the order of the enum");
            all[i] = TABLE[i].format;
            i += 1;
        }
        all
    };

    pub(crate) const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Bytes that one element takes: 8, 4, 2 or 1.
    #[must_use]
    #[inline]
    pub const fn size_in_bytes(self) -> usize {
        self.row().size
    }

    /// Why elements of this format are not compared with a threshold, if they are not.
    pub(crate) const fn why_no_threshold(self) -> Option<&'static str> {
        match self.row().special {
            _ if matches!(self, Self::F8E8M0Fnu) => Some("no sign"),
            Special::NanCode { .. } => Some("NaN in the place of -0"),
            _ => None,
        }
    }

    /// The name, such as `f32`, `bf16` or `f8e4m3fn`. [`Format::from_str`] takes it and other
    /// spellings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// All spellings that [`Format::from_str`] takes, in lower case.
    #[must_use]
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::F16 => &["f16", "float16", "half", "fp16"],
            Self::Bf16 => &["bf16", "bfloat16"],
            Self::F32 => &["f32", "float32", "float", "single", "fp32"],
            Self::F64 => &["f64", "float64", "double", "fp64"],
            Self::F8E4M3Fn => {
                &["f8e4m3fn", "float8e4m3fn", "float8_e4m3fn", "f8_e4m3", "f8_e4m3fn"]
            }
            Self::F8E4M3FnUz => &["f8e4m3fnuz", "float8e4m3fnuz", "float8_e4m3fnuz", "f8_e4m3fnuz"],
            Self::F8E5M2 => &["f8e5m2", "float8e5m2", "float8_e5m2", "f8_e5m2"],
            Self::F8E5M2FnUz => &["f8e5m2fnuz", "float8e5m2fnuz", "float8_e5m2fnuz", "f8_e5m2fnuz"],
            Self::F8E4M3 => &["f8e4m3", "float8e4m3", "float8_e4m3"],
            Self::F8E3M4 => &["f8e3m4", "float8e3m4", "float8_e3m4"],
            Self::F8E4M3B11FnUz => &["f8e4m3b11fnuz", "float8e4m3b11fnuz", "float8_e4m3b11fnuz"],
            Self::F8E8M0Fnu => {
                &["f8e8m0fnu", "float8e8m0", "float8e8m0fnu", "float8_e8m0fnu", "f8e8m0", "f8_e8m0"]
            }
            Self::F4E2M1Fn => {
                &["f4e2m1fn", "float4e2m1", "float4e2m1fn", "float4_e2m1fn", "f4e2m1"]
            }
            Self::F6E2M3Fn => {
                &["f6e2m3fn", "float6e2m3", "float6e2m3fn", "float6_e2m3fn", "f6e2m3"]
            }
            Self::F6E3M2Fn => {
                &["f6e3m2fn", "float6e3m2", "float6e3m2fn", "float6_e3m2fn", "f6e3m2"]
            }
        }
    }

    /// The code of the largest finite number.
    ///
    /// ```
    /// use nonfinite::Format;
    /// assert_eq!(Format::F16.max_bits(), 0x7BFF); // 65504
    /// assert_eq!(Format::F8E4M3Fn.max_bits(), 0x7E); // 448
    /// ```
    #[must_use]
    pub const fn max_bits(self) -> u64 {
        self.row().finite[0]
    }

    /// The code of the least finite number: minus the largest, except for [`Format::F8E8M0Fnu`],
    /// which has no sign and whose least number is 2 to the power of -127.
    #[must_use]
    pub const fn min_bits(self) -> u64 {
        self.row().finite[1]
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

const NAMES: &str = "f16, bf16, f32, f64, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e4m3, \
                     f8e3m4, f8e4m3b11fnuz, f8e8m0fnu, f4e2m1fn, f6e2m3fn, f6e3m2fn";

/// Accepts the names of this crate and the spellings of Rust, numpy, ml_dtypes, ONNX and
/// safetensors, in any case.
///
/// `FLOAT` is [`Format::F32`], as in ONNX and C, not the f64 of numpy. The packed formats `F4`,
/// `F6_E2M3` and `F6_E3M2` of safetensors are not accepted: in this crate, elements of these
/// formats take a byte each.
///
/// `F8_E4M3` is [`Format::F8E4M3Fn`], as safetensors means it; `f8E4M3`, as StableHLO and ml_dtypes
/// spell the IEEE form, is [`Format::F8E4M3`].
///
/// # Errors
/// [`UnknownName`], which repeats the name, and lists those of this crate.
impl FromStr for Format {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = |x: &&Self| x.names().iter().any(|known| known.eq_ignore_ascii_case(name));
        let format = Self::ALL.iter().find(known).copied();
        format.ok_or_else(|| UnknownName::new("format", name, NAMES))
    }
}
