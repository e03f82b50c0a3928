//! The rows of the table of formats.

use super::Format;
use Special::{AllFinite, Ieee, NanCode, NanOnes};

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
    AllFinite,
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
}

const fn row(
    format: Format,
    size: usize,
    special: Special,
    finite: [u64; 2],
    mantissa: u32,
    bias: i32,
) -> Row {
    Row { format, size, special, finite, mantissa, bias }
}

const FNUZ: Special = NanCode { code: 0x80 };

/// In the order of the enum, with the columns of [`Row`]. A constant would have a copy in each unit
/// of code that uses it.
pub(super) static TABLE: [Row; 15] = [
    row(Format::F16, 2, Ieee { exponent: 0x7C00 }, [0x7BFF, 0xFBFF], 10, 15),
    row(Format::Bf16, 2, Ieee { exponent: 0x7F80 }, [0x7F7F, 0xFF7F], 7, 127),
    row(Format::F32, 4, Ieee { exponent: 0x7F80_0000 }, [0x7F7F_FFFF, 0xFF7F_FFFF], 23, 127),
    row(
        Format::F64,
        8,
        Ieee { exponent: 0x7FF0 << 48 },
        [f64::MAX.to_bits(), f64::MIN.to_bits()],
        52,
        1023,
    ),
    row(Format::F8E4M3Fn, 1, NanOnes { bits: 0x7F }, [0x7E, 0xFE], 3, 7),
    row(Format::F8E4M3FnUz, 1, FNUZ, [0x7F, 0xFF], 3, 8),
    row(Format::F8E5M2, 1, Ieee { exponent: 0x7C }, [0x7B, 0xFB], 2, 15),
    row(Format::F8E5M2FnUz, 1, FNUZ, [0x7F, 0xFF], 2, 16),
    row(Format::F8E4M3, 1, Ieee { exponent: 0x78 }, [0x77, 0xF7], 3, 7),
    row(Format::F8E3M4, 1, Ieee { exponent: 0x70 }, [0x6F, 0xEF], 4, 3),
    row(Format::F8E4M3B11FnUz, 1, FNUZ, [0x7F, 0xFF], 3, 11),
    row(Format::F8E8M0Fnu, 1, NanOnes { bits: 0xFF }, [0xFE, 0x00], 0, 127),
    row(Format::F4E2M1Fn, 1, AllFinite, [0x07, 0x0F], 1, 1),
    row(Format::F6E2M3Fn, 1, AllFinite, [0x1F, 0x3F], 3, 1),
    row(Format::F6E3M2Fn, 1, AllFinite, [0x1F, 0x3F], 2, 3),
];
