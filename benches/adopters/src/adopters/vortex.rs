//! Vortex: its aggregate `nan_count`.

use std::cell::RefCell;

use vortex_array::aggregate_fn::fns::nan_count::nan_count;
use vortex_array::arrays::PrimitiveArray;
use vortex_array::dtype::NativePType;
use vortex_array::validity::Validity;
use vortex_array::{IntoArray, VortexSessionExecute, array_session};
use vortex_buffer::Buffer;

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::count_nan;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "vortex",
    package: "vortex-array",
    what: "`nan_count` of a primitive array. It keeps its answer with the array, so each call has \
           a new array of the same buffer. Ours: `count`, of nulls under `with_validity`.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed(x),
        Column::F32(x) => typed(x),
        Column::F64(x) => typed(x),
    }
}

fn typed<T: Float + NativePType>(x: &Values<T>) -> Vec<Pair> {
    let buffer = Buffer::<T>::from(x.values.clone());
    let validity = match &x.valid {
        None => Validity::NonNullable,
        Some(valid) => Validity::from_iter(valid.iter().copied()),
    };
    let context = RefCell::new(array_session().create_execution_ctx());
    let theirs = move || {
        let array = PrimitiveArray::new(buffer.clone(), validity.clone()).into_array();
        nan_count(&array, &mut context.borrow_mut()).expect("an array of floats")
    };
    let (ours, bitmap) = (x.values.clone(), x.bitmap());
    vec![Pair::new(
        "how many NaN",
        Task::new(theirs, Answer::Count),
        Task::new(move || count_nan(&ours, bitmap.as_deref()), Answer::Count),
    )]
}
