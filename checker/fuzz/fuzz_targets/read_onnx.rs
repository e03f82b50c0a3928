//! Any bytes as ONNX models.
#![no_main]

nonfinite_fuzz::read_target!(ONNX);
