//! ov::element::Type_t.

use core::fmt;
use core::str::FromStr;

use nonfinite::Format;

use crate::Unknown;
use crate::table::{self, types};

types! {
    /// The element types of OpenVINO, with the values of `ov::element::Type_t`
    /// (openvino/core/type/element_type.hpp, 2026.4).
    ///
    /// NF4 has no format, as `ov::element::Type::is_real` does not call it floating point. `f8e4m3`
    /// is [`Format::F8E4M3Fn`].
    ElementType: u32;
    // The name, the format, and the bits of an element as the header has them.
    /// Not known until the model runs.
    Dynamic, "dynamic", None, 0;
    Boolean, "boolean", None, 8;
    Bf16, "bf16", Some(Format::Bf16), 16;
    F16, "f16", Some(Format::F16), 16;
    F32, "f32", Some(Format::F32), 32;
    F64, "f64", Some(Format::F64), 64;
    I4, "i4", None, 4;
    I8, "i8", None, 8;
    I16, "i16", None, 16;
    I32, "i32", None, 32;
    I64, "i64", None, 64;
    U1, "u1", None, 1;
    U2, "u2", None, 2;
    U3, "u3", None, 3;
    U4, "u4", None, 4;
    U6, "u6", None, 6;
    U8, "u8", None, 8;
    U16, "u16", None, 16;
    U32, "u32", None, 32;
    U64, "u64", None, 64;
    Nf4, "nf4", None, 4;
    F8E4M3, "f8e4m3", Some(Format::F8E4M3Fn), 8;
    F8E5M2, "f8e5m2", Some(Format::F8E5M2), 8;
    String, "string", None, 256;
    F4E2M1, "f4e2m1", Some(Format::F4E2M1Fn), 4;
    F8E8M0, "f8e8m0", Some(Format::F8E8M0Fnu), 8;
}

impl ElementType {
    /// The value of `ov::element::Type_t`.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The bits of an element. Elements of less than a byte are packed.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.row().3
    }

    /// The type with this format, if OpenVINO has it.
    #[must_use]
    pub fn from_format(format: Format) -> Option<Self> {
        table::with_format(Self::TABLE, format)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Accepts [`ElementType::name`], and the precisions of ports in IR files (`FP32`, `BOOL`, `I64`,
/// ...), in any case.
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
            None => table::named(Self::TABLE, |row| is(row.1), ("OpenVINO", "element type"), name),
        }
    }
}
