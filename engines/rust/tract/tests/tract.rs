//! Models with tract's own operators, and with ours in their place.

use std::fmt::Debug;

use nonfinite::{BadTensor, Format, Predicate, Watch};
use nonfinite_engine_testing::inputs::{Float, finite, values};
use nonfinite_engine_testing::onnx::{Model, Type};
use nonfinite_tract::{look, register, run_watched, run_without};
use tract_onnx::Onnx;
use tract_onnx::prelude::*;
use tract_onnx::tract_core::tract_data::half::f16;

fn ours() -> Onnx {
    let mut onnx = tract_onnx::onnx();
    register(&mut onnx);
    onnx
}

fn load(onnx: &Onnx, model: Model) -> TractResult<Arc<TypedSimplePlan>> {
    onnx.model_for_read(&mut &*model.encode())?.into_optimized()?.into_runnable()
}

fn one(element: Type, operator: &str, attributes: &[(&str, u8)], shape: &[u8]) -> Model {
    Model::new(20).input("x", element, shape).node(("", operator), &["x"], "y", attributes).output(
        "y",
        Type::Bool,
        shape,
    )
}

/// The masks of our operators, beside the classes of the compiler, and beside tract's operators
/// where tract has them for this type.
fn masks<T: Float + Datum + Debug>(element: Type, own: bool) -> TractResult<()> {
    let (negative, positive) = (("detect_negative", 0), ("detect_positive", 0));
    for (operator, attributes) in [
        ("IsNaN", &[][..]),
        ("IsInf", &[]),
        ("IsInf", &[negative]),
        ("IsInf", &[positive]),
        ("IsInf", &[negative, positive]),
    ] {
        for shape in [[1, 1], [3, 100], [127, 101]] {
            let dims = shape.map(usize::from);
            let x = Tensor::from_shape(&dims, &values::<T>(dims[0] * dims[1]))?;
            let run = |onnx: &Onnx| {
                let plan = load(onnx, one(element, operator, attributes, &shape))?;
                let ours = plan.model().nodes().iter().any(|n| n.op().name().contains("Nonfinite"));
                TractResult::Ok((ours, plan.run(tvec![x.clone().into_tvalue()])?))
            };
            let (ours, mask) = run(&self::ours())?;
            assert!(ours, "the node is an operator of ours");
            if own {
                assert_eq!((false, mask.clone()), run(&tract_onnx::onnx())?, "{operator}");
            }
            let x = x.cast_to::<f64>()?.into_owned();
            let expected = x.try_as_plain_ram()?.as_slice::<f64>()?.iter().map(|x| {
                let sign = if *x < 0.0 { negative } else { positive };
                match operator {
                    "IsNaN" => x.is_nan(),
                    _ => x.is_infinite() && !attributes.contains(&sign),
                }
            });
            let mask = mask[0].try_as_plain_ram()?.as_slice::<bool>()?.iter().copied();
            assert!(mask.eq(expected), "{operator} {attributes:?} {shape:?}");
        }
    }
    Ok(())
}

#[test]
fn masks_are_those_of_tracts_operators() -> TractResult<()> {
    masks::<f16>(Type::Float16, true)?;
    masks::<f32>(Type::Float, true)
}

/// ONNX knows two attributes of IsInf, both integers, and none of IsNaN.
#[test]
fn other_attributes_are_refused() {
    for (operator, attribute) in [("IsInf", "detect_negativ"), ("IsNaN", "detect_negative")] {
        let refused = load(&ours(), one(Type::Float, operator, &[(attribute, 0)], &[1]));
        let text = format!("{:?}", refused.expect_err("no such attribute"));
        assert!(text.contains(&format!("Unrecognized attribute: {attribute} for")), "{text}");
    }
}

/// tract's own operators refuse f64.
#[test]
fn f64_is_taken_too() -> TractResult<()> {
    masks::<f64>(Type::Double, false)?;
    let own = load(&tract_onnx::onnx(), one(Type::Double, "IsNaN", &[], &[1]))
        .and_then(|plan| plan.run(tvec![tensor1(&[1f64]).into_tvalue()]));
    assert!(own.is_err(), "tract takes f64 now: compare its answers");
    Ok(())
}

#[test]
fn finite_in_a_domain_of_its_own() -> TractResult<()> {
    let model = || {
        Model::new(20)
            .import("nonfinite")
            .input("x", Type::Float, &[64])
            .node(("nonfinite", "IsFinite"), &["x"], "y", &[])
            .output("y", Type::Bool, &[64])
    };
    let x = values::<f32>(64);
    let mask = load(&ours(), model())?.run(tvec![tensor1(&x).into_tvalue()])?;
    let expected: Vec<bool> = x.iter().map(|x| x.is_finite()).collect();
    assert_eq!(mask[0].try_as_plain_ram()?.as_slice::<bool>()?, expected);
    assert!(load(&tract_onnx::onnx(), model()).is_err());
    Ok(())
}

/// `x -> Sqrt -> root -> IsNaN -> hidden`: NaN never reaches an output
/// of the model.
fn roots() -> TractResult<Arc<TypedSimplePlan>> {
    let model = Model::new(20)
        .input("x", Type::Float, &[3, 4])
        .node(("", "Sqrt"), &["x"], "root", &[])
        .node(("", "IsNaN"), &["root"], "hidden", &[])
        .output("hidden", Type::Bool, &[3, 4]);
    let model = tract_onnx::onnx().model_for_read(&mut &*model.encode())?;
    model.into_typed()?.into_decluttered()?.into_runnable()
}

#[test]
fn the_first_bad_node_is_named() -> TractResult<()> {
    let plan = roots()?;
    let mut values = finite::<f32>(12);
    let run = |values: &[f32], predicate| {
        let x = Tensor::from_shape(&[3, 4], values)?;
        run_without(&plan, tvec![x.into_tvalue()], predicate)
    };
    let clean = run(&values, Predicate::NonFinite)?;
    let x = Tensor::from_shape(&[3, 4], &values)?.into_tvalue();
    assert_eq!(clean, plan.run(tvec![x])?);

    values[7] = -1.0;
    let error = run(&values, Predicate::NonFinite).expect_err("the root of -1");
    let bad = error.downcast_ref::<BadTensor>().expect("our error");
    assert_eq!((bad.name(), bad.coordinate()), ("root", &[1, 3][..]));
    assert!(error.to_string().contains("Sqrt"), "{error}");
    // tract's own run sees nothing, and neither does one that looks for other elements.
    plan.run(tvec![Tensor::from_shape(&[3, 4], &values)?.into_tvalue()])?;
    run(&values, Predicate::Inf)?;

    values[5] = f32::INFINITY;
    let error = run(&values, Predicate::Inf).expect_err("the input");
    assert_eq!(error.downcast_ref::<BadTensor>().expect("our error").name(), "x");
    Ok(())
}

/// The watch sees what each node computes, in all threads, and the run goes on to its end.
#[test]
fn a_watch_sees_every_node() -> TractResult<()> {
    let plan = roots()?;
    let watch = Watch::new(Predicate::NonFinite);
    let run = |values: &[f32]| -> TractResult<()> {
        let x = || Tensor::from_shape(&[3, 4], values).map(|x| tvec![x.into_tvalue()]);
        assert_eq!(run_watched(&plan, x()?, &watch)?, plan.run(x()?)?);
        Ok(())
    };
    let clean = finite::<f32>(12);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| run(&clean))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    // Two runs of the nodes x and root; the mask holds no numbers.
    let totals = watch.totals();
    assert_eq!((totals.tensors, totals.bad_tensors, totals.elements), (4, 0, 48));

    let mut values = clean.clone();
    values[7] = -1.0;
    run(&values)?;
    let bad = watch.first().expect("the root of -1");
    assert_eq!((bad.name(), bad.coordinate()), ("root", &[1, 3][..]));
    assert_eq!((watch.totals().tensors, watch.totals().bad_tensors), (6, 1));
    let (integers, halves) = (tensor1(&[1i64, 2]), tensor1(&[f16::NAN]));
    assert!(look(&watch, "integers", &integers)?.is_none());
    assert_eq!(look(&watch, "halves", &halves)?.expect("numbers").census.nan.count, 1);
    assert_eq!(watch.totals().tensors, 7);

    let watch = Watch::new(Predicate::exceeds(Format::F32, 1.0)?);
    look(&watch, "finite", &tensor1(&[1.0f32, -2.0]))?.expect("numbers");
    assert_eq!(watch.first().expect("2 exceeds 1").index, 1);
    look(&watch, "halves", &halves).expect_err("a threshold for f32");
    assert_eq!(watch.totals().tensors, 1);
    Ok(())
}
