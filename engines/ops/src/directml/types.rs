//! The enumerations of directml.h, with its values.

use core::fmt;

use nonfinite::Format;

use crate::Unknown;
use crate::table::types;

types! {
    /// `DML_TENSOR_DATA_TYPE`.
    /// Names lack the prefix `DML_TENSOR_DATA_TYPE_`.
    #[repr(u32)]
    TensorDataType: ();
    Unknown = 0, "UNKNOWN", None;
    Float32 = 1, "FLOAT32", Some(Format::F32);
    Float16 = 2, "FLOAT16", Some(Format::F16);
    Uint32 = 3, "UINT32", None;
    Uint16 = 4, "UINT16", None;
    Uint8 = 5, "UINT8", None;
    Int32 = 6, "INT32", None;
    Int16 = 7, "INT16", None;
    Int8 = 8, "INT8", None;
    Float64 = 9, "FLOAT64", Some(Format::F64);
    Uint64 = 10, "UINT64", None;
    Int64 = 11, "INT64", None;
    /// From `DML_TARGET_VERSION` 0x6300 on.
    Uint4 = 12, "UINT4", None;
    /// From `DML_TARGET_VERSION` 0x6300 on.
    Int4 = 13, "INT4", None;
}

impl fmt::Display for TensorDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TryFrom<u32> for TensorDataType {
    type Error = Unknown;

    fn try_from(value: u32) -> Result<Self, Unknown> {
        let found = Self::ALL.iter().find(|&&data_type| data_type as u32 == value);
        found.copied().ok_or(Unknown::code("DML_TENSOR_DATA_TYPE", "value", value))
    }
}

/// `DML_IS_INFINITY_MODE`: the infinities that give 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum IsInfinityMode {
    /// Both infinities.
    #[default]
    Either = 0,
    /// +Inf.
    Positive = 1,
    /// -Inf.
    Negative = 2,
}

impl TryFrom<u32> for IsInfinityMode {
    type Error = Unknown;

    fn try_from(value: u32) -> Result<Self, Unknown> {
        match value {
            0 => Ok(Self::Either),
            1 => Ok(Self::Positive),
            2 => Ok(Self::Negative),
            _ => Err(Unknown::code("DML_IS_INFINITY_MODE", "value", value)),
        }
    }
}

/// A value of `DML_FEATURE_LEVEL`, such as 0x3000 for level 3.0. Named are the levels at which the
/// two operators came or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureLevel(pub u32);

impl FeatureLevel {
    /// ELEMENT_WISE_IS_NAN came, for 4 dimensions.
    pub const LEVEL_2_0: Self = Self(0x2000);
    /// ELEMENT_WISE_IS_INFINITY came, for 4 dimensions.
    pub const LEVEL_2_1: Self = Self(0x2100);
    /// Both take 1 to 8 dimensions.
    pub const LEVEL_3_0: Self = Self(0x3000);
}

/// Prints the name in the header, such as `DML_FEATURE_LEVEL_2_1`.
impl fmt::Display for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DML_FEATURE_LEVEL_{}_{}", self.0 >> 12, self.0 >> 8 & 0xF)
    }
}
