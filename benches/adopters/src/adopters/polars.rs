//! Polars: `is_nan` and `is_finite` of a column.

use nonfinite::{Predicate, bits_at};
use polars_arrow::array::BooleanArray;
use polars_arrow::bitmap::Bitmap;
use polars_core::prelude::{
    BooleanChunked, ChunkedArray, Float16Type, Float32Type, Float64Type, PlSmallStr,
    PolarsFloatType, PolarsNumericType,
};

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::count_nan;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "polars",
    package: "polars-core",
    what: "`is_nan` and `is_finite` of a `ChunkedArray` of one chunk, and `num_trues` of the \
           first. Ours: `bits` into a new `BooleanChunked` with the nulls of the input, and \
           `count`, of nulls under `with_validity`.",
    pairs,
    note: None,
};

/// A function of a column.
type Asked<P> = fn(&ChunkedArray<P>) -> BooleanChunked;

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => {
            let theirs = [ChunkedArray::is_nan, ChunkedArray::is_finite];
            typed::<Float16Type, _>(x, |x| (x.number() as f32).into(), theirs)
        }
        Column::F32(x) => {
            typed::<Float32Type, _>(x, |x| x, [ChunkedArray::is_nan, ChunkedArray::is_finite])
        }
        Column::F64(x) => {
            typed::<Float64Type, _>(x, |x| x, [ChunkedArray::is_nan, ChunkedArray::is_finite])
        }
    }
}

fn typed<P: PolarsFloatType, T: Float>(
    x: &Values<T>,
    native: fn(T) -> <P as PolarsNumericType>::Native,
    [is_nan, is_finite]: [Asked<P>; 2],
) -> Vec<Pair> {
    let validity: Option<Bitmap> = x.valid.as_ref().map(|valid| valid.iter().copied().collect());
    let values = x.values.iter().map(|x| native(*x)).collect();
    let column = ChunkedArray::<P>::from_vec_validity(name(), values, validity.clone());
    let each = |mask: BooleanChunked| Answer::Mask(mask.iter().collect());
    let bits = |question, theirs: Asked<P>, predicate| {
        let (a, b, validity) = (column.clone(), x.values.clone(), validity.clone());
        let ours = move || {
            let mut bits = vec![0; b.len().div_ceil(8)];
            bits_at(&b, predicate, &mut bits, 0);
            let bits = Bitmap::from_u8_vec(bits, b.len());
            let array = BooleanArray::from(bits).with_validity(validity.clone());
            BooleanChunked::with_chunk(name(), array)
        };
        Pair::new(question, Task::new(move || theirs(&a), each), Task::new(ours, each))
    };
    let (a, b, bitmap) = (column.clone(), x.values.clone(), x.bitmap());
    let how_many = Pair::new(
        "how many NaN",
        Task::new(move || is_nan(&a).num_trues(), Answer::Count),
        Task::new(move || count_nan(&b, bitmap.as_deref()), Answer::Count),
    );
    vec![
        bits("bits of NaN", is_nan, Predicate::Nan),
        bits("bits of finite", is_finite, Predicate::Finite),
        how_many,
    ]
}

fn name() -> PlSmallStr {
    PlSmallStr::from_static("x")
}
