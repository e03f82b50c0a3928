//! WebNN isNaN and isInfinite (W3C Web Neural Network API, "Element-wise logical operations").
//! There is no isFinite, and isInfinite asks for no sign.
//!
//! ```
//! use nonfinite::ops::webnn::{DataType, IsInfinite};
//! use nonfinite::ops::{Dense, Operator};
//!
//! let mut out = [0; 2];
//! IsInfinite.run(Dense::new(DataType::Float32, &[2], &[f32::INFINITY, f32::NAN][..]), &mut out[..])?;
//! assert_eq!(out, [1, 0]);
//! # Ok::<(), nonfinite::ops::webnn::Error>(())
//! ```

use core::fmt;
use core::str::FromStr;

use crate::ops::{DenseError, Operator, Signature, Storage};
use crate::{Format, Predicate};

/// The element types of WebNN, `MLOperandDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum DataType {
    Float32,
    Float16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Int8,
    Uint8,
    Int4,
    Uint4,
}

const NAMES: [(DataType, &str); 10] = [
    (DataType::Float32, "float32"),
    (DataType::Float16, "float16"),
    (DataType::Int32, "int32"),
    (DataType::Uint32, "uint32"),
    (DataType::Int64, "int64"),
    (DataType::Uint64, "uint64"),
    (DataType::Int8, "int8"),
    (DataType::Uint8, "uint8"),
    (DataType::Int4, "int4"),
    (DataType::Uint4, "uint4"),
];

impl DataType {
    /// Every type.
    pub const ALL: [Self; NAMES.len()] = {
        let mut all = [Self::Float32; NAMES.len()];
        let mut i = 0;
        while i < NAMES.len() {
            assert!(NAMES[i].0 as usize == i, "the names are in the order of the enum");
            all[i] = NAMES[i].0;
            i += 1;
        }
        all
    };

    /// The name, such as `float32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// How the bits of an element are read, for floating-point types.
    #[must_use]
    pub const fn format(self) -> Option<Format> {
        match self {
            Self::Float32 => Some(Format::F32),
            Self::Float16 => Some(Format::F16),
            _ => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No type has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownDataType;

impl fmt::Display for UnknownDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebNN has no data type of this name")
    }
}

impl core::error::Error for UnknownDataType {}

impl FromStr for DataType {
    type Err = UnknownDataType;

    fn from_str(name: &str) -> Result<Self, UnknownDataType> {
        NAMES.iter().find(|row| row.1 == name).map(|row| row.0).ok_or(UnknownDataType)
    }
}

/// Why a WebNN operator refuses: where a script gets a TypeError. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The type is neither float32 nor float16.
    DataType {
        /// The operator.
        op: &'static str,
        /// The type of the input.
        data_type: DataType,
    },
    /// A valid dimension is at least 1 and at most 2^31 - 1, a `long` ("check dimensions" of
    /// MLOperandDescriptor).
    Dimension {
        /// The operator.
        op: &'static str,
        /// Index into the shape.
        index: usize,
        /// The size of the dimension.
        size: usize,
    },
    /// Input or output do not fit the shape.
    Memory {
        /// The operator.
        op: &'static str,
        /// The type of the input.
        data_type: DataType,
        /// What does not fit.
        error: DenseError,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::DataType { op, data_type } => {
                write!(f, "TypeError: {op}: the input is {data_type}, not float32 or float16")
            }
            Self::Dimension { op, index, size } => {
                write!(
                    f,
                    "TypeError: {op}: dimension {index} is {size}, no valid dimension: not in 1..=2147483647"
                )
            }
            Self::Memory { op, data_type, error } => {
                write!(f, "TypeError: {op} of {data_type}: {error}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Type list and shape rule of both operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    op: &'static str,
}

impl Signature for Method {
    type Type = DataType;
    type Error = Error;
    const RESULT: DataType = DataType::Uint8;

    fn name(&self) -> &'static str {
        self.op
    }

    fn storage(&self, data_type: DataType) -> Result<Storage, Error> {
        let format = data_type.format().ok_or(Error::DataType { op: self.op, data_type })?;
        Ok(Storage::Whole(format))
    }

    fn check_shape(&self, _data_type: DataType, shape: &[usize]) -> Result<(), Error> {
        let valid = |&size: &usize| size != 0 && i32::try_from(size).is_ok();
        match shape.iter().position(|size| !valid(size)) {
            Some(index) => Err(Error::Dimension { op: self.op, index, size: shape[index] }),
            None => Ok(()),
        }
    }

    fn memory_error(&self, data_type: DataType, error: DenseError) -> Error {
        Error::Memory { op: self.op, data_type, error }
    }
}

/// `MLGraphBuilder.isNaN(a)`: 1 for each element that is NaN, as uint8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsNan;

impl Operator for IsNan {
    type Signature = Method;

    fn signature(&self) -> Method {
        Method { op: "isNaN" }
    }

    fn predicate(&self) -> Predicate {
        Predicate::Nan
    }
}

/// `MLGraphBuilder.isInfinite(a)`: 1 for each element that is infinite, as uint8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsInfinite;

impl Operator for IsInfinite {
    type Signature = Method;

    fn signature(&self) -> Method {
        Method { op: "isInfinite" }
    }

    fn predicate(&self) -> Predicate {
        Predicate::Inf
    }
}
