//! The table of formats, and the rules for each predicate.

use core::fmt;
use core::str::FromStr;

use nonfinite_kernels::Rule;

use crate::{Predicate, UnknownName};

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

/// The codes of a format that are NaN or infinite.
#[derive(Clone, Copy)]
pub(crate) enum Special {
    /// Exponent bits all ones: infinity if the mantissa is zero, else NaN.
    Ieee { exponent: u64 },
    /// NaN where all these bits are set; no infinity.
    NanOnes { bits: u8 },
    /// This code is NaN; no infinity.
    NanCode { code: u8 },
    /// All codes are finite.
    None,
}

/// One row of the table.
pub(crate) struct Row {
    format: Format,
    /// Bytes of an element.
    size: usize,
    pub(crate) special: Special,
    /// The codes of the largest and of the least finite number.
    pub(crate) finite: [u64; 2],
    /// Bits of the mantissa; 0 for the format without a sign and without zero.
    #[cfg_attr(not(feature = "stats"), expect(dead_code, reason = "read by `to_f64` only"))]
    pub(crate) mantissa: u32,
    /// The exponent field of numbers from 1 up to 2.
    #[cfg_attr(not(feature = "stats"), expect(dead_code, reason = "read by `to_f64` only"))]
    pub(crate) bias: i32,
    /// All names, our own first.
    names: &'static [&'static str],
}

const FNUZ: Special = Special::NanCode { code: 0x80 };

/// In the order of the enum.
const TABLE: [Row; 15] = [
    Row {
        format: Format::F16,
        size: 2,
        special: Special::Ieee { exponent: 0x7C00 },
        finite: [0x7BFF, 0xFBFF],
        mantissa: 10,
        bias: 15,
        names: &["f16", "float16", "half", "fp16"],
    },
    Row {
        format: Format::Bf16,
        size: 2,
        special: Special::Ieee { exponent: 0x7F80 },
        finite: [0x7F7F, 0xFF7F],
        mantissa: 7,
        bias: 127,
        names: &["bf16", "bfloat16"],
    },
    Row {
        format: Format::F32,
        size: 4,
        special: Special::Ieee { exponent: 0x7F80_0000 },
        finite: [0x7F7F_FFFF, 0xFF7F_FFFF],
        mantissa: 23,
        bias: 127,
        names: &["f32", "float32", "float", "single", "fp32"],
    },
    Row {
        format: Format::F64,
        size: 8,
        special: Special::Ieee { exponent: 0x7FF0_0000_0000_0000 },
        finite: [0x7FEF_FFFF_FFFF_FFFF, 0xFFEF_FFFF_FFFF_FFFF],
        mantissa: 52,
        bias: 1023,
        names: &["f64", "float64", "double", "fp64"],
    },
    Row {
        format: Format::F8E4M3Fn,
        size: 1,
        special: Special::NanOnes { bits: 0x7F },
        finite: [0x7E, 0xFE],
        mantissa: 3,
        bias: 7,
        names: &["f8e4m3fn", "float8e4m3fn", "float8_e4m3fn", "f8_e4m3", "f8_e4m3fn"],
    },
    Row {
        format: Format::F8E4M3FnUz,
        size: 1,
        special: FNUZ,
        finite: [0x7F, 0xFF],
        mantissa: 3,
        bias: 8,
        names: &["f8e4m3fnuz", "float8e4m3fnuz", "float8_e4m3fnuz", "f8_e4m3fnuz"],
    },
    Row {
        format: Format::F8E5M2,
        size: 1,
        special: Special::Ieee { exponent: 0x7C },
        finite: [0x7B, 0xFB],
        mantissa: 2,
        bias: 15,
        names: &["f8e5m2", "float8e5m2", "float8_e5m2", "f8_e5m2"],
    },
    Row {
        format: Format::F8E5M2FnUz,
        size: 1,
        special: FNUZ,
        finite: [0x7F, 0xFF],
        mantissa: 2,
        bias: 16,
        names: &["f8e5m2fnuz", "float8e5m2fnuz", "float8_e5m2fnuz", "f8_e5m2fnuz"],
    },
    Row {
        format: Format::F8E4M3,
        size: 1,
        special: Special::Ieee { exponent: 0x78 },
        finite: [0x77, 0xF7],
        mantissa: 3,
        bias: 7,
        names: &["f8e4m3", "float8e4m3", "float8_e4m3"],
    },
    Row {
        format: Format::F8E3M4,
        size: 1,
        special: Special::Ieee { exponent: 0x70 },
        finite: [0x6F, 0xEF],
        mantissa: 4,
        bias: 3,
        names: &["f8e3m4", "float8e3m4", "float8_e3m4"],
    },
    Row {
        format: Format::F8E4M3B11FnUz,
        size: 1,
        special: FNUZ,
        finite: [0x7F, 0xFF],
        mantissa: 3,
        bias: 11,
        names: &["f8e4m3b11fnuz", "float8e4m3b11fnuz", "float8_e4m3b11fnuz"],
    },
    Row {
        format: Format::F8E8M0Fnu,
        size: 1,
        special: Special::NanOnes { bits: 0xFF },
        finite: [0xFE, 0x00],
        mantissa: 0,
        bias: 127,
        names: &["f8e8m0fnu", "float8e8m0", "float8e8m0fnu", "float8_e8m0fnu", "f8e8m0", "f8_e8m0"],
    },
    Row {
        format: Format::F4E2M1Fn,
        size: 1,
        special: Special::None,
        finite: [0x07, 0x0F],
        mantissa: 1,
        bias: 1,
        names: &["f4e2m1fn", "float4e2m1", "float4e2m1fn", "float4_e2m1fn", "f4e2m1"],
    },
    Row {
        format: Format::F6E2M3Fn,
        size: 1,
        special: Special::None,
        finite: [0x1F, 0x3F],
        mantissa: 3,
        bias: 1,
        names: &["f6e2m3fn", "float6e2m3", "float6e2m3fn", "float6_e2m3fn", "f6e2m3"],
    },
    Row {
        format: Format::F6E3M2Fn,
        size: 1,
        special: Special::None,
        finite: [0x1F, 0x3F],
        mantissa: 2,
        bias: 3,
        names: &["f6e3m2fn", "float6e3m2", "float6e3m2fn", "float6_e3m2fn", "f6e3m2"],
    },
];

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

    /// The name, such as `f32`, `bf16` or `f8e4m3fn`. [`Format::from_str`] takes it and other
    /// spellings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().names[0]
    }

    /// All spellings that [`Format::from_str`] takes, in lower case.
    #[must_use]
    pub const fn names(self) -> &'static [&'static str] {
        self.row().names
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

    /// The rule for a predicate, for the kernels.
    #[inline]
    pub(crate) const fn rule(self, predicate: Predicate) -> &'static Rule {
        &RULES[self as usize][predicate as usize]
    }

    /// The negation of [`Format::rule`].
    #[inline]
    pub(crate) const fn opposite(self, predicate: Predicate) -> &'static Rule {
        &OPPOSITES[self as usize][predicate as usize]
    }

    /// The rules, or their negations. A caller with a fixed type links only the rules of its
    /// format.
    pub(crate) const fn rules(self, opposite: bool) -> Rules {
        let mut rules = [Rule::Constant { answer: false, size: 1 }; Predicate::ALL.len()];
        let mut i = 0;
        while i < rules.len() {
            assert!(Predicate::ALL[i] as usize == i, "all predicates in the order of the enum");
            let rule = self.make_rule(Predicate::ALL[i]);
            rules[i] = if opposite { rule.not() } else { rule };
            i += 1;
        }
        rules
    }

    const fn make_rule(self, predicate: Predicate) -> Rule {
        let Row { size, special, .. } = *self.row();
        let sign = 1 << (8 * size - 1);
        let never = Rule::Constant { answer: false, size };
        let nan = match special {
            Special::Ieee { exponent } => Rule::greater(size, sign - 1, exponent),
            Special::NanOnes { bits } => Rule::equal(size, bits as u64, bits as u64),
            Special::NanCode { code } => Rule::equal(size, 0xFF, code as u64),
            Special::None => never,
        };
        let Special::Ieee { exponent } = special else {
            return match predicate {
                Predicate::Nan | Predicate::NonFinite | Predicate::NanOrPositiveInf => nan,
                Predicate::Finite => nan.not(),
                Predicate::Inf
                | Predicate::PositiveInf
                | Predicate::NegativeInf
                | Predicate::Never => never,
            };
        };
        match predicate {
            Predicate::Nan => nan,
            Predicate::Inf => Rule::equal(size, sign - 1, exponent),
            Predicate::PositiveInf => Rule::equal(size, sign | (sign - 1), exponent),
            Predicate::NegativeInf => Rule::equal(size, sign | (sign - 1), sign | exponent),
            Predicate::NonFinite => Rule::equal(size, exponent, exponent),
            Predicate::Finite => Rule::equal(size, exponent, exponent).not(),
            Predicate::NanOrPositiveInf => Rule::nan_or_pos_inf(size, exponent),
            Predicate::Never => never,
        }
    }
}

/// The rules of one format, by predicate.
pub(crate) type Rules = [Rule; Predicate::ALL.len()];

/// All rules, by format and predicate. A constant would have a copy in each unit of code that uses
/// it.
static RULES: [Rules; TABLE.len()] = all_rules(false);
static OPPOSITES: [Rules; TABLE.len()] = all_rules(true);

const fn all_rules(opposite: bool) -> [Rules; TABLE.len()] {
    let mut all = [[Rule::Constant { answer: false, size: 1 }; Predicate::ALL.len()]; TABLE.len()];
    let mut i = 0;
    while i < TABLE.len() {
        all[i] = TABLE[i].format.rules(opposite);
        i += 1;
    }
    all
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

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
/// [`UnknownName`], which repeats the name.
impl FromStr for Format {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = |row: &&Row| row.names.iter().any(|known| known.eq_ignore_ascii_case(name));
        TABLE
            .iter()
            .find(known)
            .map(|row| row.format)
            .ok_or_else(|| UnknownName::new("format", name))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::println;

    use super::*;

    /// The constant tables equal the results of their functions at run time.
    #[test]
    fn made_at_run_time() {
        assert_eq!((super::all_rules(false), super::all_rules(true)), (RULES, OPPOSITES));
    }

    /// Prints every rule of the kernels. `ci/prove` reads this output.
    #[test]
    fn rules() {
        for format in Format::ALL.iter().copied() {
            for predicate in Predicate::ALL.iter().copied() {
                let (rule, opposite) = (format.rule(predicate), format.opposite(predicate));
                println!("rule {format} {predicate:?} {rule:?}");
                println!("opposite {format} {predicate:?} {opposite:?}");
                assert_eq!(rule.size(), format.size_in_bytes());
                assert_eq!(rule.not(), *opposite);
            }
        }
    }
}
