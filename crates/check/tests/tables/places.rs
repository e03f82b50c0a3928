//! The common pattern of the places of bad numbers in a column.

use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, ListArray, RecordBatch};
use arrow_ipc::writer::IpcWriteOptions;
use nonfinite_check::{FileFormat, Options, Places, check_bytes};

use crate::arrow::{batch, f32s, write};

fn places(batches: &[RecordBatch]) -> Option<Box<Places>> {
    let bytes = write(batches, true, IpcWriteOptions::default());
    let options = Options { draw: true, ..Options::default() };
    let report = check_bytes(&bytes, FileFormat::ARROW, &options).expect("a good table");
    assert!(report.is_bad());
    report.tensors[0].places.clone()
}

fn x(array: impl Into<ArrayRef>) -> RecordBatch {
    batch(&[("x", array.into())])
}

/// Rows are counted over batches, and those that are null are not bad.
#[test]
fn rows() {
    let value = |row| if row < 40 { f32::NAN } else { 1.0 };
    let nulls = (0..700).map(|row| (row != 20).then(|| value(row)));
    let nulls: ArrayRef = Arc::new(Float32Array::from(nulls.collect::<Vec<_>>()));
    let places = places(&[x(f32s(vec![1.0; 300])), x(nulls)]).unwrap();
    assert_eq!((places.elements, places.of), (39, 1000));
    assert_eq!(places.statement("x"), "indices 300-319, 321-339 only, in full");
    let map = places.map.unwrap();
    let lit: Vec<_> = map.lit.iter().map(|lit| (lit.cell, lit.elements)).collect();
    // Steps of 16 rows: 288-303, 304-319, 320-335, 336-351.
    assert_eq!((map.columns.step, lit), (16, vec![(18, 4), (19, 16), (20, 15), (21, 4)]));
}

#[test]
fn lists_of_fixed_size() {
    let rows = vec![Some([Some(1.0), Some(f32::NAN), Some(1.0)]); 100];
    let list = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 3);
    let places = places(&[x(Arc::new(list) as ArrayRef)]).unwrap();
    assert_eq!(places.statement("embedding"), "column 1 only, in full");
}

/// These have no places: their shape has no axis for the index in a list.
#[test]
fn lists_of_varying_length() {
    let list = |rows: [&[f32]; 3]| {
        let rows = rows.map(|row| Some(row.iter().copied().map(Some).collect::<Vec<_>>()));
        x(Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows)) as ArrayRef)
    };
    let nan = f32::NAN;
    // As many numbers as rows: a place is a row then, and a row counts once.
    let first = places(&[list([&[nan, 1.0], &[], &[nan]])]).unwrap();
    assert_eq!(first.statement("l"), "indices 0, 2 only, in full");
    assert_eq!(places(&[list([&[nan, nan], &[], &[1.0]])]).unwrap().elements, 1);
    assert_eq!(places(&[list([&[nan, 1.0], &[], &[nan, 1.0]])]), None);
}
