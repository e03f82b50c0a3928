//! The library of `engines/onnxruntime` in the crate ort, beside ONNX Runtime's own operators. The
//! test needs the runtime, in ORT_DYLIB_PATH, and the library, in NONFINITE_LIBRARY:
//! `engines/rust/test` provides both. The tests of the library are in `engines/onnxruntime`.

use nonfinite_engine_testing::inputs::values;
use nonfinite_engine_testing::onnx::{Model, Type};
use ort::session::Session;
use ort::value::Tensor;

/// A model of one node.
fn one(domain: &str, operator: &str, attributes: &[(&str, u8)]) -> Vec<u8> {
    Model::new(20)
        .import("nonfinite")
        .input("x", Type::Float, &[0, 0])
        .node((domain, operator), &["x"], "y", attributes)
        .output("y", Type::Bool, &[0, 0])
        .encode()
}

#[test]
fn the_library_loads() -> Result<(), Box<dyn std::error::Error>> {
    let library = std::env::var_os("NONFINITE_LIBRARY").ok_or("NONFINITE_LIBRARY is not set")?;
    let environment = ort::init().build()?;
    let data = values::<f32>(101 * 127);
    let x = Tensor::from_array(([101, 127], data.clone()))?;
    let run = |ours: bool, model: &[u8]| -> ort::Result<Vec<bool>> {
        let mut builder = Session::builder(&environment)?;
        if ours {
            builder = builder.with_operator_library(&library)?;
        }
        let mut session = builder.commit_from_memory(model)?;
        let outputs = session.run(ort::inputs![&x])?;
        Ok(outputs["y"].try_extract_tensor::<bool>()?.1.to_vec())
    };
    let negative = [("detect_positive", 0)];
    for (operator, attributes) in [("IsNaN", &[][..]), ("IsInf", &[]), ("IsInf", &negative)] {
        let own = run(false, &one("", operator, attributes))?;
        assert!(own.contains(&true) && own.contains(&false));
        assert_eq!(run(true, &one("nonfinite", operator, attributes))?, own, "{operator}");
    }
    let finite: Vec<bool> = data.iter().map(|x| x.is_finite()).collect();
    assert_eq!(run(true, &one("nonfinite", "IsFinite", &[]))?, finite);
    assert!(run(false, &one("nonfinite", "IsNaN", &[])).is_err(), "the operators come from us");
    Ok(())
}
