//! From an index to a coordinate.

use core::fmt;

/// The coordinate of an element: an iterator over one number for each dimension, outermost first.
/// See [`crate::TensorView::coordinate`].
#[derive(Clone)]
pub struct Coordinate<'v> {
    /// The dimensions whose numbers are left.
    pub(super) shape: &'v [usize],
    /// The row-major index within these dimensions.
    pub(super) index: usize,
}

impl Iterator for Coordinate<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (_, inner) = self.shape.split_first()?;
        let elements: usize = inner.iter().product();
        let place = self.index / elements;
        (self.shape, self.index) = (inner, self.index % elements);
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.shape.len(), Some(self.shape.len()))
    }
}

impl ExactSizeIterator for Coordinate<'_> {}

impl core::iter::FusedIterator for Coordinate<'_> {}

/// Such as `[1, 0]`.
impl fmt::Debug for Coordinate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
