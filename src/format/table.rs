//! The rows of the table of formats.

use super::Format;

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
    pub(super) format: Format,
    /// Bytes of an element.
    pub(super) size: usize,
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
    pub(super) names: &'static [&'static str],
}

const FNUZ: Special = Special::NanCode { code: 0x80 };

/// In the order of the enum. A constant would have a copy in each unit of code that uses it.
pub(super) static TABLE: [Row; 15] = [
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
