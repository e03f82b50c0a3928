//! ONNX: its node tests, versions, types, attributes, shapes and refusals (CONTRACTS, section 1;
//! VECTORS, section 1).

use nonfinite::{Format, Predicate};
use nonfinite_ops::onnx::{Attribute, AttributeRule, DataType, Error, IsFinite, IsInf, IsNan};
use nonfinite_ops::{Dense, Error as AnyError, Operator};

use crate::openvino_shapes::same_shape;
use crate::{Sentences, check, codes, elements, hold, memory};

fn is_nan(opset: u32) -> IsNan {
    IsNan::for_opset(opset).unwrap()
}

fn both_signs(opset: u32) -> IsInf {
    is_inf(opset, 1, 1)
}

fn is_inf(opset: u32, detect_positive: i64, detect_negative: i64) -> IsInf {
    let op = IsInf::for_opset(opset).unwrap();
    op.with_detect_negative(detect_negative).with_detect_positive(detect_positive)
}

#[test]
fn sentences() {
    hold("ONNX IsNaN", IS_NAN);
    hold("ONNX IsInf", IS_INF);
}

const IS_NAN: Sentences = &[
    ("since_version: 9, 13, 20", versions),
    ("shape inference: True", || (9..21).for_each(|opset| same_shape(&is_nan(opset)))),
    ("Returns which elements of the input are NaN.", node_tests_of_is_nan),
    ("no attributes", no_attributes),
    ("IsNaN-9: T1 in (tensor(double), ..)", || takes([9, 12].map(is_nan), "double float float16")),
    ("IsNaN-13: T1 in (tensor(bfloat16), ..)", || takes([13, 19].map(is_nan), THIRTEEN)),
    ("IsNaN-20: T1 in (.., tensor(float8e5m2fnuz))", || takes([20, 28].map(is_nan), TWENTY)),
    ("T2 in (tensor(bool))", version_converter_tests),
    ("x = np.array([3.0, np.nan, 4.0, np.nan], dtype=np.float32)", node_tests_of_is_nan),
];

const IS_INF: Sentences = &[
    ("since_version: 10, 20", versions),
    ("shape inference: True", || (10..21).for_each(|opset| same_shape(&both_signs(opset)))),
    ("Map infinity to true and other values to false.", node_tests_of_is_inf),
    ("detect_negative - INT, detect_positive - INT", attributes_by_name),
    ("Default to 1 so that negative infinity induces true.", || signs(&[], "T T F F")),
    ("Set to 0 if negative infinity should be mapped to false.", || {
        signs(&[("detect_negative", 0)], "T F F F")
    }),
    ("Default to 1 so that positive infinity induces true.", || signs(&[], "T T F F")),
    ("Set to 0 if positive infinity should be mapped to false.", || {
        signs(&[("detect_positive", 0)], "F T F F")
    }),
    ("IsInf-10: T1 in (tensor(double), ..)", || takes([10, 19].map(both_signs), "double float")),
    ("IsInf-20: T1 in (.., tensor(float8e5m2fnuz))", || takes([20, 28].map(both_signs), TWENTY)),
    ("T2 in (tensor(bool))", version_converter_tests),
];

const THIRTEEN: &str = "bfloat16 double float float16";
const TWENTY: &str = "bfloat16 double float float16 float8e4m3fn float8e4m3fnuz float8e5m2 \
                      float8e5m2fnuz";

/// IsInf with these attributes, of `inf -inf nan 1`.
fn signs(attributes: &[(&'static str, i64)], expected: &str) {
    let attributes = attributes.iter().map(|&(name, i)| Attribute::int(name, i));
    for op in [10, 20].map(|opset| IsInf::for_opset(opset).unwrap()) {
        let op = op.with_attributes(attributes.clone()).unwrap();
        let x = elements(Format::F32, "inf -inf nan 1");
        check("IsInf", &op, DataType::Float, &[4], &x, expected);
    }
}

/// Takes the types of the list, and refuses all others with an error that says all.
fn takes<T: Operator, const N: usize>(operators: [T; N], list: &str) {
    for (op, &data_type) in
        operators.iter().flat_map(|op| DataType::ALL.iter().map(move |x| (op, x)))
    {
        let mut out = [7; 1];
        let bytes = vec![0; data_type.format().map_or(1, Format::size_in_bytes)];
        let x = Dense::from_bytes(data_type, &[], &bytes);
        let (infer, run) = (op.infer(data_type.into()), op.run(x, (&mut out[..]).into()));
        if list.split(' ').any(|name| data_type.type_string() == format!("tensor({name})")) {
            assert_eq!((infer, run, out), (Ok(DataType::Bool.into()), Ok(()), [0]), "{data_type}");
            continue;
        }
        assert_eq!((infer.err(), out), (run.err(), [7]), "{data_type}");
        let Err(AnyError::Onnx(Error::Type { op: name, since_version, data_type: x, .. })) = run
        else {
            panic!("{data_type}: {run:?}")
        };
        assert_eq!((name, Some(since_version)), (op.name(), op.signature().version()));
        assert_eq!(x, data_type);
    }
}

fn no_attributes() {
    assert_eq!(is_nan(20).with_attributes([]), Ok(is_nan(20)));
    for (opset, name) in [(9, "detect_negative"), (13, "detect_positive"), (20, "axis")] {
        let error = is_nan(opset).with_attributes([Attribute::int(name, 1)]).unwrap_err();
        assert_eq!((error.name, error.rule), (name, AttributeRule::Unknown));
        let text = format!("IsNaN-{opset}: Unrecognized attribute: {name} for operator IsNaN");
        assert_eq!(error.to_string(), text);
    }
}

/// onnx/backend/test/case/node/isinf.py.
fn node_tests_of_is_inf() {
    let (x, f32, f16) = ("-1.2 nan inf 2.8 -inf inf", DataType::Float, DataType::Float16);
    let rows = [
        ("test_isinf", (1, 1), f32, x, "F F T F T T"),
        ("test_isinf_positive", (1, 0), f32, "-1.7 nan inf 3.6 -inf inf", "F F T F F T"),
        ("test_isinf_negative", (0, 1), f32, "-1.7 nan inf -3.6 -inf inf", "F F F F T F"),
        ("test_isinf_float16", (1, 1), f16, x, "F F T F T T"),
    ];
    for (name, (positive, negative), data_type, x, expected) in rows {
        let x = elements(data_type.format().unwrap(), x);
        check(name, &is_inf(20, positive, negative), data_type, &[6], &x, expected);
    }
}

/// onnx/backend/test/case/node/isnan.py, and the example in the documents.
fn node_tests_of_is_nan() {
    for data_type in [DataType::Float, DataType::Float16] {
        let x = elements(data_type.format().unwrap(), "-1.2 nan inf 2.8 -inf inf");
        check("test_isnan", &is_nan(20), data_type, &[6], &x, "F T F F F F");
    }
    for op in [9, 13, 20].map(is_nan) {
        let x = elements(Format::F32, "3.0 nan 4.0 nan");
        check("np.isnan", &op, DataType::Float, &[4], &x, "F T F T");
    }
}

/// tests/python/version_converter/automatic_upgrade_test.py: IsInf from opset 10 and IsNaN from 9
/// give BOOL.
fn version_converter_tests() {
    let is_inf = IsInf::for_opset(10).unwrap();
    assert_eq!(is_inf.infer(DataType::Float.into()), Ok(DataType::Bool.into()));
    let is_nan = IsNan::for_opset(9).unwrap();
    assert_eq!(is_nan.infer(DataType::Float.into()), Ok(DataType::Bool.into()));
}

/// What the node tests leave out: both attributes off, other values than 0 and 1, bf16, f64, fp8,
/// signalling NaN.
#[test]
fn attributes() {
    let x = "-1.2 nan inf 2.8 -inf inf 0 -0 max -max min";
    let rows = [
        (1, 1, "F F T F T T F F F F F"),
        (1, 0, "F F T F F T F F F F F"),
        (0, 1, "F F F F T F F F F F F"),
        (0, 0, "F F F F F F F F F F F"),
        (5, -3, "F F T F T T F F F F F"),
        (i64::MIN, 0, "F F T F F T F F F F F"),
        (0, i64::MAX, "F F F F T F F F F F F"),
    ];
    for data_type in [DataType::Float16, DataType::Bfloat16, DataType::Float, DataType::Double] {
        let format = data_type.format().unwrap();
        for (positive, negative, expected) in rows {
            let op = is_inf(20, positive, negative);
            check("IsInf-20", &op, data_type, &[11], &elements(format, x), expected);
            if matches!(data_type, DataType::Float | DataType::Double) {
                let op = is_inf(10, positive, negative);
                check("IsInf-10", &op, data_type, &[11], &elements(format, x), expected);
            }
        }
    }
    let off = is_inf(20, 0, 0);
    assert_eq!(off.predicate(), Predicate::Never);
    check("IsInf-20 off", &off, DataType::Float8E5M2, &[3], &codes("7C FC 7D"), "F F F");
}

#[test]
fn signalling_nans() {
    let rows = [
        (DataType::Float16, [0x7C01, 0xFD00, 0x7DFF]),
        (DataType::Bfloat16, [0x7F81, 0xFFA0, 0x7FBF]),
        (DataType::Float, [0x7F80_0001, 0xFFBF_E000, 0x7FBF_FFFF]),
        (DataType::Double, [0x7FF0_0000_0000_0001, 0xFFF4_0000_0000_0000, 0x7FF0_0000_FFFF_FFFF]),
    ];
    for (data_type, bits) in rows {
        let bytes = memory(data_type.format().unwrap(), bits);
        check("IsNaN-20", &is_nan(20), data_type, &[3], &bytes, "T T T");
        check("IsInf-20", &is_inf(20, 1, 1), data_type, &[3], &bytes, "F F F");
    }
}

fn attributes_by_name() {
    let parse = |attributes: &[Attribute<'static>]| {
        IsInf::for_opset(20).unwrap().with_attributes(attributes.iter().copied())
    };
    let (negative, positive) =
        (Attribute::int("detect_negative", 0), Attribute::int("detect_positive", 7));
    assert_eq!(parse(&[]), Ok(is_inf(20, 1, 1)));
    assert_eq!(parse(&[negative]), Ok(is_inf(20, 1, 0)));
    assert_eq!(parse(&[negative, positive]), Ok(is_inf(20, 7, 0)));
    assert_eq!(parse(&[positive, negative]), Ok(is_inf(20, 7, 0)));

    let error = parse(&[negative, Attribute::int("detect_both", 1)]).unwrap_err();
    assert_eq!((error.op, error.since_version, error.name), ("IsInf", 20, "detect_both"));
    assert_eq!(error.rule, AttributeRule::Unknown);

    // AttributeProto.AttributeType: FLOAT is 1, INT is 2.
    assert_eq!(positive.attribute_type, 2);
}

fn versions() {
    let is_nan = |opset| IsNan::for_opset(opset).map(|op| op.version().since_version());
    let is_inf = |opset| IsInf::for_opset(opset).map(|op| op.version().since_version());
    for (opset, version) in [(9, 9), (12, 9), (13, 13), (19, 13), (20, 20), (u32::MAX, 20)] {
        assert_eq!(is_nan(opset), Ok(version));
    }
    for (opset, version) in [(10, 10), (13, 10), (19, 10), (20, 20), (28, 20)] {
        assert_eq!(is_inf(opset), Ok(version));
    }
    assert_eq!(is_nan(8), Err(Error::Opset { op: "IsNaN", opset: 8, first: 9 }));
    assert_eq!(is_inf(9), Err(Error::Opset { op: "IsInf", opset: 9, first: 10 }));
    assert_eq!(
        is_inf(0).unwrap_err().to_string(),
        "opset 0 has no operator IsInf: it came with opset 10"
    );
}

#[test]
fn text_of_a_refused_type() {
    let error = is_nan(12).infer(DataType::Bfloat16.into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Type 'tensor(bfloat16)' of input parameter (X) of operator (IsNaN) is invalid: \
         IsNaN-9 takes tensor(float16), tensor(float), tensor(double)"
    );
}

#[test]
fn fused_is_finite() {
    let fuse = |opset| IsFinite::fuse(is_nan(opset), both_signs(opset));
    let op = fuse(20).unwrap();
    assert_eq!(op.name(), "Not(Or(IsNaN, IsInf))");
    for data_type in [DataType::Float16, DataType::Bfloat16, DataType::Float, DataType::Double] {
        let x =
            elements(data_type.format().unwrap(), "-1.2 nan inf 2.8 -inf inf 0 -0 max -max min");
        check("Not(Or(IsNaN, IsInf))", &op, data_type, &[11], &x, "T F F T F F T T T T T");
    }
    check("Not(Or(..))", &op, DataType::Float8E4M3Fn, &[5], &codes("7E 7F 78 FF 80"), "T F T F T");
    // At opset 13 IsNaN takes bf16 and IsInf does not, so the subgraph takes it not.
    let error = fuse(13).unwrap().infer(DataType::Bfloat16.into()).unwrap_err();
    assert!(matches!(error, AnyError::Onnx(Error::Type { op: "IsInf", since_version: 10, .. })));
    assert!(fuse(13).unwrap().infer(DataType::Double.into()).is_ok());
    // Not(Or(IsNaN, IsInf)) with a sign off is something else.
    let is_nan = is_nan(20);
    assert_eq!(IsFinite::fuse(is_nan, is_inf(20, 1, 0)), None);
    assert_eq!(IsFinite::fuse(is_nan, is_inf(20, 0, 0)), None);
    assert!(IsFinite::fuse(is_nan, is_inf(20, 2, -1)).is_some());
}

/// TensorProto.DataType in onnx.proto, whose codes begin with 0.
#[test]
fn data_types() {
    let names = "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE \
                 UINT32 UINT64 COMPLEX64 COMPLEX128 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ \
                 FLOAT8E5M2 FLOAT8E5M2FNUZ UINT4 INT4 FLOAT4E2M1 FLOAT8E8M0 UINT2 INT2 FLOAT6E2M3 \
                 FLOAT6E3M2";
    assert_eq!(
        DataType::ALL.iter().map(|data_type| data_type.name()).collect::<Vec<_>>().join(" "),
        names
    );
    for (code, &data_type) in (0..).zip(DataType::ALL) {
        assert_eq!(data_type.code(), code);
        assert_eq!(DataType::try_from(code), Ok(data_type));
        assert_eq!(data_type.name().parse(), Ok(data_type));
        assert_eq!(data_type.type_string().parse(), Ok(data_type));
        if let Some(format) = data_type.format() {
            assert_eq!(DataType::from_format(format), Some(data_type));
        }
    }
    assert!(DataType::try_from(-1).is_err() && DataType::try_from(29).is_err());
    assert!("float".parse::<DataType>().is_err());
    assert_eq!(DataType::from_format(Format::F8E3M4), None);
}
