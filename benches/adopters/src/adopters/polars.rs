//! Polars: what its float columns have (`chunked_array/float.rs`).

use half::f16;
use nonfinite::{Element, Predicate};
use polars_arrow::array::BooleanArray;
use polars_arrow::bitmap::Bitmap;
use polars_arrow::datatypes::ArrowDataType;
use polars_core::prelude::{
    BooleanChunked, ChunkedArray, Float16Type, Float32Type, Float64Type, NewChunkedArray,
    PlSmallStr, PolarsFloatType,
};
use polars_utils::float16::pf16;

use super::Adopter;
use crate::data::{Column, Values};
use crate::ours::{any_nan, bytes, count_nan};
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "polars",
    package: "polars-core",
    what: "`is_finite`, `is_nan`, and `sum` and `any` of this. Ours: `bits` into a new \
           `BooleanChunked` with the nulls of the input, `count`, `any_nan`, of nulls under \
           `with_validity`.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed::<f16, Float16Type>(x, |x| pf16(x)),
        Column::F32(x) => typed::<f32, Float32Type>(x, |x| x),
        Column::F64(x) => typed::<f64, Float64Type>(x, |x| x),
    }
}

fn typed<E: Element, T>(x: &Values<E>, native: fn(E) -> T::Native) -> Vec<Pair>
where
    T: PolarsFloatType<Native: num_traits::Float>,
    ChunkedArray<T>: NewChunkedArray<T, T::Native>,
{
    let name = PlSmallStr::from_static("x");
    let column = match &x.valid {
        None => {
            let values: Vec<_> = x.values.iter().map(|x| native(*x)).collect();
            ChunkedArray::<T>::from_slice(name.clone(), &values)
        }
        Some(valid) => {
            let some = |(x, valid): (&E, &bool)| valid.then(|| native(*x));
            let values: Vec<_> = x.values.iter().zip(valid).map(some).collect();
            ChunkedArray::<T>::from_slice_options(name.clone(), &values)
        }
    };
    let each = |column: BooleanChunked| Answer::Mask(column.iter().collect());
    // Under a null ours has what was drawn, theirs nothing; neither answer depends on that.
    let validity = column.downcast_iter().next().and_then(|chunk| chunk.validity().cloned());
    let theirs = || column.clone();
    let bits = |question, predicate, run: fn(&ChunkedArray<T>) -> BooleanChunked| {
        let (a, b, name, validity) = (theirs(), x.values.clone(), name.clone(), validity.clone());
        let ours = move || {
            let bits = Bitmap::from_u8_vec(bytes(&b, predicate), b.len());
            let array = BooleanArray::new(ArrowDataType::Boolean, bits, validity.clone());
            BooleanChunked::with_chunk(name.clone(), array)
        };
        Pair::new(question, Task::new(move || run(&a), each), Task::new(ours, each))
    };
    let mut pairs = vec![
        bits("bits of NaN", Predicate::Nan, |x| x.is_nan()),
        bits("bits of finite", Predicate::Finite, |x| x.is_finite()),
    ];
    let (a, b, bitmap) = (theirs(), x.values.clone(), x.bitmap());
    pairs.push(Pair::new(
        "how many NaN",
        Task::new(move || a.is_nan().sum(), |sum| Answer::Count(sum.unwrap_or(0) as usize)),
        Task::new(move || count_nan(&b, bitmap.as_deref()), Answer::Count),
    ));
    let (a, b, bitmap) = (theirs(), x.values.clone(), x.bitmap());
    pairs.push(Pair::new(
        "any NaN",
        Task::new(move || a.is_nan().any(), Answer::Flag),
        Task::new(move || any_nan(&b, bitmap.as_deref()), Answer::Flag),
    ));
    pairs
}
