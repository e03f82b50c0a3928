//! Element types of all standards.

use core::fmt;

use crate::{onnx, openvino, stablehlo, webnn};

/// An element type of one of the standards, so that tensors of all standards have the same Rust
/// type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StandardType {
    /// Of ONNX.
    Onnx(onnx::DataType),
    /// Of OpenVINO.
    OpenVino(openvino::ElementType),
    /// Of StableHLO.
    StableHlo(stablehlo::ElementType),
    /// Of WebNN.
    WebNn(webnn::DataType),
}

impl StandardType {
    /// The name of the standard, such as `ONNX`.
    #[must_use]
    pub const fn standard(self) -> &'static str {
        match self {
            Self::Onnx(_) => "ONNX",
            Self::OpenVino(_) => "OpenVINO",
            Self::StableHlo(_) => "StableHLO",
            Self::WebNn(_) => "WebNN",
        }
    }
}

/// Prints the name in the standard.
impl fmt::Display for StandardType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Onnx(data_type) => data_type.fmt(f),
            Self::OpenVino(element_type) => element_type.fmt(f),
            Self::StableHlo(element_type) => element_type.fmt(f),
            Self::WebNn(data_type) => data_type.fmt(f),
        }
    }
}

impl From<onnx::DataType> for StandardType {
    fn from(data_type: onnx::DataType) -> Self {
        Self::Onnx(data_type)
    }
}

impl From<openvino::ElementType> for StandardType {
    fn from(element_type: openvino::ElementType) -> Self {
        Self::OpenVino(element_type)
    }
}

impl From<stablehlo::ElementType> for StandardType {
    fn from(element_type: stablehlo::ElementType) -> Self {
        Self::StableHlo(element_type)
    }
}

impl From<webnn::DataType> for StandardType {
    fn from(data_type: webnn::DataType) -> Self {
        Self::WebNn(data_type)
    }
}
