//! The first hit: its index and its coordinate.

use core::fmt;
use core::ops::Deref;

use nonfinite_kernels::strided::MOST_DIMENSIONS;

use super::{TensorView, ValidView};
use crate::{Error, Predicate};

/// An element for which a predicate holds: see [`TensorView::first`] and [`ValidView::first`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Hit {
    /// The row-major index of the element.
    pub index: usize,
    /// The coordinate of the element.
    pub coordinate: Coordinate,
}

/// The coordinate of an element: a slice with one number for each dimension, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// Zeros after the last dimension.
    places: [usize; MOST_DIMENSIONS],
    rank: usize,
}

impl Deref for Coordinate {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.places[..self.rank]
    }
}

impl fmt::Debug for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl TensorView<'_> {
    /// The first element for which `predicate` holds, in row-major order: its index and its
    /// coordinate.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [0.0f32, 1.0, 2.0, 3.0, f32::NAN, 5.0];
    /// let (rows, columns) = (2, 3);
    /// let hit = TensorView::shaped(&x, &[rows, columns])?.first(Predicate::Nan).unwrap();
    /// assert_eq!((hit.index, &hit.coordinate[..]), (4, &[1, 1][..]));
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    #[must_use]
    pub fn first(&self, predicate: Predicate) -> Option<Hit> {
        let index = self.position(predicate)?;
        Some(Hit { index, coordinate: self.place(index) })
    }

    /// The coordinate of the element with this row-major index.
    ///
    /// ```
    /// # use nonfinite::TensorView;
    /// let x = [1.0f32, f32::INFINITY, f32::NAN, 2.0];
    /// let view = TensorView::shaped(&x, &[2, 2])?;
    /// let nan = view.census().nan.first.unwrap();
    /// assert_eq!(&view.coordinate(nan)?[..], [1, 0]);
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Index`] if there is no such element.
    pub fn coordinate(&self, index: usize) -> Result<Coordinate, Error> {
        let elements = self.len();
        if index < elements { Ok(self.place(index)) } else { Err(Error::Index { index, elements }) }
    }

    fn place(&self, mut index: usize) -> Coordinate {
        let sizes = self.sizes();
        let mut places = [0; MOST_DIMENSIONS];
        for (place, size) in places.iter_mut().zip(sizes).rev() {
            (*place, index) = (index % size, index / size);
        }
        Coordinate { places, rank: sizes.len() }
    }
}

impl ValidView<'_> {
    /// [`TensorView::first`] of the valid elements. The index counts nulls too.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// // The first NaN is the memory of a null.
    /// let x = [f32::NAN, 1.0, f32::NAN, 2.0];
    /// let x = TensorView::shaped(&x, &[2, 2])?.with_validity(&[0b1110], 0)?;
    /// assert_eq!(&x.first(Predicate::Nan).unwrap().coordinate[..], [1, 0]);
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    #[must_use]
    pub fn first(&self, predicate: Predicate) -> Option<Hit> {
        let index = self.position(predicate)?;
        Some(Hit { index, coordinate: self.view().place(index) })
    }
}
