//! Models that candle-onnx runs itself, and models that it refuses.

use std::collections::HashMap;

use candle_core::{Device, Result, Tensor};
use candle_onnx::onnx::ModelProto;
use candle_onnx::simple_eval;
use nonfinite::Predicate;
use nonfinite_candle_onnx::{BadValue, eval};
use nonfinite_engine_testing::inputs::{finite, values};
use nonfinite_engine_testing::onnx::{Model, Type};
use prost::Message;

fn decode(model: Model) -> ModelProto {
    ModelProto::decode(model.encode().as_slice()).expect("a model")
}

fn input(values: Vec<f32>) -> Result<HashMap<String, Tensor>> {
    let rows = values.len() / 4;
    Ok(HashMap::from([("x".to_owned(), Tensor::from_vec(values, (rows, 4), &Device::Cpu)?)]))
}

fn roots() -> Model {
    Model::new(20)
        .input("x", Type::Float, &[0, 0])
        .node(("", "Sqrt"), &["x"], "root", &[])
        .node(("", "Neg"), &["root"], "y", &[])
        .output("y", Type::Float, &[0, 0])
}

#[test]
fn outputs_are_those_of_candle_onnx() -> Result<()> {
    let model = decode(roots());
    let own = simple_eval(&model, input(finite(12))?)?;
    for check in [None, Some(Predicate::NonFinite)] {
        let run = eval(&model, input(finite(12))?, check)?;
        assert_eq!(run.bad, None);
        assert_eq!(run.outputs["y"].to_vec2::<f32>()?, own["y"].to_vec2::<f32>()?);
    }
    // A type that the model does not take.
    let wrong = HashMap::from([("x".to_owned(), Tensor::new(&[[1f64]], &Device::Cpu)?)]);
    assert!(simple_eval(&model, wrong.clone()).is_err() && eval(&model, wrong, None).is_err());
    Ok(())
}

#[test]
fn the_first_bad_value_is_named() -> Result<()> {
    let model = decode(roots());
    let mut values = finite::<f32>(12);
    values[7] = -1.0;
    let run = eval(&model, input(values.clone())?, Some(Predicate::NonFinite))?;
    let root = BadValue { name: "root".into(), operator: "Sqrt".into(), coordinate: vec![1, 3] };
    assert_eq!(run.bad, Some(root));
    assert!(run.outputs.is_empty());
    // candle-onnx itself, and a check for other elements, go on to the end.
    let own = simple_eval(&model, input(values.clone())?)?["y"].to_vec2::<f32>()?;
    assert!(own[1][3].is_nan());
    assert_eq!(eval(&model, input(values)?, Some(Predicate::Inf))?.bad, None);
    Ok(())
}

#[test]
fn nodes_that_candle_onnx_refuses() -> Result<()> {
    type Class = fn(f32) -> bool;
    let cases: [(&str, &[(&str, u8)], Class); 4] = [
        ("IsNaN", &[], f32::is_nan),
        ("IsInf", &[], f32::is_infinite),
        ("IsInf", &[("detect_positive", 0)], |x| x == f32::NEG_INFINITY),
        ("IsFinite", &[], f32::is_finite),
    ];
    for (operator, attributes, class) in cases {
        let model = decode(
            Model::new(20)
                .input("x", Type::Float, &[0, 0])
                .node(("", operator), &["x"], "y", attributes)
                .output("y", Type::Bool, &[0, 0]),
        );
        let x = values::<f32>(400);
        let refusal = simple_eval(&model, input(x.clone())?).expect_err("no such operator");
        assert!(refusal.to_string().contains("unsupported op_type"), "{refusal}");
        let run = eval(&model, input(x.clone())?, None)?;
        let mask = run.outputs["y"].flatten_all()?.to_vec1::<u8>()?;
        let expected: Vec<u8> = x.iter().map(|x| u8::from(class(*x))).collect();
        assert_eq!(mask, expected, "{operator}");
    }
    Ok(())
}
