//! onnxruntime/test/providers/cpu/tensor/isinf_test.cc and isnan_test.cc (VECTORS, section 2).

use nonfinite::Format;
use nonfinite_ops::onnx::{DataType, IsInf, IsNan};

use crate::{check, codes, elements};

fn is_inf(opset: u32, detect_positive: i64, detect_negative: i64) -> IsInf {
    let op = IsInf::for_opset(opset).unwrap();
    op.with_detect_negative(detect_negative).with_detect_positive(detect_positive)
}

#[test]
fn is_inf_of_floats() {
    let rows = [
        (1, 1, "-1.2 nan inf 2.8 -inf inf", "F F T F T T"),
        (1, 0, "-1.7 nan inf 3.6 -inf inf", "F F T F F T"),
        (0, 1, "-1.7 nan inf 3.6 -inf inf", "F F F F T F"),
    ];
    for (positive, negative, x, expected) in rows {
        for opset in [10, 20] {
            for (data_type, format) in
                [(DataType::Float, Format::F32), (DataType::Double, Format::F64)]
            {
                let op = is_inf(opset, positive, negative);
                check("ORT IsInf", &op, data_type, &[6], &elements(format, x), expected);
            }
        }
    }
    for (data_type, format) in
        [(DataType::Float16, Format::F16), (DataType::Bfloat16, Format::Bf16)]
    {
        let x = elements(format, "-1.7 nan inf 3.6 -inf inf");
        check("ORT IsInf", &is_inf(20, 1, 1), data_type, &[6], &x, "F F T F T T");
    }
}

#[test]
fn is_inf_of_fp8() {
    let all = [(1, 1), (1, 0), (0, 1), (0, 0)];
    let never = [
        (DataType::Float8E4M3Fn, "B8 7F 38 FF FF 7F"),
        (DataType::Float8E4M3FnUz, "C0 80 40 80 80 80"),
        (DataType::Float8E5M2FnUz, "C0 80 40 80 80 80"),
    ];
    for (data_type, x) in never {
        for (positive, negative) in all {
            let op = is_inf(20, positive, negative);
            check("ORT IsInf fp8", &op, data_type, &[6], &codes(x), "F F F F F F");
        }
    }
    let expected = ["F T F T F T", "F F F F F T", "F T F T F F", "F F F F F F"];
    for nan in ["7D", "7E", "7F"] {
        let x = codes(&format!("BC FC 3C FC {nan} 7C"));
        for ((positive, negative), expected) in all.into_iter().zip(expected) {
            let op = is_inf(20, positive, negative);
            check("ORT IsInf E5M2", &op, DataType::Float8E5M2, &[6], &x, expected);
        }
    }
}

#[test]
fn is_nan() {
    let rows = [
        (DataType::Float, [9, 9, 20]),
        (DataType::Double, [9, 9, 20]),
        (DataType::Float16, [9, 13, 20]),
        (DataType::Bfloat16, [20; 3]),
    ];
    for (data_type, opsets) in rows {
        let x = elements(data_type.format().unwrap(), "1.0 nan 2.0 nan");
        for opset in opsets {
            let op = IsNan::for_opset(opset).unwrap();
            check("ORT IsNaN", &op, data_type, &[2, 2], &x, "F T F T");
        }
    }
    let fp8 = [
        (DataType::Float8E4M3Fn, "38 FF 40 7F"),
        (DataType::Float8E4M3FnUz, "40 80 48 80"),
        (DataType::Float8E5M2, "3C FE 40 7E"),
        (DataType::Float8E5M2FnUz, "40 80 44 80"),
    ];
    for (data_type, x) in fp8 {
        let op = IsNan::for_opset(20).unwrap();
        check("ORT IsNaN fp8", &op, data_type, &[2, 2], &codes(x), "F T F T");
    }
}
