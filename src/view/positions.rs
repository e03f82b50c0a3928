//! The iterator over hits.

use super::TensorView;
use super::part::Part;
use crate::Predicate;

/// The row-major indices of the elements for which a predicate holds: see
/// [`TensorView::positions`].
#[derive(Clone, Debug)]
pub struct Positions<'a> {
    view: TensorView<'a>,
    predicate: Predicate,
    /// Everything before this index is done.
    from: usize,
}

impl<'a> Positions<'a> {
    pub(super) fn new(view: TensorView<'a>, predicate: Predicate) -> Self {
        Self { view, predicate, from: 0 }
    }
}

impl Iterator for Positions<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.from < self.view.len() {
            let part = Part::after(&self.view, self.from);
            match part.position(self.predicate) {
                Some(index) => {
                    let index = self.from + index;
                    self.from = index + 1;
                    return Some(index);
                }
                None => self.from += part.len,
            }
        }
        None
    }
}

impl core::iter::FusedIterator for Positions<'_> {}
