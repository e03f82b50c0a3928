//! Why an operator over packed tensors refuses.

use core::fmt;

use crate::{DenseError, StandardType, onnx, openvino, stablehlo, webnn};

/// Why an operator over packed tensors refuses. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// A rule of ONNX.
    Onnx(onnx::Error),
    /// A rule of OpenVINO.
    OpenVino(openvino::Error),
    /// A rule of StableHLO.
    StableHlo(stablehlo::Error),
    /// A rule of WebNN.
    WebNn(webnn::Error),
    /// The element type is one of another standard.
    Standard {
        /// The operator.
        op: &'static str,
        /// The standard of the operator.
        standard: &'static str,
        /// The type of the input.
        element_type: StandardType,
    },
    /// The input or the output does not fit the shape.
    Memory {
        /// The operator.
        op: &'static str,
        /// Its version, in standards that have versions of operators.
        version: Option<u32>,
        /// The type of the input.
        element_type: StandardType,
        /// The reason.
        error: DenseError,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Onnx(error) => error.fmt(f),
            Self::OpenVino(error) => error.fmt(f),
            Self::StableHlo(error) => error.fmt(f),
            Self::WebNn(error) => error.fmt(f),
            Self::Standard { op, standard, element_type } => {
                let other = element_type.standard();
                write!(f, "{op} takes element types of {standard}, not {element_type} of {other}")
            }
            Self::Memory { op, version, element_type, error } => {
                if matches!(element_type, StandardType::WebNn(_)) {
                    f.write_str(webnn::TYPE_ERROR)?;
                }
                f.write_str(op)?;
                if let Some(version) = version {
                    write!(f, "-{version}")?;
                }
                write!(f, " of {element_type}: {error}")
            }
        }
    }
}

impl core::error::Error for Error {}

impl From<onnx::Error> for Error {
    fn from(error: onnx::Error) -> Self {
        Self::Onnx(error)
    }
}

impl From<openvino::Error> for Error {
    fn from(error: openvino::Error) -> Self {
        Self::OpenVino(error)
    }
}

impl From<stablehlo::Error> for Error {
    fn from(error: stablehlo::Error) -> Self {
        Self::StableHlo(error)
    }
}

impl From<webnn::Error> for Error {
    fn from(error: webnn::Error) -> Self {
        Self::WebNn(error)
    }
}
