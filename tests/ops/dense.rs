//! Shapes, lengths and outputs of all operators over packed tensors.

use core::mem::MaybeUninit;

use nonfinite::ops::onnx::{DataType, IsNan};
use nonfinite::ops::openvino::{ElementType, IsFinite};
use nonfinite::ops::{Dense, DenseError, Operator, onnx, stablehlo};

use crate::check;

fn is_nan() -> IsNan {
    IsNan::for_opset(20).unwrap()
}

/// Rank 0, zero-sized dimensions and rank 9, as onnxruntime has them (CONTRACTS, section 1).
#[test]
fn shapes() {
    let nan = f32::NAN.to_ne_bytes();
    check("scalar", &is_nan(), DataType::Float, &[], &nan, "T");
    check("[0]", &is_nan(), DataType::Float, &[0], &[], "");
    check("[0, 3]", &is_nan(), DataType::Float, &[0, 3], &[], "");
    check("[2, 0]", &IsFinite, ElementType::F32, &[2, 0], &[], "");
    check("huge but empty", &is_nan(), DataType::Float, &[usize::MAX, usize::MAX, 0], &[], "");
    let nine = [1, 1, 1, 2, 1, 1, 1, 1, 1];
    check("rank 9", &is_nan(), DataType::Float, &nine, &nan.repeat(2), "T T");
    let inferred = is_nan().infer(DataType::Float, &[0usize, 3][..]);
    assert_eq!(inferred, Ok((DataType::Bool, &[0usize, 3][..])));
}

#[test]
fn typed_elements_and_uninitialised_outputs() {
    let x = [1.0f64, f64::NAN];
    let mut out = [MaybeUninit::<bool>::uninit(); 2];
    is_nan().run(Dense::new(DataType::Double, &[1, 2], &x[..]), &mut out[..]).unwrap();
    // Written through as bytes, since this crate has no unsafe code to read them back with.
    let mut bytes = [7; 2];
    is_nan().run(Dense::new(DataType::Double, &[1, 2], &x[..]), &mut bytes[..]).unwrap();
    assert_eq!(bytes, [0, 1]);
}

#[test]
fn lengths() {
    let run = |shape: &[usize], bytes: usize, out: usize| {
        let (bytes, mut out) = (vec![0xFF; bytes], vec![7; out]);
        let x = Dense { element_type: DataType::Float16, shape, bytes: &bytes };
        let result = is_nan().run(x, &mut out[..]);
        assert!(result.is_ok() || out.iter().all(|&byte| byte == 7), "written before an error");
        result.map_err(|error| match error {
            onnx::Error::Memory {
                op: "IsNaN",
                since_version: 20,
                data_type: DataType::Float16,
                error,
            } => error,
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
    let x = Dense { element_type: DataType::Float16, shape: &[usize::MAX], bytes: &[] };
    assert_eq!(is_nan().run(x, &mut [0u8; 0][..]).unwrap_err().to_string(), text);
}

/// Quantized elements take no known number of bytes, but the output has to be right.
#[test]
fn output_of_constants() {
    let mut out = [7; 2];
    let x =
        Dense { element_type: stablehlo::ElementType::PerTensorQuantized, shape: &[3], bytes: &[] };
    let error = DenseError::OutputLength { elements: 3, output: 2 };
    let expected = stablehlo::Error::Memory { element_type: x.element_type, error };
    assert_eq!((stablehlo::IsFinite.run(x, &mut out[..]), out), (Err(expected), [7; 2]));
}
