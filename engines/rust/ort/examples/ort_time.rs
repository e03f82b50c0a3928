//! Times of ours, in Rust, and of ONNX Runtime's own, on one thread. See README.

use nonfinite_engine_testing::inputs::finite;
use nonfinite_engine_testing::onnx::{Model, Type};
use nonfinite_engine_testing::{medians, report};
use ort::session::Session;
use ort::value::Tensor;

fn main() -> ort::Result<()> {
    let environment = ort::init().build()?;
    for (size, name) in [(8, "8 elements"), (1 << 20, "1 Mi elements")] {
        let x = Tensor::from_array(([size], finite::<f32>(size)))?;
        for operator in ["IsNaN", "IsInf"] {
            let session = |domain| -> ort::Result<Session> {
                let model = Model::new(20)
                    .import("nonfinite")
                    .input("x", Type::Float, &[0])
                    .node((domain, operator), &["x"], "y", &[])
                    .output("y", Type::Bool, &[0]);
                Session::builder(&environment)?
                    .with_intra_threads(1)?
                    .with_operators(nonfinite_ort::domain("nonfinite")?)?
                    .commit_from_memory(&model.encode())
            };
            let (mut ours, mut own) = (session("nonfinite")?, session("")?);
            let run = |session: &mut Session| {
                drop(session.run(ort::inputs![&x]).expect("the model runs"));
            };
            let times = medians(|| run(&mut ours), || run(&mut own));
            report(&format!("{operator}, f32, {name}"), times);
        }
    }
    Ok(())
}
