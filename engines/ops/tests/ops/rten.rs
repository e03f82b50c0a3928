//! rten, src/ops/unary_elementwise.rs (VECTORS, section 11). Its results are i32; ours are bytes
//! that its caller widens.

use nonfinite::Format;
use nonfinite_ops::onnx::{DataType, IsInf, IsNan};

use crate::{check, elements};

#[test]
fn unary_elementwise() {
    let (is_inf, is_nan) = (IsInf::for_opset(20).unwrap(), IsNan::for_opset(20).unwrap());
    let x = elements(Format::F32, "-inf 0 1 inf");
    check("rten IsInf", &is_inf, DataType::Float, &[4], &x, "1 0 0 1");
    let x = elements(Format::F32, "-inf 0 nan 1 inf");
    check("rten IsNaN", &is_nan, DataType::Float, &[5], &x, "0 0 1 0 0");
}
