//! OpenVINO: the sentences of its documents, its reference tests (VECTORS, section 3), and refusals
//! (CONTRACTS, section 2).

use nonfinite::Format;
use nonfinite_ops::openvino::{AttributeRule, ElementType, Error, IsFinite, IsInf, IsNan};
use nonfinite_ops::{Dense, DenseError, Error as AnyError, Operator};

use crate::openvino_shapes::type_prop;
use crate::{Sentences, check, codes, elements, hold};

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

#[test]
fn sentences() {
    hold("IsFinite-10", IS_FINITE_10);
    hold("IsInf-10", IS_INF_10);
}

const IS_FINITE_10: Sentences = &[
    ("Versioned name: IsFinite-10", names),
    ("maps NaN and Infinity to False and all other values to True", op_reference),
    ("IsFinite operation has no attributes.", no_attributes),
    ("The output tensor has the same shape as the input tensor.", type_prop),
    ("The i'th element is False if i'th element of the input is NaN or Inf.", op_reference),
    ("for a given [NaN, 2.1, 3.7, Inf] the output tensor is [False, True, True, False]", example),
    ("A tensor of type T and arbitrary shape. Required.", arbitrary_shape),
    ("A tensor of type boolean and the same shape as input tensor.", types),
    ("T: any supported floating-point type.", types),
    ("FP32 <dim>256</dim> <dim>56</dim> -> BOOL <dim>256</dim> <dim>56</dim>", || {
        layer(&[256, 56])
    }),
    ("FP32 <dim>4</dim> -> BOOL <dim>4</dim>", || layer(&[4])),
];

const IS_INF_10: Sentences = &[
    ("Versioned name: IsInf-10", names),
    ("element-wise mapping of infinite values to true and other values to false", op_reference),
    ("Setting both to false will map all values to false.", || signs("n=false p=false", "F F F F")),
    ("detect_negative: false - map negative infinity to false", || signs("n=false", "T F F F")),
    ("true - map negative infinity to true", || signs("p=false n=true", "F T F F")),
    ("detect_positive: false - map positive infinity to false", || signs("p=false", "F T F F")),
    ("true - map positive infinity to true", || signs("n=false p=true", "T F F F")),
    ("Type: boolean", attributes),
    ("Default value: true. Required: no", || signs("", "T T F F")),
    ("data - Input tensor of type T_IN with data and arbitrary shape. Required.", arbitrary_shape),
    ("A tensor of the boolean type and shape equal to the input tensor.", type_prop),
    ("T_IN: any supported floating-point type.", types),
    ("FP32 <dim>256</dim> <dim>128</dim> -> BOOL ..", || layer(&[256, 128])),
    ("detect_negative=\"true\" detect_positive=\"true\"", || signs("n=true p=true", "T T F F")),
];

/// The operators, and the answers for `nan 2.1 inf 3.7 -inf`.
fn operators() -> [(Box<dyn Operator>, &'static str); 3] {
    [
        (Box::new(IsFinite), "F T F T F "),
        (Box::new(IsInf::default()), "F F T F T "),
        (Box::new(IsNan), "T F F F F "),
    ]
}

fn names() {
    for ((op, _), name) in operators().iter().zip(["IsFinite", "IsInf", "IsNaN"]) {
        assert_eq!((op.name(), op.signature().version()), (name, Some(10)));
    }
}

/// A layer with ports of this shape: the output has it too, and each element its answer.
fn layer(shape: &[usize]) {
    let (input, output): (ElementType, ElementType) =
        ("FP32".parse().unwrap(), "BOOL".parse().unwrap());
    let n = shape.iter().product::<usize>();
    let x = elements(Format::F32, "nan 2.1 inf 3.7 -inf");
    let x: Vec<u8> = x.into_iter().cycle().take(4 * n).collect();
    for (op, answers) in operators() {
        assert_eq!(op.infer(input.into()), Ok(output.into()));
        assert_eq!(op.infer_shape(shape), Ok(shape));
        check(op.name(), &*op, input, shape, &x, &answers.repeat(n / 5 + 1)[..2 * n]);
    }
}

fn arbitrary_shape() {
    for shape in [&[][..], &[1], &[0], &[2, 3], &[5, 0, 3], &[2, 3, 4], &[1, 2, 1, 3], &[2; 9]] {
        layer(shape);
    }
}

/// IsInf of `inf -inf nan 1`, with attributes `detect_negative` (n) and `detect_positive` (p).
fn signs(attributes: &str, expected: &str) {
    let attributes = attributes.split_whitespace().map(|attribute| match attribute.split_at(2) {
        ("n=", value) => ("detect_negative", value),
        (_, value) => ("detect_positive", value),
    });
    let op = IsInf::default().with_attributes(attributes).unwrap();
    let x = elements(Format::F32, "inf -inf nan 1");
    check("IsInf", &op, ElementType::F32, &[4], &x, expected);
}

fn no_attributes() {
    for given in [("detect_negative", "true"), ("detect_positive", "false"), ("", "")] {
        let (finite, nan) = (IsFinite.with_attributes([given]), IsNan.with_attributes([given]));
        for (op, error) in [("IsFinite", finite.err()), ("IsNaN", nan.err())] {
            let error = error.unwrap();
            assert_eq!((error.op, error.name, error.rule), (op, given.0, AttributeRule::Unknown));
            assert_eq!(error.to_string(), format!("{op}-10 has no attribute {}", given.0));
        }
    }
    assert_eq!(
        (IsFinite.with_attributes([]), IsNan.with_attributes([])),
        (Ok(IsFinite), Ok(IsNan))
    );
}

/// src/plugins/template/tests/functional/op_reference/is_finite.cpp, is_inf.cpp and is_nan.cpp.
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

fn example() {
    for (element_type, format) in FLOATS {
        let x = elements(format, "nan 2.1 3.7 inf");
        check("IsFinite-10", &IsFinite, element_type, &[4], &x, "F T T F");
    }
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

/// The booleans of IR files as OpenVINO 2026.4.1 reads them, seen there. What it passes over in
/// silence is refused.
fn attributes() {
    for (no, yes) in [("false", "true"), ("0", "1"), ("FALSE", "True")] {
        signs(&format!("n={no}"), "T F F F");
        signs(&format!("p={no} n={no}"), "F F F F");
        signs(&format!("p={yes} n={no}"), "T F F F");
    }
    let rows = ["", "yes", " true", "true ", "2", "-1", "t"].map(|value| {
        let text =
            format!("attribute detect_negative is {value:?}, neither \"true\" nor \"false\"");
        ("detect_negative", value, AttributeRule::NotBoolean, format!("IsInf-10: {text}"))
    });
    let unknown = "IsInf-10 has no attribute detect_nothing".to_string();
    let unknown = ("detect_nothing", "true", AttributeRule::Unknown, unknown);
    for (name, value, rule, text) in rows.into_iter().chain([unknown]) {
        let error = IsInf::default().with_attributes([(name, value)]).unwrap_err();
        assert_eq!((error.op, error.name, error.value, error.rule), ("IsInf", name, value, rule));
        assert_eq!(error.to_string(), text);
    }
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
