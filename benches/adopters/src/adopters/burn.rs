//! Burn's ndarray backend, by the functions that its tensor type calls.

use burn_backend::{Backend, BoolDType, Element, TensorData, read_sync};
use burn_ndarray::NdArray;
use nonfinite::{Predicate, any_nan};

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::mask;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "burn",
    package: "burn-ndarray",
    what: "What `is_nan`, `is_finite` and `contains_nan` of a tensor call on the backend \
           `NdArray`, which has no f16. Ours: `mask_uninit`, `any_nan`.",
    pairs,
    note: None,
};

const BOOL: BoolDType = BoolDType::Native;

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F32(x) => typed::<NdArray, _>(x),
        Column::F64(x) => typed::<NdArray, _>(x),
        Column::F16(_) => Vec::new(),
    }
}

fn bools<B: Backend>(tensor: B::BoolTensorPrimitive) -> Vec<bool> {
    let data = read_sync(B::bool_into_data(tensor)).expect("data on the CPU");
    data.iter::<bool>().collect()
}

fn typed<B: Backend + 'static, T: Float + Element>(x: &Values<T>) -> Vec<Pair> {
    if x.valid.is_some() {
        return Vec::new();
    }
    let data = TensorData::new(x.values.clone(), [x.values.len()]);
    let tensor = B::float_from_data(data, &Default::default());
    let (theirs, values) = (|| tensor.clone(), || x.values.clone());
    let each = |mask: B::BoolTensorPrimitive| Answer::mask(bools::<B>(mask));
    let ours = |predicate| {
        let x = values();
        Task::new(move || mask(&x, predicate), |mask| Answer::mask(mask.into_vec()))
    };
    let (a, b, c) = (theirs(), theirs(), theirs());
    let is_nan = move || B::float_is_nan(a.clone(), BOOL);
    // As `Tensor::is_finite` does.
    let is_finite = move || {
        let not_nan = B::bool_not(B::float_is_nan(b.clone(), BOOL));
        B::bool_and(not_nan, B::bool_not(B::float_is_inf(b.clone(), BOOL)))
    };
    // As `Tensor::contains_nan` does.
    let contains_nan = move || {
        bools::<B>(B::bool_any(B::float_is_nan(c.clone(), BOOL))).into_iter().any(|any| any)
    };
    let x = values();
    vec![
        Pair::new("mask of NaN", Task::new(is_nan, each), ours(Predicate::Nan)),
        Pair::new("mask of finite", Task::new(is_finite, each), ours(Predicate::Finite)),
        Pair::new(
            "any NaN",
            Task::new(contains_nan, Answer::Flag),
            Task::new(move || any_nan(&x), Answer::Flag),
        ),
    ]
}
