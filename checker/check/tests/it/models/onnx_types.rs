//! Data types and fields of ONNX that few models have.

use nonfinite_check::FileFormat;

use super::onnx::{bytes, model, tensor, varint};
use crate::check;

#[test]
fn complex_numbers() {
    let singles = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let doubles = [1.0, f64::NAN].map(f64::to_le_bytes).concat();
    for (code, data) in [(14, singles), (15, doubles)] {
        let report = check(
            &model(&[bytes(5, &tensor("c", code, &[1], &[bytes(9, &data)]))]),
            FileFormat::ONNX,
        );
        assert_eq!(report.tensors[0].found.nan.count, 1, "{code}");
        assert!(report.is_complete(), "{code}");
    }
}

/// The dimensions as one packed field.
#[test]
fn packed_dimensions() {
    let dims = bytes(1, &[varint(1), varint(2)].concat());
    let data = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let report = check(
        &model(&[bytes(5, &tensor("w", 1, &[], &[dims, bytes(9, &data)]))]),
        FileFormat::ONNX,
    );
    assert_eq!(report.tensors[0].shape, [1, 2]);
    assert_eq!(report.tensors[0].found.nan.first.as_ref().unwrap().coordinate, [0, 1]);
}

/// The default of an attribute of a function, and indices of a sparse tensor that are floats.
#[test]
fn defaults_and_indices() {
    let float = [varint(2 << 3 | 5), f32::NAN.to_le_bytes().to_vec()].concat();
    let default = bytes(11, &[bytes(1, b"alpha"), float].concat());
    let function = bytes(25, &[bytes(1, b"f"), default].concat());
    assert!(check(&[model(&[]), function].concat(), FileFormat::ONNX).is_bad());

    let indices = |code, data: &[u8]| {
        let values = tensor("s", 1, &[1], &[bytes(9, &[0; 4])]);
        let indices = tensor("i", code, &[1], &[bytes(9, data)]);
        let sparse = bytes(15, &[bytes(1, &values), bytes(2, &indices)].concat());
        check(&model(&[sparse]), FileFormat::ONNX)
    };
    let report = indices(7, &[0xFF; 8]);
    assert!(!report.is_bad() && report.is_complete());
    assert_eq!(report.tensors.len(), 1);
    assert!(indices(1, &f32::NAN.to_le_bytes()).is_bad());
}
