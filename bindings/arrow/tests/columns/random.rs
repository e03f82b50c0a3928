//! Random arrays of every type that a column can have.

use std::sync::Arc;

use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Float16Array, Float32Array, Float64Array,
    Int16Array, Int32Array, LargeListArray, ListArray, ListViewArray, RunArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Field;
use half::f16;
use quickcheck::{Arbitrary, Gen};

/// An array, perhaps a slice.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) ArrayRef);

impl Arbitrary for Random {
    fn arbitrary(g: &mut Gen) -> Self {
        let rows = *g.choose(&[0, 1, 5, 70, 300]).unwrap();
        let depth = below(g, 4);
        Self(array(g, rows, depth))
    }
}

fn below(g: &mut Gen, end: usize) -> usize {
    usize::arbitrary(g) % end
}

/// An array of these rows.
fn array(g: &mut Gen, rows: usize, depth: usize) -> ArrayRef {
    // Some more, to be cut off.
    let (before, behind) = (below(g, 3) * below(g, 5), below(g, 4));
    let all = before + rows + behind;
    let array = match (depth, below(g, 4)) {
        (0, 0 | 1) => floats(g, all),
        (0, 2) => dictionary(g, all),
        (0, _) => runs(g, all),
        (_, 0) => structs(g, all, depth - 1),
        (_, 1) => fixed_size_lists(g, all, depth - 1),
        _ => lists(g, all, depth - 1),
    };
    array.slice(before, rows)
}

/// None, some or all are null.
fn nulls(g: &mut Gen, rows: usize) -> Option<NullBuffer> {
    let of = *g.choose(&[0, 1, 2, 20]).unwrap();
    (of > 0).then(|| (0..rows).map(|_| below(g, of) != 0).collect::<Vec<_>>().into())
}

fn floats(g: &mut Gen, rows: usize) -> ArrayRef {
    let rare = *g.choose(&[1, 4, 100, usize::MAX]).unwrap();
    // The smaller numbers are subnormal in f64, f32 and f16.
    let small = [1e-320, -1e-40, 6e-6];
    let edges = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, -3.25, 40.0];
    let edges = [&small[..], &edges].concat();
    let values: Vec<f64> = (0..rows)
        .map(|_| if below(g, rare) == 0 { *g.choose(&edges).unwrap() } else { 1.5 })
        .collect();
    let nulls = nulls(g, rows);
    match below(g, 3) {
        0 => Arc::new(Float64Array::new(values.into(), nulls)),
        1 => {
            let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
            Arc::new(Float32Array::new(values.into(), nulls))
        }
        _ => {
            let values: Vec<f16> = values.into_iter().map(f16::from_f64).collect();
            Arc::new(Float16Array::new(values.into(), nulls))
        }
    }
}

fn dictionary(g: &mut Gen, rows: usize) -> ArrayRef {
    let len = below(g, 6);
    let entries = floats(g, len);
    let keys = match len {
        0 => Int32Array::new_null(rows),
        _ => {
            let keys: Vec<i32> = (0..rows).map(|_| below(g, len) as i32).collect();
            Int32Array::new(keys.into(), nulls(g, rows))
        }
    };
    Arc::new(DictionaryArray::<Int32Type>::new(keys, entries))
}

fn runs(g: &mut Gen, rows: usize) -> ArrayRef {
    let mut ends = Vec::new();
    let mut end = 0;
    while end < rows {
        end = (end + 1 + below(g, 7)).min(rows);
        ends.push(end as i16);
    }
    let entries = floats(g, ends.len());
    Arc::new(RunArray::<Int16Type>::try_new(&Int16Array::from(ends), &entries).unwrap())
}

fn structs(g: &mut Gen, rows: usize, depth: usize) -> ArrayRef {
    let columns: Vec<ArrayRef> = (0..1 + below(g, 3)).map(|_| array(g, rows, depth)).collect();
    let field = |(i, column): (usize, &ArrayRef)| {
        Field::new(format!("f{i}"), column.data_type().clone(), true)
    };
    let fields: Vec<Field> = columns.iter().enumerate().map(field).collect();
    Arc::new(StructArray::new(fields.into(), columns, nulls(g, rows)))
}

fn fixed_size_lists(g: &mut Gen, rows: usize, depth: usize) -> ArrayRef {
    let size = 1 + below(g, 4);
    let values = array(g, rows * size, depth);
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    Arc::new(FixedSizeListArray::new(field, size as i32, values, nulls(g, rows)))
}

fn lists(g: &mut Gen, rows: usize, depth: usize) -> ArrayRef {
    let sizes: Vec<usize> = (0..rows).map(|_| below(g, 4)).collect();
    let len = sizes.iter().sum::<usize>() + below(g, 3);
    let values = array(g, len, depth);
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    match below(g, 3) {
        0 => {
            let offsets = OffsetBuffer::from_lengths(sizes);
            Arc::new(ListArray::new(field, offsets, values, nulls(g, rows)))
        }
        1 => {
            let offsets = OffsetBuffer::from_lengths(sizes);
            Arc::new(LargeListArray::new(field, offsets, values, nulls(g, rows)))
        }
        _ => {
            // In any order, and overlapping.
            let first = |size: &usize| below(g, values.len() - size + 1) as i32;
            let offsets: Vec<i32> = sizes.iter().map(first).collect();
            let sizes: Vec<i32> = sizes.into_iter().map(|size| size as i32).collect();
            let nulls = nulls(g, rows);
            Arc::new(ListViewArray::new(field, offsets.into(), sizes.into(), values, nulls))
        }
    }
}
