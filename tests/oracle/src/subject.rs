//! What is compared: views, and in `tests/backends/known_bad.rs` implementations that are wrong.

use std::fmt::Debug;

use nonfinite::{Census, TensorView};

use crate::expected::Asked;
use crate::stats::Summary;

/// What answers as a view does. `Debug` names it in messages.
pub trait Subject: Debug {
    /// 0 or 1 for each element.
    fn mask(&self, asked: Asked, out: &mut [u8]);
    /// One bit for each element, least significant first, from bit `offset` on. Other bits keep
    /// their values.
    fn bits(&self, asked: Asked, out: &mut [u8], offset: usize);
    /// Whether any element is asked for.
    fn any(&self, asked: Asked) -> bool;
    /// How many are.
    fn count(&self, asked: Asked) -> usize;
    /// The index of the first.
    fn position(&self, asked: Asked) -> Option<usize>;
    /// Whether all valid elements are asked for.
    fn all(&self, asked: Asked) -> bool;
    /// The first `most` indices of elements that are asked for.
    fn positions(&self, asked: Asked, most: usize) -> Vec<usize>;
    /// The number and the first of NaN, +Inf and -Inf.
    fn census(&self) -> Census;
    /// The census, the extreme numbers, and zeros, subnormal and normal numbers.
    fn stats(&self) -> Summary;
    /// How many elements are valid.
    fn valid_count(&self) -> usize;
    /// The view, if its rows and outputs with strides are to be checked.
    fn view(&self) -> Option<&TensorView<'_>> {
        None
    }
}

impl Subject for TensorView<'_> {
    fn mask(&self, asked: Asked, out: &mut [u8]) {
        self.mask(asked.of(self.format()), out).unwrap();
    }
    fn bits(&self, asked: Asked, out: &mut [u8], offset: usize) {
        self.bits(asked.of(self.format()), out, offset).unwrap();
    }
    fn any(&self, asked: Asked) -> bool {
        self.any(asked.of(self.format()))
    }
    fn count(&self, asked: Asked) -> usize {
        self.count(asked.of(self.format()))
    }
    fn position(&self, asked: Asked) -> Option<usize> {
        self.position(asked.of(self.format()))
    }
    fn all(&self, asked: Asked) -> bool {
        self.all(asked.of(self.format()))
    }
    fn positions(&self, asked: Asked, most: usize) -> Vec<usize> {
        (*self).positions(asked.of(self.format())).take(most).collect()
    }
    fn census(&self) -> Census {
        self.census()
    }
    fn stats(&self) -> Summary {
        self.stats().into()
    }
    fn valid_count(&self) -> usize {
        self.valid_count()
    }
    fn view(&self) -> Option<&TensorView<'_>> {
        Some(self)
    }
}
