//! Prints the types, versions and attributes of the operators, one fact on each line, with tabs
//! between the fields. `engines/ops/standards/run` compares them with the packages of the
//! standards.

use nonfinite::Format;
use nonfinite_ops::Operator;
use nonfinite_ops::onnx::{DataType, IsInf, IsNan, Version};
use nonfinite_ops::openvino::{self, ElementType, IsFinite};

/// Newer than any existing opset.
const OPSETS: u32 = 64;

fn main() {
    for &data_type in DataType::ALL {
        let format = data_type.format().map_or("-", Format::name);
        println!("onnx\ttype\t{}\t{}\t{data_type}\t{format}", data_type.code(), data_type.name());
    }
    for opset in 1..OPSETS {
        version("IsNaN", opset, IsNan::for_opset(opset).map(|op| op.version()).ok());
        version("IsInf", opset, IsInf::for_opset(opset).map(|op| op.version()).ok());
    }
    let op = IsInf::for_opset(OPSETS).expect("an opset that has IsInf");
    println!("onnx\tattribute\tIsInf\tdetect_negative\t{}", op.detect_negative);
    println!("onnx\tattribute\tIsInf\tdetect_positive\t{}", op.detect_positive);

    for &element_type in ElementType::ALL {
        let format = element_type.format().map_or("-", Format::name);
        let (code, bits) = (element_type.code(), element_type.bits());
        println!("openvino\ttype\t{code}\t{element_type}\t{bits}\t{format}");
        taken(&IsFinite, element_type);
        taken(&openvino::IsInf::default(), element_type);
        taken(&openvino::IsNan, element_type);
    }
    for value in ["true", "false", "1", "0", "TRUE", "False", "", "yes", " true", "2"] {
        let op = openvino::IsInf::default().with_attributes([("detect_negative", value)]);
        let read = op.map_or("refused", |op| if op.detect_negative { "true" } else { "false" });
        println!("openvino\tboolean\t{value}\t{read}");
    }
}

/// The version for an opset, and its type list.
fn version(op: &str, opset: u32, version: Option<Version>) {
    let Some(version) = version else { return println!("onnx\topset\t{op}\t{opset}\t-\t-") };
    let mut types: Vec<_> =
        version.types().iter().map(|data_type| data_type.type_string()).collect();
    types.sort_unstable();
    let since = version.since_version();
    println!("onnx\topset\t{op}\t{opset}\t{since}\t{}", types.join(","));
}

/// Whether a graph with this type is built, and if not, why.
fn taken(op: &dyn Operator, element_type: ElementType) {
    let answer = match op.infer(element_type.into()) {
        Ok(_) => "taken".to_string(),
        Err(error) => error.to_string(),
    };
    println!("openvino\top\t{}\t{element_type}\t{answer}", op.name());
}
