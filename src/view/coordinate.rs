//! From an index to a coordinate.

use core::fmt;

use super::TensorView;
use crate::Error;

/// The coordinate of an element: an iterator over one number for each dimension, outermost first.
/// See [`TensorView::coordinate`].
#[derive(Clone)]
pub struct Coordinate<'v> {
    /// The dimensions whose numbers are left.
    shape: &'v [usize],
    /// The row-major index within these dimensions.
    index: usize,
}

impl TensorView<'_> {
    /// The coordinate of the element with this row-major index.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [1.0f32, 2.0, f32::NAN, f32::INFINITY];
    /// let view = TensorView::shaped(&x, &[2, 2])?;
    /// let nan = view.position(Predicate::Nan).unwrap();
    /// assert!(view.coordinate(nan)?.eq([1, 0]));
    /// assert_eq!(format!("NaN at {:?}", view.coordinate(nan)?), "NaN at [1, 0]");
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Index`] if there is no such element.
    pub fn coordinate(&self, index: usize) -> Result<Coordinate<'_>, Error> {
        match self.len() {
            elements if index < elements => Ok(Coordinate { shape: self.shape(), index }),
            elements => Err(Error::Index { index, elements }),
        }
    }
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
