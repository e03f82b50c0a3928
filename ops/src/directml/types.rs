//! The enumerations of directml.h, with its values.

use core::fmt;

use nonfinite::Format;

use crate::Unknown;
use crate::table::types;

types! {
    /// `DML_TENSOR_DATA_TYPE`.
    /// Names lack the prefix `DML_TENSOR_DATA_TYPE_`.
    #[repr(u32)]
    TensorDataType: u32;
    // The name, the format, and the bits of an element.
    Unknown = 0, "UNKNOWN", None, 0;
    Float32 = 1, "FLOAT32", Some(Format::F32), 32;
    Float16 = 2, "FLOAT16", Some(Format::F16), 16;
    Uint32 = 3, "UINT32", None, 32;
    Uint16 = 4, "UINT16", None, 16;
    Uint8 = 5, "UINT8", None, 8;
    Int32 = 6, "INT32", None, 32;
    Int16 = 7, "INT16", None, 16;
    Int8 = 8, "INT8", None, 8;
    Float64 = 9, "FLOAT64", Some(Format::F64), 64;
    Uint64 = 10, "UINT64", None, 64;
    Int64 = 11, "INT64", None, 64;
    /// From `DML_TARGET_VERSION` 0x6300 on.
    Uint4 = 12, "UINT4", None, 4;
    /// From `DML_TARGET_VERSION` 0x6300 on.
    Int4 = 13, "INT4", None, 4;
}

impl TensorDataType {
    /// Bits of an element; 0 for UNKNOWN.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.row().3
    }
}

impl fmt::Display for TensorDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

/// `DML_FEATURE_LEVEL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum FeatureLevel {
    Level1_0 = 0x1000,
    Level2_0 = 0x2000,
    Level2_1 = 0x2100,
    Level3_0 = 0x3000,
    Level3_1 = 0x3100,
    Level4_0 = 0x4000,
    Level4_1 = 0x4100,
    Level5_0 = 0x5000,
    Level5_1 = 0x5100,
    Level5_2 = 0x5200,
    Level6_0 = 0x6000,
    Level6_1 = 0x6100,
    Level6_2 = 0x6200,
    Level6_3 = 0x6300,
    Level6_4 = 0x6400,
}

impl FeatureLevel {
    /// Every level, oldest first.
    pub const ALL: &'static [Self] = &[
        Self::Level1_0,
        Self::Level2_0,
        Self::Level2_1,
        Self::Level3_0,
        Self::Level3_1,
        Self::Level4_0,
        Self::Level4_1,
        Self::Level5_0,
        Self::Level5_1,
        Self::Level5_2,
        Self::Level6_0,
        Self::Level6_1,
        Self::Level6_2,
        Self::Level6_3,
        Self::Level6_4,
    ];
}

/// Prints the name in the header, such as `DML_FEATURE_LEVEL_2_1`.
impl fmt::Display for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = *self as u32;
        write!(f, "DML_FEATURE_LEVEL_{}_{}", value >> 12, value >> 8 & 0xF)
    }
}

impl TryFrom<u32> for TensorDataType {
    type Error = Unknown;

    fn try_from(value: u32) -> Result<Self, Unknown> {
        valued(Self::ALL, |&data_type| data_type as u32, "DML_TENSOR_DATA_TYPE", value)
    }
}

impl TryFrom<u32> for IsInfinityMode {
    type Error = Unknown;

    fn try_from(value: u32) -> Result<Self, Unknown> {
        let modes = [Self::Either, Self::Positive, Self::Negative];
        valued(&modes, |&mode| mode as u32, "DML_IS_INFINITY_MODE", value)
    }
}

impl TryFrom<u32> for FeatureLevel {
    type Error = Unknown;

    fn try_from(value: u32) -> Result<Self, Unknown> {
        valued(Self::ALL, |&level| level as u32, "DML_FEATURE_LEVEL", value)
    }
}

/// The entry of `all` with this value.
fn valued<T: Copy>(
    all: &[T],
    value_of: fn(&T) -> u32,
    enumeration: &'static str,
    value: u32,
) -> Result<T, Unknown> {
    let found = all.iter().find(|&known| value_of(known) == value);
    found.copied().ok_or(Unknown::code(enumeration, "value", value))
}
