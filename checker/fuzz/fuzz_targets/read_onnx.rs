//! Any bytes as ONNX models.
#![no_main]

nonfinite_check_fuzz::read_target!(ONNX);
