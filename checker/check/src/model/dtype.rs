//! The element types of file formats, by their names.
//!
//! The names are those of the table of [`Format`], and these. A new format of numbers is a row of
//! that table.

use nonfinite::Format;

use super::byte_order::ByteOrder;
use super::tensor::Content;

/// Names that [`Format`] does not know, with the numbers in an element.
const MORE: [(&str, Format, usize); 11] = [
    ("complex32", Format::F16, 2),
    ("chalf", Format::F16, 2),
    ("complex64", Format::F32, 2),
    ("cfloat", Format::F32, 2),
    ("complex128", Format::F64, 2),
    ("cdouble", Format::F64, 2),
    // safetensors.
    ("c64", Format::F32, 2),
    ("f4", Format::F4E2M1Fn, 1),
    ("f6_e2m3", Format::F6E2M3Fn, 1),
    ("f6_e3m2", Format::F6E3M2Fn, 1),
    // Two codes in a byte.
    ("float4_e2m1fn_x2", Format::F4E2M1Fn, 1),
];

impl Content {
    /// Floating-point numbers of the type of this name, in any case: `BF16`, `float8_e4m3fn`,
    /// `complex64`. None for other types. numpy has other names.
    pub(crate) fn named(dtype: &str, order: ByteOrder) -> Option<Self> {
        let more = MORE.iter().find(|(name, ..)| name.eq_ignore_ascii_case(dtype));
        let (format, parts) = match more {
            Some(&(_, format, parts)) => (format, parts),
            None => (dtype.parse().ok()?, 1),
        };
        let is_finite = matches!(format, Format::F4E2M1Fn | Format::F6E2M3Fn | Format::F6E3M2Fn);
        Some(if is_finite { Self::AlwaysFinite } else { Self::Floats { format, parts, order } })
    }
}
