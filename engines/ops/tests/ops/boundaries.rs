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

/// The operators of elements with these bits, of which `value` is the value.
fn check_all(
    data_type: DataType,
    element_type: ElementType,
    bits: &[u64],
    value: impl Fn(u64) -> f64,
) {
    let x = || bits.iter().map(|&bits| value(bits));
    let (bytes, n) = (memory(data_type.format().unwrap(), bits.iter().copied()), [bits.len()]);
    let is_inf = IsInf::for_opset(10).unwrap();
    let (negative, positive) = (is_inf.with_detect_positive(0), is_inf.with_detect_negative(0));
    let inf = |op, expected: String| check("Inf", &op, data_type, &n, &bytes, &expected);
    inf(is_inf, line(x().map(f64::is_infinite)));
    inf(negative, line(x().map(|x| x == f64::NEG_INFINITY)));
    inf(positive, line(x().map(|x| x == f64::INFINITY)));
    let is_nan = IsNan::for_opset(9).unwrap();
    check("NaN", &is_nan, data_type, &n, &bytes, &line(x().map(f64::is_nan)));
    check("finite", &IsFinite, element_type, &n, &bytes, &line(x().map(f64::is_finite)));
}

/// A conversion to f64 changes no class.
#[test]
fn f32_patterns() {
    let value = |bits| f32::from_bits(bits as u32).into();
    check_all(DataType::Float, ElementType::F32, &patterns(8, 23, &[]), value);
}

/// With mantissas of which only the low or only the high word is not zero.
#[test]
fn f64_patterns() {
    let low = [0xFFFF_FFFF, 1 << 32, 0x8000_0000, 0x7FFF_FFFF, 0xF_FFFF_0000_0000, 0x0FFF_FFFF_u64];
    let bits = patterns(11, 52, &low);
    assert!(bits.contains(&0x7FF0_0000_0000_0001) && bits.contains(&0x7FF0_0000_FFFF_FFFF));
    check_all(DataType::Double, ElementType::F64, &bits, f64::from_bits);
}
