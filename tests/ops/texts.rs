//! What refusals of operators say.

use std::error::Error as Any;

use nonfinite::ops::directml::{Error, FeatureLevel, Property, Rule, Tensor, TensorDataType};
use nonfinite::ops::openvino::{Dimension, ShapeError};
use nonfinite::ops::{DenseError, Operator, onnx, openvino, stablehlo, webnn};

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
    let element_type = "f32".parse().unwrap();
    says(
        &openvino::Error::Memory { op: "IsNaN", element_type, error },
        &format!("IsNaN-10 of f32: {memory}"),
    );
    let element_type = "f32".parse().unwrap();
    says(
        &stablehlo::Error::Memory { element_type, error },
        &format!("stablehlo.is_finite of f32: {memory}"),
    );
    let data_type = "float32".parse().unwrap();
    let error = webnn::Error::Memory { op: "isNaN", data_type, error };
    says(&error, &format!("TypeError: isNaN of float32: {memory}"));
}

#[test]
fn of_names() {
    let unknown = "f7".parse::<onnx::DataType>().unwrap_err();
    says(&unknown, "ONNX has no data type of this code or name");
    let unknown = "f7".parse::<openvino::ElementType>().unwrap_err();
    says(&unknown, "OpenVINO has no element type of this name");
    let unknown = "f7".parse::<stablehlo::ElementType>().unwrap_err();
    says(&unknown, "StableHLO has no element type of this spelling");
    says(&"f7".parse::<webnn::DataType>().unwrap_err(), "WebNN has no data type of this name");
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
    for (code, element_type) in openvino::ElementType::ALL.into_iter().enumerate() {
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
    for data_type in TensorDataType::ALL {
        let bits = if data_type == TensorDataType::Unknown { 0 } else { number(data_type.name()) };
        assert_eq!(data_type.bits(), bits, "{data_type}");
        let format = data_type.name().strip_prefix("FLOAT").map(|_| bits as usize / 8);
        assert_eq!(data_type.format().map(|format| format.size_in_bytes()), format, "{data_type}");
    }
}

#[test]
fn of_operators() {
    let (is_nan, is_inf) =
        (onnx::IsNan::for_opset(20).unwrap(), onnx::IsInf::for_opset(20).unwrap());
    let names = [
        (is_nan.name(), "IsNaN"),
        (is_inf.name(), "IsInf"),
        (onnx::IsFinite::fuse(is_nan, is_inf).unwrap().name(), "Not(Or(IsNaN, IsInf))"),
        (openvino::IsFinite.name(), "IsFinite"),
        (openvino::IsNan.name(), "IsNaN"),
        (stablehlo::IsFinite.name(), "stablehlo.is_finite"),
        (webnn::IsNan.name(), "isNaN"),
        (webnn::IsInfinite.name(), "isInfinite"),
    ];
    for (name, want) in names {
        assert_eq!(name, want);
    }
}

#[test]
fn of_feature_levels() {
    let names = "1_0 2_0 2_1 3_0 3_1 4_0 4_1 5_0 5_1 5_2 6_0 6_1 6_2 6_3 6_4";
    let levels = FeatureLevel::ALL.map(|level| level.to_string());
    assert_eq!(levels.join(" ").replace("DML_FEATURE_LEVEL_", ""), names);
}

#[test]
fn of_attributes() {
    use onnx::{AttributeError, AttributeRule::*};
    let rules = [
        (Unknown, "Unrecognized attribute: a for operator IsInf"),
        (NotInt { found: 1 }, "attribute a must be of type INT, not of attribute type 1"),
        (Repeated, "attribute a is there more than once"),
    ];
    for (rule, text) in rules {
        let error = AttributeError { op: "IsInf", since_version: 20, name: "a", rule };
        says(&error, &format!("IsInf-20: {text}"));
    }
    let rules = [
        (openvino::AttributeRule::Unknown, "IsInf-10 has no attribute a"),
        (
            openvino::AttributeRule::NotBoolean,
            "IsInf-10: attribute a is \"2\", neither \"true\" nor \"false\"",
        ),
    ];
    for (rule, text) in rules {
        says(&openvino::AttributeError { op: "IsInf", name: "a", value: "2", rule }, text);
    }
}

#[test]
fn of_openvino() {
    let dynamic = openvino::Error::Dynamic { op: "IsInf" };
    says(&dynamic, "IsInf-10: the element type is dynamic, so the bytes have no meaning");
    says(
        &"x".parse::<Dimension>().unwrap_err(),
        "a dimension is a size such as 37, ? if it is dynamic, or an interval such as 2..4, 2.. or ..4",
    );
    for (text, min, max) in
        [("37", 37, Some(37)), ("?", 0, None), ("2..4", 2, Some(4)), ("2..", 2, None)]
    {
        let dimension: Dimension = text.parse().unwrap();
        assert_eq!((dimension.min(), dimension.max()), (min, max), "{text}");
    }
    says(&"4..2".parse::<Dimension>().unwrap_err(), "no size is in the interval 4..2");
    says(&ShapeError::Rank { expected: 2, found: 3 }, "rank 3 where the model has rank 2");
    let expected = "2..4".parse().unwrap();
    let dimension = ShapeError::Dimension { index: 1, expected, found: 5 };
    says(&dimension, "dimension 1 is 5 where the model has 2..4");
}

#[test]
fn of_webnn() {
    let data_type = "int8".parse().unwrap();
    let refused = webnn::Error::DataType { op: "isNaN", data_type };
    says(&refused, "TypeError: isNaN: the input is int8, not float32 or float16");
    let refused = webnn::Error::Dimension { op: "isInfinite", index: 1, size: 0 };
    says(
        &refused,
        "TypeError: isInfinite: dimension 1 is 0, no valid dimension: not in 1..=2147483647",
    );
}

/// Each rule of DirectML, in the sentence of an error.
#[test]
fn of_directml() {
    use Rule::*;
    const TYPES: &[TensorDataType] = &[TensorDataType::Float32, TensorDataType::Float16];
    let rules = [
        (Flags, "only the flag OWNED_BY_DML (1) is known"),
        (DataTypes(TYPES), "must be FLOAT32 or FLOAT16"),
        (DimensionCounts(4, 4), "must be 4"),
        (DimensionCounts(1, 8), "must be from 1 to 8"),
        (StrideCount(3), "the number of strides must be that of sizes, 3"),
        (ZeroSize, "no size may be zero"),
        (AsInput(5), "must be that of InputTensor, 5"),
        (TooManyElements, "no tensor may have more than 4294967295 elements"),
        (Overlap { needed: 6 }, "results would overlap: this stride must be at least 6"),
        (ImpliedSize(12), "must be at least what sizes and strides imply, 12"),
        (WholeDwords, "must be a multiple of 4"),
        (
            Alignment { element: 2 },
            "must be 0 or a power of two, at least the 2 bytes of an element",
        ),
        (OffsetAlignment(16), "must be a multiple of 16"),
        (WithinBuffer(64), "the range must lie within the buffer of 64 bytes"),
        (RangeSize(32), "must be at least TotalTensorSizeInBytes, 32"),
    ];
    let error = Error {
        operator: "ELEMENT_WISE_IS_NAN",
        tensor: Some(Tensor::Output),
        property: Property::Strides,
        index: Some(1),
        value: 3,
        rule: Flags,
    };
    for (rule, text) in rules {
        let text =
            format!("DML_OPERATOR_ELEMENT_WISE_IS_NAN: OutputTensor.Strides[1] is 3: {text}");
        says(&Error { rule, ..error }, &text);
    }
    let input = Error {
        tensor: Some(Tensor::Input),
        property: Property::DataType,
        index: None,
        value: 1,
        rule: Flags,
        ..error
    };
    assert!(
        input
            .to_string()
            .starts_with("DML_OPERATOR_ELEMENT_WISE_IS_NAN: InputTensor.DataType is FLOAT32: ")
    );
    let unknown = Error { value: 1 << 40, ..input }.to_string();
    assert!(unknown.contains("DataType is UNKNOWN"), "{unknown}");
    let level = Error { tensor: None, property: Property::FeatureLevel, value: 0x2000, ..input };
    let level = Error { rule: Introduced(FeatureLevel::ALL[0]), ..level }.to_string();
    assert!(level.contains(": FeatureLevel is 0x2000: the operator came with "), "{level}");
}
