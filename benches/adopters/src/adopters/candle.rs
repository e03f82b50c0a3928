//! Candle. It has no is-NaN: users compare a tensor with itself, or with a bound.

use candle_core::{DType, Device, Result, Tensor, WithDType};
use nonfinite::{Predicate, all_finite, count, stats};

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::{extremes, mask};
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "candle",
    package: "candle-core",
    what: "A mask by `x.ne(x)`, its sum as `u32`, the least of `x.abs().le(MAX)`, `min_all` and \
           `max_all`. Ours: `mask`, `count`, `all_finite`, and `stats`, which has the \
           indices and the other classes too.",
    pairs,
    note: Some(mistralrs),
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed(x, half::f16::MAX.into()),
        Column::F32(x) => typed(x, f32::MAX.into()),
        Column::F64(x) => typed(x, f64::MAX),
    }
}

fn typed<T: Float + WithDType>(x: &Values<T>, most: f64) -> Vec<Pair> {
    if x.valid.is_some() {
        return Vec::new();
    }
    let values = || x.values.clone();
    let tensor = Tensor::from_vec(values(), x.values.len(), &Device::Cpu).expect("a vector");
    let each = |mask: Tensor| {
        let mask = mask.to_vec1::<u8>().expect("bytes");
        Answer::mask(mask.into_iter().map(|byte| byte == 1))
    };
    let theirs = || tensor.clone();
    let (a, b) = (theirs(), values());
    let is_nan = Pair::new(
        "mask of NaN",
        Task::new(move || a.ne(&a).expect("one shape"), each),
        Task::new(move || mask(&b, Predicate::Nan), |mask| Answer::mask(mask.into_vec())),
    );
    let (a, b) = (theirs(), values());
    let nans = move || a.ne(&a)?.to_dtype(DType::U32)?.sum_all()?.to_scalar::<u32>();
    let how_many = Pair::new(
        "how many NaN",
        Task::new(nans, |sum| Answer::Count(sum.expect("a number") as usize)),
        Task::new(move || count(&b, Predicate::Nan), Answer::Count),
    );
    let (a, b) = (theirs(), values());
    let finite = move || a.abs()?.le(most)?.min_all()?.to_scalar::<u8>();
    let all = Pair::new(
        "all finite",
        Task::new(finite, |least| Answer::Flag(least.expect("a byte") == 1)),
        Task::new(move || all_finite(&b), Answer::Flag),
    );
    let mut pairs = vec![is_nan, how_many, all];
    if x.is_clean() {
        let (a, b) = (theirs(), values());
        let both = move || -> Result<[T; 2]> {
            Ok([a.min_all()?.to_scalar()?, a.max_all()?.to_scalar()?])
        };
        pairs.push(Pair::new(
            "min and max; ours: `stats`",
            Task::new(both, |both| Answer::Extremes(both.expect("numbers").map(Float::number))),
            Task::new(move || stats(&b), extremes),
        ));
    }
    pairs
}

/// The question of mistralrs-core 0.8.1, `xs.is_inf()?.any()?` (`layers.rs`, `TensorInfExtend`), by
/// the calls to candle that it comes down to: equality with +Inf, the sum of the bytes, and whether
/// that is 0.
fn mistralrs() -> String {
    let any_inf = |x: &[f32]| -> Result<bool> {
        let x = Tensor::from_slice(x, x.len(), &Device::Cpu)?;
        let is_inf = x.broadcast_eq(&Tensor::new(f32::INFINITY, &Device::Cpu)?)?;
        Ok(is_inf.sum_all()?.to_scalar::<u8>()? == 0)
    };
    let mut text = String::from(
        "mistralrs-core 0.8.1, `xs.is_inf()?.any()?`: equality with +Inf, then whether the sum of \
         the bytes is 0.\n\n| elements | its answer | `any(x, Predicate::Inf)` |\n|---|---|---|",
    );
    let cases: [(&str, &[f32]); 5] = [
        ("1, 2", &[1.0, 2.0]),
        ("1, +Inf", &[1.0, f32::INFINITY]),
        ("1, -Inf", &[1.0, f32::NEG_INFINITY]),
        ("256 of +Inf", &[f32::INFINITY; 256]),
        ("257 of +Inf", &[f32::INFINITY; 257]),
    ];
    for (name, x) in cases {
        let theirs = any_inf(x).map_or_else(|error| error.to_string(), |any| any.to_string());
        text += &format!("\n| {name} | {theirs} | {} |", nonfinite::any(x, Predicate::Inf));
    }
    text
}
