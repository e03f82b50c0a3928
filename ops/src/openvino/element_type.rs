//! ov::element::Type_t.

use core::fmt;
use core::str::FromStr;

use nonfinite::Format;

use crate::Unknown;
use crate::table::{self, Row};

/// The element types of OpenVINO, with the values of `ov::element::Type_t`
/// (openvino/core/type/element_type.hpp, 2026.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum ElementType {
    /// Not known until the model runs.
    Dynamic,
    Boolean,
    Bf16,
    F16,
    F32,
    F64,
    I4,
    I8,
    I16,
    I32,
    I64,
    U1,
    U2,
    U3,
    U4,
    U6,
    U8,
    U16,
    U32,
    U64,
    Nf4,
    F8E4M3,
    F8E5M2,
    String,
    F4E2M1,
    F8E8M0,
}

/// In the order of the header. Each row ends with the bits of an element as the header has them.
#[rustfmt::skip]
const TABLE: [Row<ElementType, u32>; 26] = [
    Row(ElementType::Dynamic, "dynamic", None, 0),
    Row(ElementType::Boolean, "boolean", None, 8),
    Row(ElementType::Bf16, "bf16", Some(Format::Bf16), 16),
    Row(ElementType::F16, "f16", Some(Format::F16), 16),
    Row(ElementType::F32, "f32", Some(Format::F32), 32),
    Row(ElementType::F64, "f64", Some(Format::F64), 64),
    Row(ElementType::I4, "i4", None, 4),
    Row(ElementType::I8, "i8", None, 8),
    Row(ElementType::I16, "i16", None, 16),
    Row(ElementType::I32, "i32", None, 32),
    Row(ElementType::I64, "i64", None, 64),
    Row(ElementType::U1, "u1", None, 1),
    Row(ElementType::U2, "u2", None, 2),
    Row(ElementType::U3, "u3", None, 3),
    Row(ElementType::U4, "u4", None, 4),
    Row(ElementType::U6, "u6", None, 6),
    Row(ElementType::U8, "u8", None, 8),
    Row(ElementType::U16, "u16", None, 16),
    Row(ElementType::U32, "u32", None, 32),
    Row(ElementType::U64, "u64", None, 64),
    Row(ElementType::Nf4, "nf4", None, 4),
    Row(ElementType::F8E4M3, "f8e4m3", Some(Format::F8E4M3Fn), 8),
    Row(ElementType::F8E5M2, "f8e5m2", Some(Format::F8E5M2), 8),
    Row(ElementType::String, "string", None, 256),
    Row(ElementType::F4E2M1, "f4e2m1", Some(Format::F4E2M1Fn), 4),
    Row(ElementType::F8E8M0, "f8e8m0", Some(Format::F8E8M0Fnu), 8),
];

impl ElementType {
    /// Every type, by value.
    pub const ALL: &'static [Self] = &table::types(&TABLE);

    const fn row(self) -> &'static Row<Self, u32> {
        &TABLE[self as usize]
    }

    /// The value of `ov::element::Type_t`.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The name, such as `f32` or `boolean`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Bits that an element takes; elements of less than a byte are packed.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.row().3
    }

    /// How the bits of an element are read, for types that `ov::element::Type::is_real` calls
    /// floating point. NF4 is not among them. `f8e4m3` is [`Format::F8E4M3Fn`].
    #[must_use]
    pub const fn format(self) -> Option<Format> {
        self.row().2
    }

    /// The type with this format, if OpenVINO has it.
    #[must_use]
    pub fn from_format(format: Format) -> Option<Self> {
        table::with_format(&TABLE, format)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Takes [`ElementType::name`], and the precisions of ports in IR files: `FP32`, `BOOL`, `I64`, ...
/// In any case.
impl FromStr for ElementType {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        const PRECISIONS: [(&str, ElementType); 6] = [
            ("fp64", ElementType::F64),
            ("fp32", ElementType::F32),
            ("fp16", ElementType::F16),
            ("bool", ElementType::Boolean),
            ("bin", ElementType::U1),
            ("unspecified", ElementType::Dynamic),
        ];
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        match PRECISIONS.iter().find(|(known, _)| is(known)) {
            Some(&(_, element_type)) => Ok(element_type),
            None => table::named(&TABLE, |row| is(row.1), ("OpenVINO", "element type"), name),
        }
    }
}
