//! Vortex: its aggregate `nan_count`.

use std::cell::RefCell;

use nonfinite::{Predicate, count};
use vortex_array::aggregate_fn::fns::nan_count::nan_count;
use vortex_array::arrays::PrimitiveArray;
use vortex_array::dtype::NativePType;
use vortex_array::validity::Validity;
use vortex_array::{IntoArray, VortexSessionExecute, array_session};
use vortex_buffer::Buffer;

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "vortex",
    package: "vortex-array",
    what: "`nan_count` of a primitive array. It keeps its answer with the array, so each call has \
           a new array of the same buffer. Ours: `count`.",
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
    if x.valid.is_some() {
        return Vec::new();
    }
    let buffer = Buffer::<T>::from(x.values.clone());
    let context = RefCell::new(array_session().create_execution_ctx());
    let theirs = move || {
        let array = PrimitiveArray::new(buffer.clone(), Validity::NonNullable).into_array();
        nan_count(&array, &mut context.borrow_mut()).expect("an array of floats")
    };
    let ours = x.values.clone();
    vec![Pair::new(
        "how many NaN",
        Task::new(theirs, Answer::Count),
        Task::new(move || count(&ours, Predicate::Nan), Answer::Count),
    )]
}
