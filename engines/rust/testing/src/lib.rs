//! What the tests of all engines share: models in ONNX's format, and inputs.

pub mod inputs;
pub mod onnx;
