//! Runs one node of an ONNX model on a tensor of bytes, like an interpreter of models: from the
//! fields of NodeProto and TensorProto and from the opset, without a type at compile time.
//!
//!     cargo run -p nonfinite-ops --example onnx_node

use std::error::Error;

use nonfinite_ops::onnx::{Attribute, AttributeError, DataType, IsInf, IsNan};
use nonfinite_ops::{Dense, Operator};

/// NodeProto, as far as these operators need it.
struct Node<'a> {
    op_type: &'a str,
    attributes: &'a [Attribute<'a>],
}

/// TensorProto with `raw_data`. Its elements are little-endian, so they can be used in place on
/// little-endian machines only.
struct Tensor<'a> {
    data_type: i32,
    dims: &'a [usize],
    raw_data: &'a [u8],
}

/// The operator of a node. An interpreter makes it when it loads a model.
fn load(node: &Node<'_>, opset: u32) -> Result<Box<dyn Operator>, Box<dyn Error>> {
    let attributes = node.attributes.iter().copied();
    // The error borrows the name of the attribute, so return its text, which can outlive the node.
    let text = |error: AttributeError<'_>| error.to_string();
    Ok(match node.op_type {
        "IsNaN" => Box::new(IsNan::for_opset(opset)?.with_attributes(attributes).map_err(text)?),
        "IsInf" => Box::new(IsInf::for_opset(opset)?.with_attributes(attributes).map_err(text)?),
        other => return Err(format!("no operator {other} here").into()),
    })
}

fn run(op: &dyn Operator, x: &Tensor<'_>) -> Result<Vec<bool>, Box<dyn Error>> {
    let element_type = DataType::try_from(x.data_type)?;
    let native = native_order(x.raw_data, element_type);
    let tensor = Dense::from_bytes(element_type, x.dims, &native);
    let mut y = vec![false; x.dims.iter().product()];
    op.run(tensor, (&mut y[..]).into())?;
    Ok(y)
}

/// The elements of `raw_data` in the byte order of the machine.
fn native_order(raw_data: &[u8], data_type: DataType) -> Vec<u8> {
    let mut bytes = raw_data.to_vec();
    if cfg!(target_endian = "big")
        && let Some(format) = data_type.format()
    {
        bytes.chunks_mut(format.size_in_bytes()).for_each(<[u8]>::reverse);
    }
    bytes
}

fn main() -> Result<(), Box<dyn Error>> {
    // bf16, data type 16: 1.0, a NaN, -Inf, +Inf.
    let raw_data = [0x80, 0x3F, 0xC1, 0x7F, 0x80, 0xFF, 0x80, 0x7F];
    let x = Tensor { data_type: 16, dims: &[2, 2], raw_data: &raw_data };

    let is_nan = Node { op_type: "IsNaN", attributes: &[] };
    let y = run(&*load(&is_nan, 13)?, &x)?;
    println!("IsNaN-13 of tensor(bfloat16) [2, 2]: {y:?}");
    assert_eq!(y, [false, true, false, false]);

    let attributes = [Attribute::int("detect_negative", 0)];
    let is_inf = Node { op_type: "IsInf", attributes: &attributes };
    let y = run(&*load(&is_inf, 20)?, &x)?;
    println!("IsInf-20 of the same, detect_negative = 0: {y:?}");
    assert_eq!(y, [false, false, false, true]);

    // A runtime must refuse this: IsInf accepts bf16 only from opset 20 on.
    let refused = run(&*load(&is_inf, 19)?, &x).unwrap_err();
    println!("at opset 19: {refused}");
    Ok(())
}
