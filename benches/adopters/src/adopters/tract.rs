//! tract: its operators IsNan and IsInf.

use nonfinite::Predicate;
use tract_core::internal::{Datum, ElementWiseMiniOp, Tensor, tensor1};
use tract_core::ops::math::{IsInf, IsNan};

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::mask;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "tract",
    package: "tract-core",
    what: "The operators `IsNan` and `IsInf` by `eval_out_of_place`; f32 and f16 only. Ours: \
           `mask_uninit`.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed(x),
        Column::F32(x) => typed(x),
        Column::F64(_) => Vec::new(),
    }
}

fn typed<T: Float + Datum>(x: &Values<T>) -> Vec<Pair> {
    if x.valid.is_some() {
        return Vec::new();
    }
    let is_inf = IsInf { detect_positive: true, detect_negative: true };
    vec![
        pair("mask of NaN", IsNan {}, Predicate::Nan, &x.values),
        pair("mask of Inf", is_inf, Predicate::Inf, &x.values),
    ]
}

fn pair<T: Float + Datum>(
    question: &'static str,
    operator: impl ElementWiseMiniOp,
    predicate: Predicate,
    x: &[T],
) -> Pair {
    let (theirs, ours) = (tensor1(x), x.to_vec());
    let run = move || operator.eval_out_of_place(&theirs, None).expect("floats");
    let each = |mask: Tensor| {
        let mask = mask.try_as_plain_ram().expect("in memory");
        Answer::mask(mask.as_slice::<bool>().expect("booleans").iter().copied())
    };
    Pair::new(
        question,
        Task::new(run, each),
        Task::new(move || mask(&ours, predicate), |mask| Answer::mask(mask.into_vec())),
    )
}
