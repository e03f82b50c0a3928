//! What is compared: views, and in `tests/backends/known_bad.rs` implementations that are wrong.

use std::fmt::Debug;

use nonfinite::{Census, Predicate, TensorView, ValidView};

use crate::expected::Asked;
use crate::stats::Summary;

/// What answers as a view does. `Debug` names it in messages.
pub trait Subject: Debug {
    /// 0 or 1 for each element. Not asked for under nulls.
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
    /// Whether the predicate holds for all elements.
    fn all(&self, predicate: Predicate) -> bool;
    /// The first `most` indices of elements for which the predicate holds.
    fn positions(&self, predicate: Predicate, most: usize) -> Vec<usize>;
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

/// The methods that both kinds of views have.
macro_rules! questions {
    () => {
        fn bits(&self, asked: Asked, out: &mut [u8], offset: usize) {
            match asked {
                Asked::Is(predicate) => self.bits(predicate, out, offset),
                Asked::Above(threshold) => self.exceeds(threshold).unwrap().bits(out, offset),
            }
            .unwrap();
        }
        fn any(&self, asked: Asked) -> bool {
            match asked {
                Asked::Is(predicate) => self.any(predicate),
                Asked::Above(threshold) => self.exceeds(threshold).unwrap().any(),
            }
        }
        fn count(&self, asked: Asked) -> usize {
            match asked {
                Asked::Is(predicate) => self.count(predicate),
                Asked::Above(threshold) => self.exceeds(threshold).unwrap().count(),
            }
        }
        fn position(&self, asked: Asked) -> Option<usize> {
            match asked {
                Asked::Is(predicate) => self.position(predicate),
                Asked::Above(threshold) => self.exceeds(threshold).unwrap().position(),
            }
        }
        fn all(&self, predicate: Predicate) -> bool {
            self.all(predicate)
        }
        fn positions(&self, predicate: Predicate, most: usize) -> Vec<usize> {
            (*self).positions(predicate).take(most).collect()
        }
        fn census(&self) -> Census {
            self.census()
        }
        fn stats(&self) -> Summary {
            self.stats().into()
        }
    };
}

impl Subject for TensorView<'_> {
    questions!();

    fn mask(&self, asked: Asked, out: &mut [u8]) {
        match asked {
            Asked::Is(predicate) => self.mask(predicate, out),
            Asked::Above(threshold) => self.exceeds(threshold).unwrap().mask(out),
        }
        .unwrap();
    }
    fn valid_count(&self) -> usize {
        self.len()
    }
    fn view(&self) -> Option<&TensorView<'_>> {
        Some(self)
    }
}

impl Subject for ValidView<'_> {
    questions!();

    fn mask(&self, _: Asked, _: &mut [u8]) {
        unreachable!("a view with nulls has no mask");
    }
    fn valid_count(&self) -> usize {
        self.valid_count()
    }
}
