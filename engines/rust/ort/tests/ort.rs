//! The answers of ONNX Runtime's own operators, of ours in Rust, and of our library. The tests need
//! the runtime, in ORT_DYLIB_PATH, and the library of `engines/onnxruntime`, in NONFINITE_LIBRARY:
//! `engines/rust/test` provides both.

use std::fmt::Debug;
use std::sync::LazyLock;

use half::{bf16, f16};
use nonfinite_engine_testing::inputs::{Float, values};
use nonfinite_engine_testing::onnx::{Model, Type};
use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::SessionBuilder;
use ort::value::{PrimitiveTensorElementType, Tensor};

fn builder() -> SessionBuilder {
    // A process may have one environment at a time.
    static ENVIRONMENT: LazyLock<Environment> =
        LazyLock::new(|| ort::init().build().expect("onnxruntime, where ORT_DYLIB_PATH says"));
    Session::builder(&ENVIRONMENT).expect("options")
}

/// The ways to get our operators.
fn ours() -> [(&'static str, SessionBuilder); 2] {
    let library = std::env::var_os("NONFINITE_LIBRARY").expect("NONFINITE_LIBRARY is not set");
    let operators = nonfinite_ort::domain("nonfinite").expect("a domain");
    [
        ("in Rust", builder().with_operators(operators).expect("operators")),
        ("the library", builder().with_operator_library(library).expect("a library")),
    ]
}

fn one(domain: &str, element: Type, operator: &str, attributes: &[(&str, u8)]) -> Vec<u8> {
    Model::new(20)
        .import("nonfinite")
        .input("x", element, &[0, 0])
        .node((domain, operator), &["x"], "y", attributes)
        .output("y", Type::Bool, &[0, 0])
        .encode()
}

fn run<T>(session: &mut Session, x: &Tensor<T>) -> Vec<bool>
where
    T: PrimitiveTensorElementType + Debug,
{
    let outputs = session.run(ort::inputs![x]).expect("it runs");
    outputs["y"].try_extract_tensor::<bool>().expect("booleans").1.to_vec()
}

fn masks<T>(element: Type, is_finite: fn(T) -> bool)
where
    T: Float + PrimitiveTensorElementType + Debug + 'static,
{
    let attributes: [&[(&str, u8)]; 3] =
        [&[], &[("detect_negative", 0)], &[("detect_positive", 0)]];
    for (rows, columns) in [(1, 1), (0, 5), (101, 127)] {
        let data = values::<T>(rows * columns);
        let x = Tensor::from_array(([rows, columns], data.clone())).expect("a tensor");
        for (operator, attributes) in
            [("IsNaN", attributes[0])].into_iter().chain(attributes.map(|list| ("IsInf", list)))
        {
            let own = one("", element, operator, attributes);
            let own = run(&mut builder().commit_from_memory(&own).expect("a model"), &x);
            for (name, mut builder) in ours() {
                let model = one("nonfinite", element, operator, attributes);
                let mut session = builder.commit_from_memory(&model).expect("a model");
                assert_eq!(run(&mut session, &x), own, "{operator} {attributes:?}, {name}");
            }
        }
        for (name, mut builder) in ours() {
            let model = one("nonfinite", element, "IsFinite", &[]);
            let mut session = builder.commit_from_memory(&model).expect("a model");
            let expected: Vec<bool> = data.iter().copied().map(is_finite).collect();
            assert_eq!(run(&mut session, &x), expected, "IsFinite, {name}");
        }
    }
    let model = one("nonfinite", element, "IsNaN", &[]);
    assert!(builder().commit_from_memory(&model).is_err(), "the operators come from us");
}

#[test]
fn masks_are_those_of_onnxruntime() {
    masks::<f64>(Type::Double, f64::is_finite);
    masks::<f32>(Type::Float, f32::is_finite);
    masks::<f16>(Type::Float16, f16::is_finite);
    masks::<bf16>(Type::Bfloat16, bf16::is_finite);
}

/// Opset 13 has IsNaN for bf16, and the runtime no kernel for it.
#[test]
fn an_unedited_model_of_opset_13() {
    let model = Model::new(13)
        .input("x", Type::Bfloat16, &[0])
        .node(("", "IsNaN"), &["x"], "y", &[])
        .output("y", Type::Bool, &[0])
        .encode();
    assert!(builder().commit_from_memory(&model).is_err());
    let operators = nonfinite_ort::domain("").expect("a domain");
    let mut builder = builder().with_operators(operators).expect("operators");
    let mut session = builder.commit_from_memory(&model).expect("a model");
    let data = values::<bf16>(1000);
    let x = Tensor::from_array(([1000], data.clone())).expect("a tensor");
    let expected: Vec<bool> = data.iter().map(|x| x.is_nan()).collect();
    assert_eq!(run(&mut session, &x), expected);
}
