//! OpenVINO: its reference tests, types, attributes and refusals (CONTRACTS, section 2; VECTORS,
//! section 3), and f64, where its CPU plugin is wrong.

use nonfinite::Format;
use nonfinite_ops::openvino::{AttributeRule, ElementType, Error, IsFinite, IsInf, IsNan};
use nonfinite_ops::{Dense, DenseError, Error as AnyError, Operator};

use crate::{check, codes, elements};

const FLOATS: [(ElementType, Format); 4] = [
    (ElementType::F64, Format::F64),
    (ElementType::F32, Format::F32),
    (ElementType::F16, Format::F16),
    (ElementType::Bf16, Format::Bf16),
];

fn is_inf(detect_negative: bool, detect_positive: bool) -> IsInf {
    let op = IsInf::default();
    op.with_detect_negative(detect_negative).with_detect_positive(detect_positive)
}

/// src/plugins/template/tests/functional/op_reference/is_finite.cpp, is_inf.cpp and is_nan.cpp.
#[test]
fn op_reference() {
    for (element_type, format) in FLOATS {
        let x = elements(format, "inf 0 max -0.5 -inf 1.0 min nan");
        check("IsFinite", &IsFinite, element_type, &[8], &x, "F T T T F T T F");
        let inf = |op, expected| check("IsInf", &op, element_type, &[8], &x, expected);
        inf(IsInf::default(), "T F F F T F F F");
        inf(is_inf(false, true), "T F F F F F F F");
        inf(is_inf(true, false), "F F F F T F F F");
        inf(is_inf(false, false), "F F F F F F F F");
        check("IsNaN", &IsNan, element_type, &[8], &x, "F F F F F F F T");
    }
}

/// The example in the document of IsFinite-10.
#[test]
fn example_of_the_specification() {
    for (element_type, format) in FLOATS {
        let x = elements(format, "nan 2.1 3.7 inf");
        check("IsFinite-10", &IsFinite, element_type, &[4], &x, "F T T F");
    }
}

/// OpenVINO 2026.4.1 on a CPU clamps f64 to f32 first, so that IsFinite of an infinity is true and
/// IsInf is false. Here f64 is answered in f64; no value between the largest f32 and infinity is
/// infinite, either.
#[test]
fn f64_is_answered_in_f64() {
    let x = elements(Format::F64, "inf -inf nan 1e300 -1e300 3.5e38 max 1e-310");
    check("IsFinite f64", &IsFinite, ElementType::F64, &[8], &x, "F F F T T T T T");
    check("IsInf f64", &IsInf::default(), ElementType::F64, &[8], &x, "T T F F F F F F");
    check("IsNaN f64", &IsNan, ElementType::F64, &[8], &x, "F F T F F F F F");
}

/// OpenVINO builds graphs of these types, but does not evaluate or compile them.
#[test]
fn small_floats() {
    let op = IsInf::default();
    let x = codes("00 7E 7F 78 FF 80");
    check("f8e4m3", &IsFinite, ElementType::F8E4M3, &[2, 3], &x, "T T F T F T");
    check("f8e4m3", &op, ElementType::F8E4M3, &[2, 3], &x, "F F F F F F");
    check("f8e4m3", &IsNan, ElementType::F8E4M3, &[2, 3], &x, "F F T F T F");
    let x = codes("7B 7C 7D FC FF 80");
    check("f8e5m2", &IsFinite, ElementType::F8E5M2, &[6], &x, "T F F F F T");
    check("f8e5m2", &op, ElementType::F8E5M2, &[6], &x, "F T F T F F");
    check("f8e5m2", &IsNan, ElementType::F8E5M2, &[6], &x, "F F T F T F");
    let x = codes("00 7F FE FF");
    check("f8e8m0", &IsFinite, ElementType::F8E8M0, &[4], &x, "T T T F");
    check("f8e8m0", &IsNan, ElementType::F8E8M0, &[4], &x, "F F F T");
}

/// Two elements of f4e2m1 share a byte, so five of them take three.
#[test]
fn fp4_is_packed() {
    fn run(op: &dyn Operator, bytes: &[u8]) -> Result<[u8; 5], AnyError> {
        let mut out = [7; 5];
        let x = Dense::from_bytes(ElementType::F4E2M1, &[5], bytes);
        op.run(x, (&mut out[..]).into()).map(|()| out)
    }
    assert_eq!(run(&IsFinite, &[0xFF; 3]), Ok([1; 5]));
    assert_eq!(run(&IsNan, &[0xFF; 3]), Ok([0; 5]));
    assert_eq!(run(&IsInf::default(), &[0xFF; 3]), Ok([0; 5]));
    let error = DenseError::InputBytes { needed: 3, found: 5 };
    let element_type = ElementType::F4E2M1.into();
    let expected = AnyError::Memory { op: "IsFinite", version: Some(10), element_type, error };
    assert_eq!(run(&IsFinite, &[0; 5]), Err(expected));
}

/// Every type that is not a floating-point one is refused with the texts that users of OpenVINO
/// know; NF4 as well, which OpenVINO does not call real.
#[test]
fn types() {
    let real = ["dynamic", "bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2", "f4e2m1", "f8e8m0"];
    let number = "The element type of the input tensor must be a floating point number.";
    for &element_type in ElementType::ALL {
        let inferred = [
            IsFinite.infer(element_type.into()),
            IsInf::default().infer(element_type.into()),
            IsNan.infer(element_type.into()),
        ];
        if real.contains(&element_type.name()) {
            assert_eq!(inferred, [Ok(ElementType::Boolean.into()); 3], "{element_type}");
            continue;
        }
        let [finite, inf, nan] = inferred.map(|inferred| inferred.unwrap_err());
        assert_eq!(finite, Error::ElementType { op: "IsFinite", element_type }.into());
        let or_dynamic = format!(
            "The element type of the input tensor must be a floating point number or dynamic \
             (got {element_type})."
        );
        assert!(finite.to_string().contains(&or_dynamic), "{finite}");
        assert!(
            inf.to_string().contains(number) && inf.to_string().starts_with("IsInf-10"),
            "{inf}"
        );
        assert!(
            nan.to_string().contains(number) && nan.to_string().starts_with("IsNaN-10"),
            "{nan}"
        );
        let mut out = [7; 1];
        let x = Dense::from_bytes(element_type, &[], &[0; 8]);
        assert_eq!((IsFinite.run(x, (&mut out[..]).into()), out), (Err(finite), [7]));
    }
}

#[test]
fn a_dynamic_type_cannot_run() {
    let mut out = [7; 1];
    let x = Dense::from_bytes(ElementType::Dynamic, &[], &[0; 4]);
    let refused = Error::Dynamic { op: "IsNaN" }.into();
    assert_eq!((IsNan.run(x, (&mut out[..]).into()), out), (Err(refused), [7]));
}

/// The booleans of IR files as OpenVINO 2026.4.1 reads them, seen there; what it passes over in
/// silence is refused.
#[test]
fn attributes() {
    let parse = |attributes: &[(&'static str, &'static str)]| {
        IsInf::default().with_attributes(attributes.iter().copied())
    };
    let is_inf = |negative, positive| Ok(is_inf(negative, positive));
    assert_eq!(parse(&[]), is_inf(true, true));
    for (no, yes) in [("false", "true"), ("0", "1"), ("FALSE", "True")] {
        assert_eq!(parse(&[("detect_negative", no)]), is_inf(false, true));
        assert_eq!(parse(&[("detect_positive", no)]), is_inf(true, false));
        assert_eq!(
            parse(&[("detect_positive", no), ("detect_negative", no)]),
            is_inf(false, false)
        );
        assert_eq!(
            parse(&[("detect_positive", yes), ("detect_negative", no)]),
            is_inf(false, true)
        );
    }
    for value in ["", "yes", " true", "true ", "2", "-1", "t"] {
        let error = parse(&[("detect_negative", value)]).unwrap_err();
        assert_eq!((error.name, error.value), ("detect_negative", value));
        assert_eq!(error.rule, AttributeRule::NotBoolean);
    }
    let error = parse(&[("detect_nothing", "true")]).unwrap_err();
    assert_eq!((error.name, error.rule), ("detect_nothing", AttributeRule::Unknown));
    assert_eq!(error.to_string(), "IsInf-10 has no attribute detect_nothing");
}

#[test]
fn names_of_types() {
    for &element_type in ElementType::ALL {
        assert_eq!(element_type.name().parse(), Ok(element_type));
        if let Some(format) = element_type.format() {
            assert_eq!(ElementType::from_format(format), Some(element_type));
        }
    }
    // Precisions of ports in IR files.
    for (name, element_type) in
        [("FP32", ElementType::F32), ("FP16", ElementType::F16), ("BOOL", ElementType::Boolean)]
    {
        assert_eq!(name.parse(), Ok(element_type));
    }
    assert_eq!("BF16".parse(), Ok(ElementType::Bf16));
    assert!("float".parse::<ElementType>().is_err());
}
