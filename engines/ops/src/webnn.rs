//! WebNN isNaN and isInfinite (W3C Web Neural Network API, "Element-wise logical operations").
//! There is no isFinite, and isInfinite asks for no sign.
//!
//! ```
//! use nonfinite_ops::webnn::{DataType, IsInfinite};
//! use nonfinite_ops::{Dense, Operator};
//!
//! let mut out = [0; 2];
//! let x = [f32::INFINITY, f32::NAN];
//! IsInfinite.run(Dense::new(DataType::Float32, &[2], &x[..]), (&mut out[..]).into())?;
//! assert_eq!(out, [1, 0]);
//! # Ok::<(), nonfinite_ops::Error>(())
//! ```

use core::fmt;
use core::str::FromStr;

use nonfinite::{Format, Predicate};

use crate::operator::sealed::Sealed;
use crate::table::{self, types};
use crate::{Dimension, Error as AnyError, Operator, Signature, StandardType, Storage, Unknown};

types! {
    /// The element types of WebNN, `MLOperandDataType`.
    DataType: ();
    Float32, "float32", Some(Format::F32);
    Float16, "float16", Some(Format::F16);
    Int32, "int32", None;
    Uint32, "uint32", None;
    Int64, "int64", None;
    Uint64, "uint64", None;
    Int8, "int8", None;
    Uint8, "uint8", None;
    Int4, "int4", None;
    Uint4, "uint4", None;
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Accepts [`DataType::name`], in exactly this spelling.
impl FromStr for DataType {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        table::named(Self::TABLE, |row| row.1 == name, ("WebNN", "data type"), name)
    }
}

/// Why a WebNN operator refuses. A script gets a TypeError instead. Nothing was written.
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
    /// A dimension is invalid. Valid ones are from 1 to 2^31 - 1, a `long` ("check dimensions" of
    /// MLOperandDescriptor).
    Dimension {
        /// The operator.
        op: &'static str,
        /// Index into the shape.
        index: usize,
        /// The size of the dimension, as far as it is known.
        size: Dimension,
    },
}

/// The beginning of all errors: the exception that a script gets.
pub(crate) const TYPE_ERROR: &str = "TypeError: ";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TYPE_ERROR)?;
        match *self {
            Self::DataType { op, data_type } => {
                write!(f, "{op}: the input is {data_type}, not float32 or float16")
            }
            Self::Dimension { op, index, size } => {
                write!(
                    f,
                    "{op}: dimension {index} is {size}, no valid dimension: not in 1..=2147483647"
                )
            }
        }
    }
}

impl core::error::Error for Error {}

/// The type list and the shape rule of both operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    op: &'static str,
}

const IS_NAN: Method = Method { op: "isNaN" };
const IS_INFINITE: Method = Method { op: "isInfinite" };

impl Sealed for Method {}

impl Signature for Method {
    fn name(&self) -> &'static str {
        self.op
    }

    fn output_type(&self) -> StandardType {
        DataType::Uint8.into()
    }

    fn storage(&self, element_type: StandardType) -> Result<Storage, AnyError> {
        let Self { op } = *self;
        let StandardType::WebNn(data_type) = element_type else {
            return Err(AnyError::Standard { op, standard: "WebNN", element_type });
        };
        let format = data_type.format().ok_or(Error::DataType { op, data_type })?;
        Ok(Storage::Whole(format))
    }

    fn check_dimension(&self, index: usize, size: Dimension) -> Result<(), AnyError> {
        if size.max() == Some(0) || i32::try_from(size.min()).is_err() {
            return Err(Error::Dimension { op: self.op, index, size }.into());
        }
        Ok(())
    }
}

/// `MLGraphBuilder.isNaN(a)`: 1 for each element that is NaN, as uint8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsNan;

impl Sealed for IsNan {}

impl Operator for IsNan {
    fn signature(&self) -> &dyn Signature {
        &IS_NAN
    }

    fn predicate(&self) -> Predicate {
        Predicate::Nan
    }
}

/// `MLGraphBuilder.isInfinite(a)`: 1 for each element that is infinite, as uint8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsInfinite;

impl Sealed for IsInfinite {}

impl Operator for IsInfinite {
    fn signature(&self) -> &dyn Signature {
        &IS_INFINITE
    }

    fn predicate(&self) -> Predicate {
        Predicate::Inf
    }
}
