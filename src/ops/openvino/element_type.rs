//! ov::element::Type_t.

use core::fmt;
use core::str::FromStr;

use crate::Format;

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

/// The type, its name, bits of an element as the header has them, and how they are read.
struct Row(ElementType, &'static str, u32, Option<Format>);

/// In the order of the header.
#[rustfmt::skip]
const TABLE: [Row; 26] = [
    Row(ElementType::Dynamic, "dynamic", 0, None),
    Row(ElementType::Boolean, "boolean", 8, None),
    Row(ElementType::Bf16, "bf16", 16, Some(Format::Bf16)),
    Row(ElementType::F16, "f16", 16, Some(Format::F16)),
    Row(ElementType::F32, "f32", 32, Some(Format::F32)),
    Row(ElementType::F64, "f64", 64, Some(Format::F64)),
    Row(ElementType::I4, "i4", 4, None),
    Row(ElementType::I8, "i8", 8, None),
    Row(ElementType::I16, "i16", 16, None),
    Row(ElementType::I32, "i32", 32, None),
    Row(ElementType::I64, "i64", 64, None),
    Row(ElementType::U1, "u1", 1, None),
    Row(ElementType::U2, "u2", 2, None),
    Row(ElementType::U3, "u3", 3, None),
    Row(ElementType::U4, "u4", 4, None),
    Row(ElementType::U6, "u6", 6, None),
    Row(ElementType::U8, "u8", 8, None),
    Row(ElementType::U16, "u16", 16, None),
    Row(ElementType::U32, "u32", 32, None),
    Row(ElementType::U64, "u64", 64, None),
    Row(ElementType::Nf4, "nf4", 4, None),
    Row(ElementType::F8E4M3, "f8e4m3", 8, Some(Format::F8E4M3Fn)),
    Row(ElementType::F8E5M2, "f8e5m2", 8, Some(Format::F8E5M2)),
    Row(ElementType::String, "string", 256, None),
    Row(ElementType::F4E2M1, "f4e2m1", 4, Some(Format::F4E2M1Fn)),
    Row(ElementType::F8E8M0, "f8e8m0", 8, Some(Format::F8E8M0Fnu)),
];

impl ElementType {
    /// Every type, by value.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Dynamic; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            assert!(TABLE[i].0 as usize == i, "the table is in the order of the header");
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    const fn row(self) -> &'static Row {
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
        self.row().2
    }

    /// How the bits of an element are read, for types that `ov::element::Type::is_real` calls
    /// floating point. NF4 is not among them. `f8e4m3` is [`Format::F8E4M3Fn`].
    #[must_use]
    pub const fn format(self) -> Option<Format> {
        self.row().3
    }

    /// The type with this format, if OpenVINO has it.
    #[must_use]
    pub fn from_format(format: Format) -> Option<Self> {
        Self::ALL.into_iter().find(|element_type| element_type.format() == Some(format))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No element type has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownElementType;

impl fmt::Display for UnknownElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenVINO has no element type of this name")
    }
}

impl core::error::Error for UnknownElementType {}

/// Takes [`ElementType::name`], and the precisions of ports in IR files: `FP32`, `BOOL`, `I64`, ...
/// In any case.
impl FromStr for ElementType {
    type Err = UnknownElementType;

    fn from_str(name: &str) -> Result<Self, UnknownElementType> {
        const PRECISIONS: [(&str, ElementType); 6] = [
            ("fp64", ElementType::F64),
            ("fp32", ElementType::F32),
            ("fp16", ElementType::F16),
            ("bool", ElementType::Boolean),
            ("bin", ElementType::U1),
            ("unspecified", ElementType::Dynamic),
        ];
        let names = TABLE.iter().map(|row| (row.1, row.0)).chain(PRECISIONS);
        let mut named = names.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.next().map(|(_, element_type)| element_type).ok_or(UnknownElementType)
    }
}
