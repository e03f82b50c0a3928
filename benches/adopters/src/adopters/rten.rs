//! RTen: its operators IsNaN and IsInf, each as a model of one node.

use std::rc::Rc;

use nonfinite::Predicate;
use rten::{Model, ModelOptions, OpRegistry, RegisterOp, ValueOrView, op_types};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

use super::Adopter;
use crate::data::Column;
use crate::ours::mask;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "rten",
    package: "rten",
    what: "The operators IsNaN and IsInf, f32 only. The operators are private, so theirs is a run \
           of a model of that one node, less the run for one element. They write 32-bit integers. \
           Ours: `mask`, a byte an element.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    let Column::F32(x) = column else { return Vec::new() };
    if x.valid.is_some() {
        return Vec::new();
    }
    vec![
        pair("mask of NaN", "IsNaN", &op_types::IsNaN, Predicate::Nan, &x.values),
        pair("mask of Inf", "IsInf", &op_types::IsInf, Predicate::Inf, &x.values),
    ]
}

fn pair(
    question: &'static str,
    operator: &str,
    kind: &dyn RegisterOp,
    predicate: Predicate,
    x: &[f32],
) -> Pair {
    let options = ModelOptions::with_ops(OpRegistry::with_ops(&[kind]));
    let model: Model = options.load(model(operator)).expect("a model of one node");
    let ours = x.to_vec();
    let model = Rc::new(model);
    let run = |x: &[f32]| {
        let (model, tensor) = (Rc::clone(&model), NdTensor::from_data([x.len()], x.to_vec()));
        move || model.run_one(ValueOrView::from(tensor.view()), None).expect("f32 in")
    };
    let each = |value: rten::Value| {
        let tensor: Tensor<i32> = value.try_into().expect("integers out");
        Answer::mask(tensor.iter().map(|x| *x != 0))
    };
    Pair::new(
        question,
        Task::new(run(x), each),
        Task::new(move || mask(&ours, predicate), |mask| Answer::mask(mask.into_vec())),
    )
    .without(Task::new(run(&x[..1]), each))
}

/// A field of a protobuf message that has a length: text, or another message.
fn field(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let length = u8::try_from(content.len()).ok().filter(|length| *length < 0x80);
    [&[number << 3 | 2, length.expect("a short message")], content].concat()
}

/// A field that is a number below 128.
fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

/// `y = operator(x)` in ONNX's format, opset 20, of a vector of floats.
fn model(operator: &str) -> Vec<u8> {
    let node = [field(1, "x"), field(2, "y"), field(4, operator)].concat();
    let value = |name: &str, element| {
        let shape = field(1, field(2, "n"));
        let tensor = [number(1, element), field(2, shape)].concat();
        [field(1, name), field(2, field(1, tensor))].concat()
    };
    const FLOAT: u8 = 1;
    const BOOL: u8 = 9;
    let graph =
        [field(1, node), field(2, "g"), field(11, value("x", FLOAT)), field(12, value("y", BOOL))];
    [number(1, 8), field(7, graph.concat()), field(8, number(2, 20))].concat()
}
