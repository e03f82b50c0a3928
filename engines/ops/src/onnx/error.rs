//! Why an ONNX operator refuses.

use core::fmt;

use super::DataType;

/// Why an ONNX operator refuses. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The opset is older than the operator.
    Opset {
        /// The operator.
        op: &'static str,
        /// The requested opset.
        opset: u32,
        /// The first opset with the operator.
        first: u32,
    },
    /// The type is not in the type list T1. The text begins as onnxruntime's does when it refuses
    /// to load such a model.
    Type {
        /// The operator.
        op: &'static str,
        /// Its version.
        since_version: u32,
        /// The type of the input.
        data_type: DataType,
        /// The type list.
        allowed: &'static [DataType],
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Opset { op, opset, first } => {
                write!(f, "opset {opset} has no operator {op}: it came with opset {first}")
            }
            Self::Type { op, since_version, data_type, allowed } => {
                write!(
                    f,
                    "Type '{data_type}' of input parameter (X) of operator ({op}) is invalid: "
                )?;
                write!(f, "{op}-{since_version} takes")?;
                for (i, data_type) in allowed.iter().enumerate() {
                    write!(f, "{} {data_type}", if i == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for Error {}
