//! Inputs on which implementations are known to fail (VECTORS, section 15), with the right answers;
//! and the mistakes themselves, which these inputs must tell from the right answers.

use nonfinite::{Format, Predicate};
use nonfinite_ops::onnx::{DataType, IsNan};
use nonfinite_ops::openvino::{self, ElementType, IsFinite, IsInf};

use crate::{check, check_predicate, codes, elements, memory};

/// OpenVINO 2026.4.1 clamps f64 to f32 on a CPU, and so calls infinities finite. ggml narrows f64,
/// and so calls 1e300 infinite.
#[test]
fn f64_as_f32() {
    let x = elements(Format::F64, "inf -inf nan 1e300 -1e300 3.5e38 max 1e-310");
    check("IsFinite f64", &IsFinite, ElementType::F64, &[8], &x, "F F F T T T T T");
    check("IsInf f64", &IsInf::default(), ElementType::F64, &[8], &x, "T T F F F F F F");
    check("IsNaN f64", &openvino::IsNan, ElementType::F64, &[8], &x, "F F T F F F F F");
    let clamped = f64::INFINITY.clamp(f32::MIN.into(), f32::MAX.into()) as f32;
    assert!(clamped.is_finite() && (1e300f64 as f32).is_infinite(), "the mistakes are mistakes");
}

#[test]
fn openvino_avx512_subnormals() {
    let x = memory(Format::F32, [0x0000_0001, 0x007F_FFFF, 0x8000_0001, 0x0040_0000]);
    check("OpenVINO IsFinite f32", &IsFinite, ElementType::F32, &[4], &x, "T T T T");
    let x = memory(Format::Bf16, [0x0001, 0x007F, 0x8001]);
    check("OpenVINO IsFinite bf16", &IsFinite, ElementType::Bf16, &[3], &x, "T T T");
}

/// StableHLO to TOSA: not(|x| == inf). coremltools: (x + 65504) != x.
#[test]
fn finite_by_arithmetic() {
    for format in [Format::F16, Format::Bf16, Format::F32, Format::F64] {
        let element_type = ElementType::from_format(format).unwrap();
        check("TOSA", &IsFinite, element_type, &[1], &elements(format, "nan"), "F");
    }
    check("coremltools", &IsFinite, ElementType::F32, &[1], &elements(Format::F32, "1e15"), "T");
    assert!(
        f32::NAN.abs() != f32::INFINITY && 1e15f32 + 65504.0 == 1e15,
        "the mistakes are mistakes"
    );
}

/// Exponent all ones is no mark of what is not finite in E4M3FN; a masked sign loses the NaN of
/// FNUZ.
#[test]
fn fp8_traps() {
    let x = codes("78 79 7A 7B 7C 7D 7E F8 F9 FA FB FC FD FE");
    check("E4M3FN", &IsFinite, ElementType::F8E4M3, &[14], &x, "T T T T T T T T T T T T T T");
    let is_nan = IsNan::for_opset(20).unwrap();
    for data_type in [DataType::Float8E4M3FnUz, DataType::Float8E5M2FnUz] {
        check("FNUZ", &is_nan, data_type, &[4], &codes("80 00 7F FF"), "T F F F");
    }
}

/// A sum overflows where no element is NaN; a maximum passes over NaN.
#[test]
fn by_reduction() {
    let x = elements(Format::F16, "60000 -60000").repeat(2048);
    check_predicate("burn#5026", Format::F16, Predicate::Nan, &x, &"F F ".repeat(2048));
    let x = elements(Format::F32, "1 nan 2");
    check_predicate("max/min", Format::F32, Predicate::Finite, &x, "T F T");
    assert!(1f32.max(f32::NAN).max(2.0).is_finite(), "the mistake is one");
}
