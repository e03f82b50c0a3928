//! Two threads run one model of tract under one watch, which names the first bad tensor:
//! `cargo run -p nonfinite-tract --example tract_watch`.

use std::thread;

use nonfinite::{Predicate, Watch};
use nonfinite_engine_testing::onnx::{Model, Type};
use nonfinite_tract::run_watched;
use tract_onnx::prelude::*;

fn main() -> TractResult<()> {
    // y = exp(x) / sqrt(x)
    let model = Model::new(20)
        .input("x", Type::Float, &[4])
        .node(("", "Exp"), &["x"], "power", &[])
        .node(("", "Sqrt"), &["x"], "root", &[])
        .node(("", "Div"), &["power", "root"], "y", &[])
        .output("y", Type::Float, &[4]);
    let model = tract_onnx::onnx().model_for_read(&mut &*model.encode())?;
    let plan = model.into_optimized()?.into_runnable()?;

    let watch = Watch::new(Predicate::NonFinite);
    for inputs in [[[1f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], [[1.0, 2.0, 89.0, 4.0], [1.0; 4]]]
    {
        thread::scope(|scope| {
            let run = |x: [f32; 4]| run_watched(&plan, tvec![tensor1(&x).into()], &watch);
            let threads = inputs.map(|x| scope.spawn(move || run(x)));
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic").map(drop))
        })?;
        let totals = watch.totals();
        println!("{} of {} tensors are bad", totals.bad_tensors, totals.tensors);
        if let Some(bad) = watch.first() {
            println!("  first: {bad}");
            assert_eq!((bad.name(), bad.coordinate()), ("power", &[2][..]));
        }
        assert_eq!(watch.first().is_some(), inputs[0][2] > 88.0);
        watch.clear(); // for the next step
    }
    Ok(())
}
