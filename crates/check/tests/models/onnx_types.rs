//! Data types and fields of ONNX that few models have.

use std::fs;

use nonfinite_check::{FileFormat, Options, check_bytes, check_file};

use crate::check;
use crate::folder::folder;
use crate::onnx::{bytes, model, number, tensor};
use crate::varint::varint;

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

/// Bytes are looked at as floats if the options say so, wherever they are.
#[test]
fn bytes_taken_as_floats() {
    let folder = folder("onnx-bytes");
    fs::write(folder.join("data"), [1, 2, 0xFF]).unwrap();
    let path = folder.join("model.onnx");
    let location = bytes(13, &[bytes(1, b"location"), bytes(2, b"data")].concat());
    let options = Options { taken_as: vec!["*=f8e8m0fnu".parse().unwrap()], ..Options::default() };
    for code in [2, 3] {
        for content in [
            vec![bytes(9, &[1, 2, 0xFF])],
            vec![bytes(5, &[&[1, 2][..], &varint(0xFF)].concat())],
            vec![location.clone(), number(14, 1)],
        ] {
            fs::write(&path, model(&[bytes(5, &tensor("s", code, &[3], &content))])).unwrap();
            let report = check_file(&path, &options).unwrap();
            let nan = report.tensors[0].found.nan.first.as_ref();
            assert_eq!(nan.map(|nan| &nan.coordinate[..]), Some(&[2][..]), "{code}");
        }
        // Data of another length than that of the shape is no such tensor.
        let short = tensor("s", code, &[4], &[bytes(9, &[1, 2, 0xFF])]);
        let report = check_bytes(&model(&[bytes(5, &short)]), FileFormat::ONNX, &options);
        assert!(!report.unwrap().is_complete(), "{code}");
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
