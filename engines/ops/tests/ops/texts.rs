//! What refusals of operators say.

use std::error::Error as Any;

use nonfinite_ops::directml::TensorDataType;
use nonfinite_ops::{
    DenseError, Dimension, Error, ShapeError, StandardType, onnx, openvino, stablehlo, webnn,
};

fn says(error: &dyn Any, text: &str) {
    assert_eq!(error.to_string(), text);
}

#[test]
fn of_memory() {
    let overflow = DenseError::Overflow { dimension: 2 };
    says(&overflow, "with dimension 2 the shape is larger than the address space");
    let input = DenseError::InputBytes { needed: 8, found: 7 };
    says(&input, "the shape needs 8 bytes of input, not 7");
    let error = DenseError::OutputLength { elements: 2, output: 3 };
    let memory = "the shape has 2 elements, but the output is for 3";
    says(&error, memory);
    let rows: [(_, _, StandardType, _); 4] = [
        ("IsNaN", Some(20), onnx::DataType::Float.into(), "IsNaN-20 of tensor(float)"),
        ("IsNaN", Some(10), openvino::ElementType::F32.into(), "IsNaN-10 of f32"),
        (
            "stablehlo.is_finite",
            None,
            stablehlo::ElementType::F32.into(),
            "stablehlo.is_finite of f32",
        ),
        ("isNaN", None, webnn::DataType::Float32.into(), "TypeError: isNaN of float32"),
    ];
    for (op, version, element_type, text) in rows {
        let error = Error::Memory { op, version, element_type, error };
        says(&error, &format!("{text}: {memory}"));
    }
}

#[test]
fn of_names() {
    says(&"f7".parse::<onnx::DataType>().unwrap_err(), "ONNX has no data type \"f7\"");
    says(&onnx::DataType::try_from(29).unwrap_err(), "ONNX has no data type 0x1d");
    says(&onnx::DataType::try_from(-1).unwrap_err(), "ONNX has no data type -1");
    let unknown = "f7".parse::<openvino::ElementType>().unwrap_err();
    says(&unknown, "OpenVINO has no element type \"f7\"");
    let unknown = "f7".parse::<stablehlo::ElementType>().unwrap_err();
    says(&unknown, "StableHLO has no element type \"f7\"");
    says(&"f7".parse::<webnn::DataType>().unwrap_err(), "WebNN has no data type \"f7\"");
    // Cut between characters, behind 47 bytes at most.
    let long = "x".repeat(46) + "é";
    let text = format!("WebNN has no data type \"{}\"...", &long[..46]);
    says(&long.parse::<webnn::DataType>().unwrap_err(), &text);
    let whole = "x".repeat(47);
    let text = format!("WebNN has no data type \"{whole}\"");
    says(&whole.parse::<webnn::DataType>().unwrap_err(), &text);
}

/// The first number in a name of a type.
fn number(name: &str) -> u32 {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap()
}

/// Element types say themselves how many bits they have.
#[test]
fn of_types() {
    for (code, element_type) in openvino::ElementType::ALL.iter().enumerate() {
        let bits = match element_type.name() {
            "dynamic" => 0,
            "boolean" => 8,
            // std::string.
            "string" => 256,
            name => number(name),
        };
        assert_eq!(
            (element_type.code() as usize, element_type.bits()),
            (code, bits),
            "{element_type}"
        );
    }
    for &data_type in TensorDataType::ALL {
        let bytes = data_type.name().strip_prefix("FLOAT").map(|bits| number(bits) as usize / 8);
        assert_eq!(data_type.format().map(|format| format.size_in_bytes()), bytes, "{data_type}");
    }
}

#[test]
fn of_attributes() {
    use onnx::Attribute;
    let on = Attribute::int("detect_positive", 1);
    let rules: [(&[Attribute<'_>], _); 3] = [
        (&[Attribute::int("a", 0)], "Unrecognized attribute: a for operator IsInf"),
        (
            &[Attribute::new("detect_positive", 1, 0)],
            "attribute detect_positive must be of type INT, not of attribute type 1",
        ),
        (&[on, on], "attribute detect_positive is there more than once"),
    ];
    for (attributes, text) in rules {
        let op = onnx::IsInf::for_opset(20).unwrap();
        let error = op.with_attributes(attributes.iter().copied()).unwrap_err();
        assert_eq!(error.to_string(), format!("IsInf-20: {text}"));
    }
}

#[test]
fn of_openvino() {
    let dynamic = openvino::Error::Dynamic { op: "IsInf" };
    says(&dynamic, "IsInf-10: the element type is dynamic, so the bytes have no meaning");
    says(
        &"x".parse::<Dimension>().unwrap_err(),
        "\"x\" is no dimension: neither a size such as 37, nor ? for a dynamic one, \
         nor an interval such as 2..4, 2.. or ..4",
    );
    says(&"4..2".parse::<Dimension>().unwrap_err(), "no size is in the interval 4..2");
    says(&ShapeError::Rank { expected: 2, found: 3 }, "rank 3 where the model has rank 2");
}
