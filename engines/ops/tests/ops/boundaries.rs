//! The boundary patterns of f32 and f64 (VECTORS, section 14) through the operators, against the
//! standard library.

use nonfinite_ops::onnx::{DataType, IsInf, IsNan};
use nonfinite_ops::openvino::{ElementType, IsFinite};

use crate::{check, memory};

/// All combinations of sign, boundary exponent and boundary mantissa; `low` are further mantissas.
fn patterns(exponent: u32, mantissa: u32, low: &[u64]) -> Vec<u64> {
    let ones = (1u64 << exponent) - 1;
    let all = (1u64 << mantissa) - 1;
    let half = 1u64 << (mantissa - 1);
    let mut mantissas = vec![0, 1, 2, 3, half - 1, half, half + 1, all, all - 1];
    mantissas.extend((0..mantissa).map(|bit| 1 << bit));
    mantissas.extend(low);
    let mut patterns = Vec::new();
    for sign in [0, 1] {
        for e in [0, 1, 2, ones / 2, ones - 2, ones - 1, ones] {
            patterns.extend(mantissas.iter().map(|m| (sign << exponent | e) << mantissa | m));
        }
    }
    patterns
}

fn line(answers: impl Iterator<Item = bool>) -> String {
    answers.map(|answer| if answer { "T " } else { "F " }).collect()
}

#[test]
fn f32_patterns() {
    let bits = patterns(8, 23, &[]);
    let x = || bits.iter().map(|&bits| f32::from_bits(bits as u32));
    let bytes = memory(nonfinite::Format::F32, bits.iter().copied());
    let n = [bits.len()];
    let is_inf = IsInf::for_opset(20).unwrap();
    let negative = is_inf.with_detect_positive(0);
    let expected = line(x().map(f32::is_nan));
    check("f32 NaN", &IsNan::for_opset(20).unwrap(), DataType::Float, &n, &bytes, &expected);
    check("f32 Inf", &is_inf, DataType::Float, &n, &bytes, &line(x().map(f32::is_infinite)));
    let expected = line(x().map(|x| x == f32::NEG_INFINITY));
    check("f32 -Inf", &negative, DataType::Float, &n, &bytes, &expected);
    check("f32 finite", &IsFinite, ElementType::F32, &n, &bytes, &line(x().map(f32::is_finite)));
}

/// With mantissas of which only the low or only the high word is not zero.
#[test]
fn f64_patterns() {
    let low = [
        0xFFFF_FFFF,
        0x1_0000_0000,
        0x8000_0000,
        0x7FFF_FFFF,
        0xF_FFFF_0000_0000,
        0x0000_0FFF_FFFF_u64,
    ];
    let bits = patterns(11, 52, &low);
    assert!(bits.contains(&0x7FF0_0000_0000_0001) && bits.contains(&0x7FF0_0000_FFFF_FFFF));
    let x = || bits.iter().map(|&bits| f64::from_bits(bits));
    let bytes = memory(nonfinite::Format::F64, bits.iter().copied());
    let n = [bits.len()];
    let is_inf = IsInf::for_opset(10).unwrap();
    let positive = is_inf.with_detect_negative(0);
    let expected = line(x().map(f64::is_nan));
    check("f64 NaN", &IsNan::for_opset(9).unwrap(), DataType::Double, &n, &bytes, &expected);
    check("f64 Inf", &is_inf, DataType::Double, &n, &bytes, &line(x().map(f64::is_infinite)));
    let expected = line(x().map(|x| x == f64::INFINITY));
    check("f64 +Inf", &positive, DataType::Double, &n, &bytes, &expected);
    check("f64 finite", &IsFinite, ElementType::F64, &n, &bytes, &line(x().map(f64::is_finite)));
}
