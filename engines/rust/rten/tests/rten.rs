//! Our answers beside those of rten's own operators, each run as a model.

use nonfinite::Predicate;
use nonfinite_engine_testing::inputs::{finite, values};
use nonfinite_engine_testing::onnx::{self, Type};
use nonfinite_rten::{BadValue, Replaced, all, any, census, first, mask, position, run};
use rten::{Model, ModelOptions, NodeId, ValueView};
use rten_tensor::prelude::*;
use rten_tensor::{Tensor, TensorView};

const OPERATORS: [(&str, Predicate); 2] = [("IsNaN", Predicate::Nan), ("IsInf", Predicate::Inf)];

/// `x -> Sqrt -> root -> operator -> y`, unchanged by optimizations.
fn model(operator: &str) -> Model {
    let bytes = onnx::Model::new(20)
        .input("x", Type::Float, &[0, 0])
        .node(("", "Sqrt"), &["x"], "root", &[])
        .node(("", operator), &["root"], "y", &[])
        .output("y", Type::Bool, &[0, 0])
        .encode();
    ModelOptions::with_all_ops().enable_optimization(false).load(bytes).expect("a model")
}

fn id(model: &Model, name: &str) -> NodeId {
    model.node_id(name).expect("a value of the model")
}

fn theirs(operator: &str, x: TensorView<'_, f32>) -> Tensor<i32> {
    let model = model(operator);
    let inputs = vec![(id(&model, "root"), ValueView::from(x).into())];
    let [mask] = model.run_n(inputs, [id(&model, "y")], None).expect("rten runs");
    mask.try_into().expect("integers")
}

#[test]
fn masks_are_those_of_rtens_operators() {
    for shape in [[0, 3], [1, 1], [3, 1000], [129, 127]] {
        let x = Tensor::from_data(&shape, values::<f32>(shape[0] * shape[1]));
        for (operator, predicate) in OPERATORS {
            assert_eq!(mask(x.view(), predicate), theirs(operator, x.view()), "{operator}");
            // A transposed view is not dense.
            let turned = x.transposed();
            assert_eq!(mask(turned.view(), predicate), theirs(operator, turned.view()));
        }
        let nan = theirs("IsNaN", x.view());
        let infinite = theirs("IsInf", x.view());
        let either = mask(x.view(), Predicate::NonFinite);
        for ((nan, infinite), either) in nan.iter().zip(infinite.iter()).zip(either.iter()) {
            assert_eq!(nan | infinite, *either);
        }
    }
}

#[test]
fn questions_agree_with_rtens_masks() {
    let x = Tensor::from_data(&[5, 7], values::<f32>(35));
    for view in [x.view(), x.transposed(), x.slice(2..)] {
        for (operator, predicate) in OPERATORS {
            let mask = theirs(operator, view.clone());
            let index = mask.iter().position(|answer| *answer == 1);
            let expected = index.map(|index| vec![index / mask.size(1), index % mask.size(1)]);
            assert_eq!(position(view.clone(), predicate), expected);
            assert_eq!(any(view.clone(), predicate), index.is_some());
            assert_eq!(all(view.clone(), predicate), mask.iter().all(|answer| *answer == 1));
        }
        let nan = theirs("IsNaN", view.clone()).iter().sum::<i32>();
        assert_eq!(census(view.clone()).nan.count, nan as usize);
    }
}

#[test]
fn a_node_is_replaced() {
    let x = Tensor::from_data(&[3, 50], values::<f32>(150));
    for (operator, predicate) in OPERATORS {
        let model = model(operator);
        let inputs = [(id(&model, "x"), ValueView::from(x.view()))];
        let (root, y) = (id(&model, "root"), id(&model, "y"));
        let own = model.run_one(x.view().into(), None).expect("rten runs");
        let own: Tensor<i32> = own.try_into().expect("integers");

        let replaced = Replaced { input: root, output: y, predicate };
        let [mask] = run(&model, &inputs, &[y], &[replaced]).expect("it runs").try_into().unwrap();
        assert_eq!(Tensor::<i32>::try_from(mask).expect("integers"), own);

        // rten has no such operator, so these are the answers of ours.
        let finite = Replaced { predicate: Predicate::Finite, ..replaced };
        let outputs = run(&model, &inputs, &[y, root], &[finite]).expect("it runs");
        let [mask, roots] = outputs.try_into().expect("two outputs");
        let roots = Tensor::<f32>::try_from(roots).expect("floats");
        let mask = Tensor::<i32>::try_from(mask).expect("integers");
        for (root, answer) in roots.iter().zip(mask.iter()) {
            assert_eq!(root.is_finite(), *answer == 1);
        }
        assert_ne!(mask, own);
    }
}

#[test]
fn the_first_bad_value_is_named() {
    let model = model("IsNaN");
    let mut values = finite::<f32>(12);
    values[7] = -1.0;
    let x = Tensor::from_data(&[3, 4], values);
    let inputs = [(id(&model, "x"), ValueView::from(x.view()))];
    let names = ["x", "root", "y"];
    let bad = first(&model, &inputs, &names, Predicate::NonFinite).expect("rten runs");
    let root = BadValue { name: "root".to_owned(), coordinate: vec![1, 3] };
    assert_eq!(bad.as_ref().map(BadValue::to_string).as_deref(), Some("root at [1, 3]"));
    assert_eq!(bad, Some(root));
    assert_eq!(first(&model, &inputs, &names, Predicate::Inf).expect("rten runs"), None);
    assert!(first(&model, &inputs, &["nothing"], Predicate::Inf).is_err());
}
