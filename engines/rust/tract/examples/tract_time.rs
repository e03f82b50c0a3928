//! Times of ours and of tract's operators, and of a checked run:
//! `cargo run --release -p nonfinite-tract --example tract_time`.

use std::hint::black_box;

use nonfinite_engine_testing::inputs::finite;
use nonfinite_engine_testing::onnx::{Model, Type};
use nonfinite_engine_testing::{medians, report};
use nonfinite_tract::{register, run_finite};
use tract_onnx::Onnx;
use tract_onnx::prelude::*;

/// 1 Mi elements.
const SHAPE: [u8; 4] = [64, 64, 64, 4];

fn plan(onnx: &Onnx, operator: &str, output: Type) -> TractResult<Arc<TypedSimplePlan>> {
    let model = Model::new(20)
        .input("x", Type::Float, &SHAPE)
        .node(("", operator), &["x"], "y", &[])
        .output("y", output, &SHAPE);
    onnx.model_for_read(&mut &*model.encode())?.into_optimized()?.into_runnable()
}

fn main() -> TractResult<()> {
    let own = tract_onnx::onnx();
    let mut ours = tract_onnx::onnx();
    register(&mut ours);
    let x = Tensor::from_shape(&SHAPE.map(usize::from), &finite::<f32>(1 << 20))?.into_tvalue();
    for operator in ["IsNaN", "IsInf"] {
        let [ours, own] = [plan(&ours, operator, Type::Bool)?, plan(&own, operator, Type::Bool)?];
        let run = |plan: &Arc<TypedSimplePlan>| {
            drop(black_box(plan.run(tvec![x.clone()]).expect("tract runs")));
        };
        report(&format!("{operator}, f32"), medians(|| run(&ours), || run(&own)));
    }
    // As tract's command line does it.
    let plan = plan(&own, "Neg", Type::Float)?;
    let checked = || drop(black_box(run_finite(&plan, tvec![x.clone()]).expect("all finite")));
    let by_element = || {
        let outputs = plan.run(tvec![x.clone()]).expect("tract runs");
        for x in outputs.iter().chain([&x]) {
            let view = x.to_plain_array_view::<f32>().expect("f32");
            black_box(view.iter().all(|x| x.is_finite()));
        }
    };
    report("Neg and a check of its input and output", medians(checked, by_element));
    Ok(())
}
