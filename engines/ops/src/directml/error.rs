//! Why an operator of DirectML was not created, or not run.

use core::fmt;

use super::{FeatureLevel, TensorDataType};

/// Why an operator was not created, or not run. Nothing was written. DirectML itself returns
/// `E_INVALIDARG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Error {
    /// The operator, as in `DML_OPERATOR_TYPE`.
    pub operator: &'static str,
    /// The tensor at fault. `None` if the operator is at fault.
    pub tensor: Option<Tensor>,
    /// What was found, and the rule that it breaks.
    pub rule: Rule,
}

/// A tensor of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tensor {
    /// `InputTensor`.
    Input,
    /// `OutputTensor`.
    Output,
}

/// A rule of DirectML, and the value that breaks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The operator came with a later feature level.
    Introduced {
        /// The level that was asked for.
        level: FeatureLevel,
        /// The first level with the operator.
        first: FeatureLevel,
    },
    /// The operator does not accept the data type.
    DataType {
        /// `DataType`.
        found: TensorDataType,
        /// What the operator accepts.
        allowed: &'static [TensorDataType],
    },
    /// The operator does not accept the number of dimensions at this feature level.
    DimensionCount {
        /// `DimensionCount`.
        found: usize,
        /// The fewest dimensions.
        least: usize,
        /// The most dimensions.
        most: usize,
    },
    /// There is not one stride for each size.
    StrideCount {
        /// The number of strides.
        found: usize,
        /// The number of sizes.
        sizes: usize,
    },
    /// A size is zero.
    ZeroSize {
        /// The dimension.
        index: usize,
    },
    /// `DimensionCount` and `Sizes` of the output are not those of the input.
    Sizes,
    /// The strides lead out of the buffer, or may lead two results to one place.
    Layout(nonfinite::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DML_OPERATOR_{}: ", self.operator)?;
        match self.tensor {
            Some(Tensor::Input) => f.write_str("InputTensor: ")?,
            Some(Tensor::Output) => f.write_str("OutputTensor: ")?,
            None => {}
        }
        match self.rule {
            Rule::Introduced { level, first } => {
                write!(f, "{level} has no such operator: it came with {first}")
            }
            Rule::DataType { found, allowed } => {
                write!(f, "DataType is {found}, not ")?;
                for (i, data_type) in allowed.iter().enumerate() {
                    write!(f, "{}{data_type}", if i == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
            Rule::DimensionCount { found, least, most } if least == most => {
                write!(f, "DimensionCount is {found}, not {least}")
            }
            Rule::DimensionCount { found, least, most } => {
                write!(f, "DimensionCount is {found}, not in {least}..={most}")
            }
            Rule::StrideCount { found, sizes } => write!(f, "{found} strides for {sizes} sizes"),
            Rule::ZeroSize { index } => write!(f, "Sizes[{index}] is zero"),
            Rule::Sizes => f.write_str("DimensionCount and Sizes are not those of InputTensor"),
            Rule::Layout(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}
