//! Lance: which vectors of an index are finite.

use std::sync::Arc;

use arrow_array_58::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array_58::{Array, BooleanArray, FixedSizeListArray, PrimitiveArray};
use arrow_buffer_58::BooleanBuffer;
use arrow_schema_58::Field;
use lance_index::vector::utils::is_finite;
use nonfinite::{Predicate, any_rows};

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "lance",
    package: "lance-index",
    what: "`vector::utils::is_finite` of vectors of 128 elements. Ours: `any_rows`, negated, into \
           a new `BooleanArray`.",
    pairs,
    note: None,
};

const DIMENSION: usize = 128;

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed::<Float16Type>(x),
        Column::F32(x) => typed::<Float32Type>(x),
        Column::F64(x) => typed::<Float64Type>(x),
    }
}

fn typed<T: ArrowPrimitiveType<Native: Float>>(x: &Values<T::Native>) -> Vec<Pair> {
    let rows = x.values.len() / DIMENSION;
    if x.valid.is_some() || rows == 0 {
        return Vec::new();
    }
    let values = x.values[..rows * DIMENSION].to_vec();
    let array = Arc::new(PrimitiveArray::<T>::new(values.clone().into(), None));
    let field = Arc::new(Field::new("item", T::DATA_TYPE, true));
    let vectors = FixedSizeListArray::new(field, DIMENSION as i32, array, None);
    let ours = move || {
        let mut special = vec![false; rows];
        any_rows(&values, DIMENSION, Predicate::NonFinite, &mut special);
        BooleanArray::from(BooleanBuffer::collect_bool(rows, |row| !special[row]))
    };
    let each = |array: BooleanArray| Answer::Mask(array.iter().collect());
    let theirs = Task::new(move || is_finite(&vectors), each);
    vec![Pair::new("which vectors are finite", theirs, Task::new(ours, each))]
}
