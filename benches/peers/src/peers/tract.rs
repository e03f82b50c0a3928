//! tract: the operator of ONNX IsNaN, called directly. It has f32 and f16, and no IsFinite.

use tract_core::ops::element_wise::ElementWiseMiniOp;
use tract_core::ops::math::IsNan;
use tract_core::prelude::{Datum, Tensor};

use crate::task::{Answer, Ask, Input, Question, Task};

fn task<T: Datum + Copy>(x: &[T]) -> Task<'_> {
    let x = Tensor::from_shape(&[x.len()], x).expect("a tensor of the slice");
    let run = move || IsNan {}.eval_out_of_place(&x, None).expect("supported");
    Task::owned("tract", run, |answers: &Tensor| {
        let answers = answers.to_plain_array_view::<bool>().expect("a tensor of bool");
        Answer::Each(answers.iter().map(|x| u8::from(*x)).collect())
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    match (ask, x) {
        (Ask::Mask(Question::Nan), Input::F32(x)) => vec![task(x)],
        (Ask::Mask(Question::Nan), Input::F16(x)) => vec![task(x)],
        _ => Vec::new(),
    }
}
