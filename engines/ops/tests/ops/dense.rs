//! Shapes, lengths and outputs of all operators over packed tensors.

use core::mem::MaybeUninit;

use nonfinite_ops::onnx::{DataType, IsNan};
use nonfinite_ops::openvino::{ElementType, IsFinite};
use nonfinite_ops::{Dense, DenseError, Error, Operator, StandardType, stablehlo, webnn};

use crate::check;

fn is_nan() -> IsNan {
    IsNan::for_opset(20).unwrap()
}

/// Rank 0, zero-sized dimensions and rank 9, as onnxruntime has them (CONTRACTS, section 1).
#[test]
fn shapes() {
    let nan = f32::NAN.to_ne_bytes();
    for shape in
        [&[][..], &[0], &[0, 3], &[usize::MAX, usize::MAX, 0], &[1, 1, 1, 2, 1, 1, 1, 1, 1]]
    {
        let n = if shape.contains(&0) { 0 } else { shape.iter().product() };
        check("shape", &is_nan(), DataType::Float, shape, &nan.repeat(n), &"T ".repeat(n));
    }
}

#[test]
fn typed_elements_and_uninitialised_outputs() {
    let x = [1.0f64, f64::NAN];
    let mut out = [MaybeUninit::<bool>::uninit(); 2];
    is_nan().run(Dense::new(DataType::Double, &[1, 2], &x[..]), (&mut out[..]).into()).unwrap();
    // Written through as bytes, since this crate has no unsafe code to read them back with.
    let mut bytes = [7; 2];
    is_nan().run(Dense::new(DataType::Double, &[1, 2], &x[..]), (&mut bytes[..]).into()).unwrap();
    assert_eq!(bytes, [0, 1]);
}

#[test]
fn lengths() {
    let run = |shape: &[usize], bytes: usize, out: usize| {
        let (bytes, mut out) = (vec![0xFF; bytes], vec![7; out]);
        let x = Dense::from_bytes(DataType::Float16, shape, &bytes);
        let result = is_nan().run(x, (&mut out[..]).into());
        assert!(result.is_ok() || out.iter().all(|&byte| byte == 7), "written before an error");
        result.map_err(|error| match error {
            Error::Memory { op: "IsNaN", version: Some(20), element_type, error }
                if element_type == DataType::Float16.into() =>
            {
                error
            }
            other => panic!("{other}"),
        })
    };
    assert_eq!(run(&[2, 3], 12, 6), Ok(()));
    for found in [0, 6, 11, 13, 24] {
        assert_eq!(run(&[2, 3], found, 6), Err(DenseError::InputBytes { needed: 12, found }));
    }
    for output in [0, 5, 7] {
        assert_eq!(run(&[2, 3], 12, output), Err(DenseError::OutputLength { elements: 6, output }));
    }
    assert_eq!(run(&[], 4, 1), Err(DenseError::InputBytes { needed: 2, found: 4 }));
    assert_eq!(run(&[0], 2, 0), Err(DenseError::InputBytes { needed: 0, found: 2 }));
    // More elements than a usize counts, and more bytes.
    assert_eq!(run(&[2, usize::MAX, 3], 0, 0), Err(DenseError::Overflow { dimension: 1 }));
    assert_eq!(run(&[2, usize::MAX / 3, 1], 0, 0), Err(DenseError::Overflow { dimension: 1 }));
    assert_eq!(run(&[usize::MAX], 0, 0), Err(DenseError::Overflow { dimension: 0 }));
    let text =
        "IsNaN-20 of tensor(float16): with dimension 0 the shape is larger than the address space";
    let x = Dense::from_bytes(DataType::Float16, &[usize::MAX], &[]);
    assert_eq!(is_nan().run(x, (&mut [0u8; 0][..]).into()).unwrap_err().to_string(), text);
}

/// Quantized elements take no known number of bytes, but the output has to be right.
#[test]
fn output_of_constants() {
    let mut out = [7; 2];
    let x = Dense::from_bytes(stablehlo::ElementType::PerTensorQuantized, &[3], &[]);
    let error = DenseError::OutputLength { elements: 3, output: 2 };
    let (op, element_type) = ("stablehlo.is_finite", x.element_type());
    let expected = Error::Memory { op, version: None, element_type, error };
    let refused = stablehlo::IsFinite.run(x, (&mut out[..]).into());
    assert_eq!((refused, out), (Err(expected), [7; 2]));
}

/// As an engine keeps the operators of a model, and with types of another standard.
#[test]
fn boxed() {
    let x = [f32::INFINITY, 1.0, f32::NAN];
    let float = |element_type: StandardType| Dense::new(element_type, &[3], &x[..]);
    let rows: [(Box<dyn Operator>, StandardType, [u8; 3]); 4] = [
        (Box::new(is_nan()), DataType::Float.into(), [0, 0, 1]),
        (Box::new(IsFinite), ElementType::F32.into(), [0, 1, 0]),
        (Box::new(stablehlo::IsFinite), stablehlo::ElementType::F32.into(), [0, 1, 0]),
        (Box::new(webnn::IsInfinite), webnn::DataType::Float32.into(), [1, 0, 0]),
    ];
    for (op, element_type, expected) in &rows {
        let mut out = [7; 3];
        assert_eq!(op.run(float(*element_type), (&mut out[..]).into()), Ok(()));
        assert_eq!(out, *expected, "{}", op.name());
        assert_eq!(op.infer(*element_type), Ok(op.signature().output_type()));
        for &(_, other, _) in rows.iter().filter(|row| row.1 != *element_type) {
            let mut out = [7; 3];
            let (op_name, standard) = (op.name(), element_type.standard());
            let error = Error::Standard { op: op_name, standard, element_type: other };
            assert_eq!(op.run(float(other), (&mut out[..]).into()), Err(error));
            assert_eq!((op.infer(other), out), (Err(error), [7; 3]));
        }
    }
    let error = is_nan().infer(ElementType::F32.into()).unwrap_err();
    assert_eq!(error.to_string(), "IsNaN takes element types of ONNX, not f32 of OpenVINO");
}
