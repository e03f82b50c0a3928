//! Times of ours and of rten's operators:
//! `cargo run --release -p nonfinite-rten --example rten_time`.

use std::hint::black_box;

use nonfinite::Predicate;
use nonfinite_engine_testing::inputs::finite;
use nonfinite_engine_testing::onnx::{self, Type};
use nonfinite_engine_testing::{medians, report};
use rten::{Model, ValueView};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;

fn main() {
    let x = Tensor::from_data(&[1024, 1024], finite::<f32>(1 << 20));
    for (operator, predicate) in [("IsNaN", Predicate::Nan), ("IsInf", Predicate::Inf)] {
        let model = onnx::Model::new(20)
            .input("x", Type::Float, &[0, 0])
            .node(("", operator), &["x"], "y", &[])
            .output("y", Type::Bool, &[0, 0]);
        let model = Model::load(model.encode()).expect("a model");
        let theirs = || model.run_one(ValueView::from(x.view()).into(), None).expect("rten runs");
        let mask = || drop(black_box(nonfinite_rten::mask(x.view(), predicate)));
        report(&format!("{operator}, a mask"), medians(mask, || drop(black_box(theirs()))));
        let any = || _ = black_box(nonfinite_rten::any(x.view(), predicate));
        report(
            &format!("{operator}, any?"),
            medians(any, || {
                let mask: Tensor<i32> = theirs().try_into().expect("integers");
                black_box(mask.iter().any(|answer| *answer != 0));
            }),
        );
    }
}
