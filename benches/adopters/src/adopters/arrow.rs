//! arrow-rs: what its users write for "is NaN", and its `min` and `max`.

use arrow_arith::aggregate::{max, min};
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer};
use nonfinite::{Predicate, any_nan, stats};

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::{count_nan, extremes, words};
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "arrow",
    package: "arrow-array",
    what: "`BooleanArray::from_unary(&x, f32::is_nan)`, `true_count` of this, and `arrow_arith`'s \
           `max` and `min`, one of which is NaN if an element is. Ours: `bits` into a new \
           `BooleanArray`, `count`, of nulls under `with_validity`, `any_nan`, and `stats`.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed::<Float16Type>(x),
        Column::F32(x) => typed::<Float32Type>(x),
        Column::F64(x) => typed::<Float64Type>(x),
    }
}

fn typed<T: ArrowPrimitiveType<Native: Float>>(values: &Values<T::Native>) -> Vec<Pair> {
    let bitmap = values.bitmap();
    let nulls = values.valid.clone().map(Into::into);
    let array = PrimitiveArray::<T>::new(values.values.clone().into(), nulls);
    let each = |array: BooleanArray| Answer::Mask(array.iter().collect());
    let is_nan = |array: &PrimitiveArray<T>| BooleanArray::from_unary(array, Float::nan);
    let x = || array.clone();
    let (a, b) = (x(), x());
    let mut pairs = vec![Pair::new(
        "bits of NaN",
        Task::new(move || is_nan(&a), each),
        Task::new(
            move || {
                let buffer = Buffer::from_vec(words(b.values(), Predicate::Nan));
                BooleanArray::new(BooleanBuffer::new(buffer, 0, b.len()), b.nulls().cloned())
            },
            each,
        ),
    )];
    let (a, b, bitmap) = (x(), x(), bitmap);
    pairs.push(Pair::new(
        "how many NaN",
        Task::new(move || is_nan(&a).true_count(), Answer::Count),
        Task::new(move || count_nan(b.values(), bitmap.as_deref()), Answer::Count),
    ));
    if array.nulls().is_none() {
        let (a, b) = (x(), x());
        let nan = |found: Option<T::Native>| found.is_some_and(Float::nan);
        pairs.push(Pair::new(
            "any NaN, by min and max",
            Task::new(move || nan(max(&a)) || nan(min(&a)), Answer::Flag),
            Task::new(move || any_nan(b.values()), Answer::Flag),
        ));
    }
    if values.is_clean() {
        let (a, b) = (x(), x());
        let value = |found: Option<T::Native>| found.expect("an element").number();
        pairs.push(Pair::new(
            "min and max; ours: `stats`",
            Task::new(move || [min(&a), max(&a)], move |both| Answer::Extremes(both.map(value))),
            Task::new(move || stats(b.values()), extremes),
        ));
    }
    pairs
}
