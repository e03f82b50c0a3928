//! TensorProto.DataType.

use core::fmt;
use core::str::FromStr;

use nonfinite::Format;

use crate::Unknown;
use crate::table::{self, Row, types};

types! {
    /// The element types of ONNX, with the codes of `TensorProto.DataType` (onnx.proto).
    DataType: &'static str;
    // The name in onnx.proto, the format, and the name in type lists.
    Undefined = 0, "UNDEFINED", None, "undefined";
    Float = 1, "FLOAT", Some(Format::F32), "tensor(float)";
    Uint8 = 2, "UINT8", None, "tensor(uint8)";
    Int8 = 3, "INT8", None, "tensor(int8)";
    Uint16 = 4, "UINT16", None, "tensor(uint16)";
    Int16 = 5, "INT16", None, "tensor(int16)";
    Int32 = 6, "INT32", None, "tensor(int32)";
    Int64 = 7, "INT64", None, "tensor(int64)";
    String = 8, "STRING", None, "tensor(string)";
    Bool = 9, "BOOL", None, "tensor(bool)";
    Float16 = 10, "FLOAT16", Some(Format::F16), "tensor(float16)";
    Double = 11, "DOUBLE", Some(Format::F64), "tensor(double)";
    Uint32 = 12, "UINT32", None, "tensor(uint32)";
    Uint64 = 13, "UINT64", None, "tensor(uint64)";
    Complex64 = 14, "COMPLEX64", None, "tensor(complex64)";
    Complex128 = 15, "COMPLEX128", None, "tensor(complex128)";
    Bfloat16 = 16, "BFLOAT16", Some(Format::Bf16), "tensor(bfloat16)";
    Float8E4M3Fn = 17, "FLOAT8E4M3FN", Some(Format::F8E4M3Fn), "tensor(float8e4m3fn)";
    Float8E4M3FnUz = 18, "FLOAT8E4M3FNUZ", Some(Format::F8E4M3FnUz), "tensor(float8e4m3fnuz)";
    Float8E5M2 = 19, "FLOAT8E5M2", Some(Format::F8E5M2), "tensor(float8e5m2)";
    Float8E5M2FnUz = 20, "FLOAT8E5M2FNUZ", Some(Format::F8E5M2FnUz), "tensor(float8e5m2fnuz)";
    Uint4 = 21, "UINT4", None, "tensor(uint4)";
    Int4 = 22, "INT4", None, "tensor(int4)";
    Float4E2M1 = 23, "FLOAT4E2M1", Some(Format::F4E2M1Fn), "tensor(float4e2m1)";
    Float8E8M0 = 24, "FLOAT8E8M0", Some(Format::F8E8M0Fnu), "tensor(float8e8m0)";
    Uint2 = 25, "UINT2", None, "tensor(uint2)";
    Int2 = 26, "INT2", None, "tensor(int2)";
    Float6E2M3 = 27, "FLOAT6E2M3", Some(Format::F6E2M3Fn), "tensor(float6e2m3)";
    Float6E3M2 = 28, "FLOAT6E3M2", Some(Format::F6E3M2Fn), "tensor(float6e3m2)";
}

impl DataType {
    /// The code in onnx.proto, such as 1 for FLOAT.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The name in type lists, such as `tensor(float)`. `undefined` is in no list.
    #[must_use]
    pub const fn type_string(self) -> &'static str {
        self.row().3
    }

    /// The type with this format, if ONNX has it.
    #[must_use]
    pub fn from_format(format: Format) -> Option<Self> {
        table::with_format(Self::TABLE, format)
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

/// Accepts [`DataType::name`] and [`DataType::type_string`], in exactly this spelling.
impl FromStr for DataType {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        let matches = |row: &Row<_, _>| row.1 == name || row.3 == name;
        table::named(Self::TABLE, matches, ("ONNX", "data type"), name)
    }
}
