//! Any bytes as files of one ONNX tensor.
#![no_main]

nonfinite_fuzz::read_target!(ONNX_TENSOR);
