//! Finds NaN and infinities in tensors and models of rten.
//!
//! ```
//! use nonfinite::Predicate;
//! use rten_tensor::Tensor;
//! use rten_tensor::prelude::*;
//!
//! let logits = Tensor::from([[1.0, f32::NAN], [f32::INFINITY, 2.0]]);
//! let mask = nonfinite_rten::mask(logits.view(), Predicate::Finite);
//! assert_eq!(mask, Tensor::from([[1, 0], [0, 1]]));
//! assert_eq!(nonfinite_rten::position(logits.view(), Predicate::Nan), Some(vec![0, 1]));
//! ```
//!
//! The only floating-point type of rten is f32: it converts f64 and f16 when it loads a model.
//! Tensors that lie densely in memory are read in place; others are copied first, as rten gives out
//! their memory only to unsafe code.

mod model;

use std::borrow::Cow;

pub use model::{BadValue, Replaced, first, run};
use nonfinite::{Census, Predicate};
use rten_tensor::prelude::*;
use rten_tensor::{Tensor, TensorView};

/// How many elements are classified at a time, before their answers are widened to `i32`.
const CHUNK: usize = 4096;

/// A tensor of the same shape: 1 where `predicate` holds, else 0. These are the values, and the
/// type, that rten's operators IsNaN and IsInf return.
#[must_use]
pub fn mask(x: TensorView<'_, f32>, predicate: Predicate) -> Tensor<i32> {
    let values = elements(&x);
    let mut answers = [0u8; CHUNK];
    let mut out = Vec::with_capacity(values.len());
    for chunk in values.chunks(CHUNK) {
        let answers = &mut answers[..chunk.len()];
        nonfinite::mask(chunk, predicate, &mut *answers);
        out.extend(answers.iter().map(|answer| i32::from(*answer)));
    }
    Tensor::from_data(x.shape(), out)
}

/// Whether `predicate` holds for any element.
#[must_use]
pub fn any(x: TensorView<'_, f32>, predicate: Predicate) -> bool {
    nonfinite::any(&elements(&x), predicate)
}

/// Whether `predicate` holds for all elements.
#[must_use]
pub fn all(x: TensorView<'_, f32>, predicate: Predicate) -> bool {
    nonfinite::all(&elements(&x), predicate)
}

/// The coordinate of the first element, in row-major order, for which `predicate` holds.
#[must_use]
pub fn position(x: TensorView<'_, f32>, predicate: Predicate) -> Option<Vec<usize>> {
    let mut index = nonfinite::position(&elements(&x), predicate)?;
    let shape = x.shape();
    let mut coordinate = vec![0; shape.len()];
    for (coordinate, size) in coordinate.iter_mut().zip(shape.iter()).rev() {
        *coordinate = index % size;
        index /= size;
    }
    Some(coordinate)
}

/// The number of NaN, +Inf and -Inf, and the row-major index of the first of each.
#[must_use]
pub fn census(x: TensorView<'_, f32>) -> Census {
    nonfinite::census(&elements(&x))
}

/// The elements in row-major order.
fn elements<'a>(x: &TensorView<'a, f32>) -> Cow<'a, [f32]> {
    match x.data() {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(x.to_vec()),
    }
}
