//! What is compared with the oracle.

use nonfinite::{Backend, Census, Elements, Predicate, TensorView};

use crate::stats::{Above, Summary};

/// An implementation of all sinks, such as a backend.
pub trait Subject {
    /// The name, for messages.
    fn name(&self) -> &str;
    /// 0 or 1 for each element.
    fn mask(&self, x: Elements<'_>, predicate: Predicate, out: &mut [u8]);
    /// One bit for each element, least significant first, from bit `offset` on. Other bits keep
    /// their values.
    fn bits(&self, x: Elements<'_>, predicate: Predicate, out: &mut [u8], offset: usize);
    /// Whether the predicate holds for any element.
    fn any(&self, x: Elements<'_>, predicate: Predicate) -> bool;
    /// Whether the predicate holds for all elements.
    fn all(&self, x: Elements<'_>, predicate: Predicate) -> bool;
    /// The number of elements for which the predicate holds.
    fn count(&self, x: Elements<'_>, predicate: Predicate) -> usize;
    /// The index of the first element for which the predicate holds.
    fn position(&self, x: Elements<'_>, predicate: Predicate) -> Option<usize>;
    /// The number and the first of NaN, +Inf and -Inf.
    fn census(&self, x: Elements<'_>) -> Census;
    /// The census, the extreme numbers, and zeros, subnormal and normal numbers.
    fn stats(&self, x: Elements<'_>) -> Summary;
    /// Which elements have a larger magnitude than a threshold.
    fn above(&self, x: Elements<'_>, threshold: f64) -> Above;
}

impl Subject for Backend {
    fn name(&self) -> &str {
        (*self).name()
    }
    fn mask(&self, x: Elements<'_>, predicate: Predicate, out: &mut [u8]) {
        TensorView::from(x).on(*self).mask(predicate, out).unwrap();
    }
    fn bits(&self, x: Elements<'_>, predicate: Predicate, out: &mut [u8], offset: usize) {
        TensorView::from(x).on(*self).bits(predicate, out, offset).unwrap();
    }
    fn any(&self, x: Elements<'_>, predicate: Predicate) -> bool {
        TensorView::from(x).on(*self).any(predicate)
    }
    fn all(&self, x: Elements<'_>, predicate: Predicate) -> bool {
        TensorView::from(x).on(*self).all(predicate)
    }
    fn count(&self, x: Elements<'_>, predicate: Predicate) -> usize {
        TensorView::from(x).on(*self).count(predicate)
    }
    fn position(&self, x: Elements<'_>, predicate: Predicate) -> Option<usize> {
        TensorView::from(x).on(*self).position(predicate)
    }
    fn census(&self, x: Elements<'_>) -> Census {
        TensorView::from(x).on(*self).census()
    }
    fn stats(&self, x: Elements<'_>) -> Summary {
        TensorView::from(x).on(*self).stats().into()
    }
    fn above(&self, x: Elements<'_>, threshold: f64) -> Above {
        Above::of(TensorView::from(x).on(*self), threshold)
    }
}
