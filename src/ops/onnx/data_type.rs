//! TensorProto.DataType.

use core::fmt;
use core::str::FromStr;

use crate::Format;

/// The element types of ONNX, with the codes of `TensorProto.DataType` (onnx.proto).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum DataType {
    Undefined = 0,
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Uint16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    Uint32 = 12,
    Uint64 = 13,
    Complex64 = 14,
    Complex128 = 15,
    Bfloat16 = 16,
    Float8E4M3Fn = 17,
    Float8E4M3FnUz = 18,
    Float8E5M2 = 19,
    Float8E5M2FnUz = 20,
    Uint4 = 21,
    Int4 = 22,
    Float4E2M1 = 23,
    Float8E8M0 = 24,
    Uint2 = 25,
    Int2 = 26,
    Float6E2M3 = 27,
    Float6E3M2 = 28,
}

/// The type, its name in onnx.proto, its name in type lists, and how its bits are read.
struct Row(DataType, &'static str, &'static str, Option<Format>);

/// In the order of the codes.
#[rustfmt::skip]
const TABLE: [Row; 29] = [
    Row(DataType::Undefined, "UNDEFINED", "undefined", None),
    Row(DataType::Float, "FLOAT", "tensor(float)", Some(Format::F32)),
    Row(DataType::Uint8, "UINT8", "tensor(uint8)", None),
    Row(DataType::Int8, "INT8", "tensor(int8)", None),
    Row(DataType::Uint16, "UINT16", "tensor(uint16)", None),
    Row(DataType::Int16, "INT16", "tensor(int16)", None),
    Row(DataType::Int32, "INT32", "tensor(int32)", None),
    Row(DataType::Int64, "INT64", "tensor(int64)", None),
    Row(DataType::String, "STRING", "tensor(string)", None),
    Row(DataType::Bool, "BOOL", "tensor(bool)", None),
    Row(DataType::Float16, "FLOAT16", "tensor(float16)", Some(Format::F16)),
    Row(DataType::Double, "DOUBLE", "tensor(double)", Some(Format::F64)),
    Row(DataType::Uint32, "UINT32", "tensor(uint32)", None),
    Row(DataType::Uint64, "UINT64", "tensor(uint64)", None),
    Row(DataType::Complex64, "COMPLEX64", "tensor(complex64)", None),
    Row(DataType::Complex128, "COMPLEX128", "tensor(complex128)", None),
    Row(DataType::Bfloat16, "BFLOAT16", "tensor(bfloat16)", Some(Format::Bf16)),
    Row(DataType::Float8E4M3Fn, "FLOAT8E4M3FN", "tensor(float8e4m3fn)", Some(Format::F8E4M3Fn)),
    Row(DataType::Float8E4M3FnUz, "FLOAT8E4M3FNUZ", "tensor(float8e4m3fnuz)", Some(Format::F8E4M3FnUz)),
    Row(DataType::Float8E5M2, "FLOAT8E5M2", "tensor(float8e5m2)", Some(Format::F8E5M2)),
    Row(DataType::Float8E5M2FnUz, "FLOAT8E5M2FNUZ", "tensor(float8e5m2fnuz)", Some(Format::F8E5M2FnUz)),
    Row(DataType::Uint4, "UINT4", "tensor(uint4)", None),
    Row(DataType::Int4, "INT4", "tensor(int4)", None),
    Row(DataType::Float4E2M1, "FLOAT4E2M1", "tensor(float4e2m1)", Some(Format::F4E2M1Fn)),
    Row(DataType::Float8E8M0, "FLOAT8E8M0", "tensor(float8e8m0)", Some(Format::F8E8M0Fnu)),
    Row(DataType::Uint2, "UINT2", "tensor(uint2)", None),
    Row(DataType::Int2, "INT2", "tensor(int2)", None),
    Row(DataType::Float6E2M3, "FLOAT6E2M3", "tensor(float6e2m3)", Some(Format::F6E2M3Fn)),
    Row(DataType::Float6E3M2, "FLOAT6E3M2", "tensor(float6e3m2)", Some(Format::F6E3M2Fn)),
];

impl DataType {
    /// Every type, by code.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Undefined; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            assert!(TABLE[i].0 as usize == i, "the table is in the order of the codes");
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The code in onnx.proto, such as 1 for FLOAT.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The name in onnx.proto, such as `FLOAT`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// The name in type lists, such as `tensor(float)`; `undefined` is in none.
    #[must_use]
    pub const fn type_string(self) -> &'static str {
        self.row().2
    }

    /// How the bits of an element are read, for floating-point types. That a type has a format does
    /// not mean that an operator takes it; those of 4 and 6 bits are packed in ONNX, while
    /// [`Format`] has one element a byte.
    #[must_use]
    pub const fn format(self) -> Option<Format> {
        self.row().3
    }

    /// The type with this format, if ONNX has it.
    #[must_use]
    pub fn from_format(format: Format) -> Option<Self> {
        Self::ALL.into_iter().find(|data_type| data_type.format() == Some(format))
    }
}

/// As in type lists: `tensor(float)`.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.type_string())
    }
}

/// No type has this code or name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownDataType;

impl fmt::Display for UnknownDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ONNX has no data type of this code or name")
    }
}

impl core::error::Error for UnknownDataType {}

/// By code, as in `TensorProto.data_type` and `TypeProto.Tensor.elem_type`.
impl TryFrom<i32> for DataType {
    type Error = UnknownDataType;

    fn try_from(code: i32) -> Result<Self, UnknownDataType> {
        usize::try_from(code)
            .ok()
            .and_then(|code| Self::ALL.get(code))
            .copied()
            .ok_or(UnknownDataType)
    }
}

/// Takes [`DataType::name`] and [`DataType::type_string`], as they are.
impl FromStr for DataType {
    type Err = UnknownDataType;

    fn from_str(name: &str) -> Result<Self, UnknownDataType> {
        let named = |row: &&Row| row.1 == name || row.2 == name;
        TABLE.iter().find(named).map(|row| row.0).ok_or(UnknownDataType)
    }
}
