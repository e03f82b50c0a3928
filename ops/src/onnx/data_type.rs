//! TensorProto.DataType.

use core::fmt;
use core::str::FromStr;

use nonfinite::Format;

use crate::Unknown;
use crate::table::{self, Row};

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

/// In the order of the codes. Each row has the name in onnx.proto and, last, the name in type
/// lists.
#[rustfmt::skip]
const TABLE: [Row<DataType, &str>; 29] = [
    Row(DataType::Undefined, "UNDEFINED", None, "undefined"),
    Row(DataType::Float, "FLOAT", Some(Format::F32), "tensor(float)"),
    Row(DataType::Uint8, "UINT8", None, "tensor(uint8)"),
    Row(DataType::Int8, "INT8", None, "tensor(int8)"),
    Row(DataType::Uint16, "UINT16", None, "tensor(uint16)"),
    Row(DataType::Int16, "INT16", None, "tensor(int16)"),
    Row(DataType::Int32, "INT32", None, "tensor(int32)"),
    Row(DataType::Int64, "INT64", None, "tensor(int64)"),
    Row(DataType::String, "STRING", None, "tensor(string)"),
    Row(DataType::Bool, "BOOL", None, "tensor(bool)"),
    Row(DataType::Float16, "FLOAT16", Some(Format::F16), "tensor(float16)"),
    Row(DataType::Double, "DOUBLE", Some(Format::F64), "tensor(double)"),
    Row(DataType::Uint32, "UINT32", None, "tensor(uint32)"),
    Row(DataType::Uint64, "UINT64", None, "tensor(uint64)"),
    Row(DataType::Complex64, "COMPLEX64", None, "tensor(complex64)"),
    Row(DataType::Complex128, "COMPLEX128", None, "tensor(complex128)"),
    Row(DataType::Bfloat16, "BFLOAT16", Some(Format::Bf16), "tensor(bfloat16)"),
    Row(DataType::Float8E4M3Fn, "FLOAT8E4M3FN", Some(Format::F8E4M3Fn), "tensor(float8e4m3fn)"),
    Row(DataType::Float8E4M3FnUz, "FLOAT8E4M3FNUZ", Some(Format::F8E4M3FnUz), "tensor(float8e4m3fnuz)"),
    Row(DataType::Float8E5M2, "FLOAT8E5M2", Some(Format::F8E5M2), "tensor(float8e5m2)"),
    Row(DataType::Float8E5M2FnUz, "FLOAT8E5M2FNUZ", Some(Format::F8E5M2FnUz), "tensor(float8e5m2fnuz)"),
    Row(DataType::Uint4, "UINT4", None, "tensor(uint4)"),
    Row(DataType::Int4, "INT4", None, "tensor(int4)"),
    Row(DataType::Float4E2M1, "FLOAT4E2M1", Some(Format::F4E2M1Fn), "tensor(float4e2m1)"),
    Row(DataType::Float8E8M0, "FLOAT8E8M0", Some(Format::F8E8M0Fnu), "tensor(float8e8m0)"),
    Row(DataType::Uint2, "UINT2", None, "tensor(uint2)"),
    Row(DataType::Int2, "INT2", None, "tensor(int2)"),
    Row(DataType::Float6E2M3, "FLOAT6E2M3", Some(Format::F6E2M3Fn), "tensor(float6e2m3)"),
    Row(DataType::Float6E3M2, "FLOAT6E3M2", Some(Format::F6E3M2Fn), "tensor(float6e3m2)"),
];

impl DataType {
    /// Every type, by code.
    pub const ALL: &'static [Self] = &table::types(&TABLE);

    const fn row(self) -> &'static Row<Self, &'static str> {
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
        self.row().3
    }

    /// How the bits of an element are read, for floating-point types. That a type has a format does
    /// not mean that an operator takes it; those of 4 and 6 bits are packed in ONNX, while
    /// [`Format`] has one element a byte.
    #[must_use]
    pub const fn format(self) -> Option<Format> {
        self.row().2
    }

    /// The type with this format, if ONNX has it.
    #[must_use]
    pub fn from_format(format: Format) -> Option<Self> {
        table::with_format(&TABLE, format)
    }
}

/// As in type lists: `tensor(float)`.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.type_string())
    }
}

/// By code, as in `TensorProto.data_type` and `TypeProto.Tensor.elem_type`.
impl TryFrom<i32> for DataType {
    type Error = Unknown;

    fn try_from(code: i32) -> Result<Self, Unknown> {
        let data_type = usize::try_from(code).ok().and_then(|code| Self::ALL.get(code));
        data_type.copied().ok_or(Unknown::code("ONNX", "data type", code))
    }
}

/// Takes [`DataType::name`] and [`DataType::type_string`], as they are.
impl FromStr for DataType {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        let matches = |row: &Row<_, _>| row.1 == name || row.3 == name;
        table::named(&TABLE, matches, ("ONNX", "data type"), name)
    }
}
