//! What can be asked of a view.

use nonfinite_kernels::MaskOut;
use nonfinite_kernels::strided::{Source, Target};

use super::{TensorView, TensorViewMut, ViewError};
use crate::strided::{Asked, Rows};
use crate::{Census, Predicate};

impl TensorView<'_> {
    /// One byte an element, in row-major order of the coordinates: 1 where `predicate` holds,
    /// else 0. `out` may be `&mut [bool]`, `&mut [u8]` or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// [`ViewError::OutputLength`] if `out` does not have one byte for each element; nothing is
    /// written then.
    pub fn mask<'o>(
        &self,
        predicate: Predicate,
        out: impl Into<MaskOut<'o>>,
    ) -> Result<(), ViewError> {
        let out = out.into();
        if out.len() != self.len() {
            return Err(ViewError::OutputLength { elements: self.len(), output: out.len() });
        }
        self.asked().mask(predicate, Target::contiguous(out));
        Ok(())
    }

    /// One byte an element at the place that `out` has for its coordinate: 1 where `predicate`
    /// holds, else 0.
    ///
    /// # Errors
    /// [`ViewError::OutputRank`] or [`ViewError::OutputSize`] if `out` does not have the sizes of
    /// the view; nothing is written then.
    pub fn mask_into(
        &self,
        predicate: Predicate,
        out: &mut TensorViewMut<'_>,
    ) -> Result<(), ViewError> {
        ViewError::check_sizes(self.sizes(), out.sizes())?;
        let layout = &out.layout;
        self.asked()
            .mask(predicate, Target::new(&mut out.out, layout.offset(), layout.dimensions()));
        Ok(())
    }

    /// Bit `(offset + i) % 8` of `out[(offset + i) / 8]` becomes 1 if `predicate` holds for the
    /// element of row-major index `i`, else 0. All other bits stay as they are.
    ///
    /// # Errors
    /// [`ViewError::OutputBits`] if `out` ends before the last result or before bit `offset`;
    /// nothing is written then.
    pub fn bits(
        &self,
        predicate: Predicate,
        out: &mut [u8],
        offset: usize,
    ) -> Result<(), ViewError> {
        let fits = offset.checked_add(self.len()).is_some_and(|end| end.div_ceil(8) <= out.len());
        if !fits {
            return Err(ViewError::OutputBits { elements: self.len(), offset, bytes: out.len() });
        }
        self.asked().bits(predicate, out, offset);
        Ok(())
    }

    /// Whether `predicate` holds for an element. Stops soon after one was found.
    #[must_use]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.asked().any(predicate)
    }

    /// Whether `predicate` holds for all elements; true of none. Stops soon after one was found for
    /// which it does not.
    #[must_use]
    pub fn all(&self, predicate: Predicate) -> bool {
        self.asked().all(predicate)
    }

    /// For how many elements `predicate` holds; one that is broadcast counts as often as
    /// coordinates name it.
    #[must_use]
    pub fn count(&self, predicate: Predicate) -> usize {
        self.asked().count(predicate)
    }

    /// The index, in row-major order of the coordinates, of the first element for which `predicate`
    /// holds. [`TensorView::coordinate`] makes a coordinate of it.
    #[must_use]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        self.asked().position(predicate)
    }

    /// Writes the coordinate of the element with this row-major index, outermost dimension first.
    ///
    /// ```
    /// # use nonfinite::{Predicate, TensorView, ViewError};
    /// let x = [0.0f32, 1.0, 2.0, 3.0, f32::NAN, 5.0];
    /// let transposed = TensorView::new(&x[..], 0, &[3, 2], &[1, 3])?;
    /// let mut at = [0; 2];
    /// transposed.coordinate(transposed.position(Predicate::Nan).unwrap(), &mut at)?;
    /// assert_eq!(at, [1, 1]);
    /// # Ok::<(), ViewError>(())
    /// ```
    ///
    /// # Errors
    /// [`ViewError::Index`] or [`ViewError::CoordinateLength`]; nothing is written then.
    pub fn coordinate(&self, index: usize, coordinate: &mut [usize]) -> Result<(), ViewError> {
        let sizes = self.sizes();
        if coordinate.len() != sizes.len() {
            return Err(ViewError::CoordinateLength {
                dimensions: sizes.len(),
                coordinate: coordinate.len(),
            });
        }
        if index >= self.len() {
            return Err(ViewError::Index { index, elements: self.len() });
        }
        let mut rest = index;
        for (place, size) in coordinate.iter_mut().zip(sizes).rev() {
            (*place, rest) = (rest % size, rest / size);
        }
        Ok(())
    }

    /// Counts NaN, +Inf and -Inf and finds the first of each, by row-major index. One pass, and
    /// another one for each of the three that was found.
    #[must_use]
    pub fn census(&self) -> Census {
        self.asked().census()
    }

    /// `out[r]` becomes whether `predicate` holds for an element of row `r`. The rows run along the
    /// last dimension, and are numbered in row-major order of the others; a tensor of rank 0 is one
    /// row of one element.
    ///
    /// # Errors
    /// [`ViewError::Rows`] if `out` does not have one place for each row; nothing is written then.
    pub fn any_rows(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), ViewError> {
        self.rows(None, predicate, Rows::Any(out))
    }

    /// `out[r]` becomes the number of elements of row `r` for which `predicate` holds; rows as in
    /// [`TensorView::any_rows`].
    ///
    /// # Errors
    /// As [`TensorView::any_rows`].
    pub fn count_rows(&self, predicate: Predicate, out: &mut [usize]) -> Result<(), ViewError> {
        self.rows(None, predicate, Rows::Count(out))
    }

    /// `out[r]` becomes the index, counted along row `r`, of its first element for which
    /// `predicate` holds; rows as in [`TensorView::any_rows`].
    ///
    /// # Errors
    /// As [`TensorView::any_rows`].
    pub fn position_rows(
        &self,
        predicate: Predicate,
        out: &mut [Option<usize>],
    ) -> Result<(), ViewError> {
        self.rows(None, predicate, Rows::Position(out))
    }

    /// `out[r]` becomes the census of row `r`: how many elements are NaN, +Inf and -Inf, and the
    /// index of the first of each, counted along the row; rows as in [`TensorView::any_rows`].
    ///
    /// # Errors
    /// As [`TensorView::any_rows`].
    pub fn census_rows(&self, out: &mut [Census]) -> Result<(), ViewError> {
        self.rows(None, Predicate::NonFinite, Rows::Census(out))
    }

    /// [`TensorView::any_rows`] for rows that run along dimension `axis`.
    ///
    /// ```
    /// # use nonfinite::{Predicate, TensorView, ViewError};
    /// let x = [0.0f32, 1.0, f32::NAN, 3.0, 4.0, 5.0];
    /// let view = TensorView::contiguous(&x[..], &[2, 3])?;
    /// let mut columns = [false; 3];
    /// view.any_rows_along(0, Predicate::Nan, &mut columns)?;
    /// assert_eq!(columns, [false, false, true]);
    /// # Ok::<(), ViewError>(())
    /// ```
    ///
    /// # Errors
    /// [`ViewError::Axis`] if there is no such dimension, or [`ViewError::Rows`] if `out` does not
    /// have one place for each row; nothing is written then.
    pub fn any_rows_along(
        &self,
        axis: usize,
        predicate: Predicate,
        out: &mut [bool],
    ) -> Result<(), ViewError> {
        self.rows(Some(axis), predicate, Rows::Any(out))
    }

    /// [`TensorView::count_rows`] for rows that run along dimension `axis`.
    ///
    /// # Errors
    /// As [`TensorView::any_rows_along`].
    pub fn count_rows_along(
        &self,
        axis: usize,
        predicate: Predicate,
        out: &mut [usize],
    ) -> Result<(), ViewError> {
        self.rows(Some(axis), predicate, Rows::Count(out))
    }

    /// [`TensorView::position_rows`] for rows that run along dimension `axis`.
    ///
    /// # Errors
    /// As [`TensorView::any_rows_along`].
    pub fn position_rows_along(
        &self,
        axis: usize,
        predicate: Predicate,
        out: &mut [Option<usize>],
    ) -> Result<(), ViewError> {
        self.rows(Some(axis), predicate, Rows::Position(out))
    }

    /// [`TensorView::census_rows`] for rows that run along dimension `axis`.
    ///
    /// # Errors
    /// As [`TensorView::any_rows_along`].
    pub fn census_rows_along(&self, axis: usize, out: &mut [Census]) -> Result<(), ViewError> {
        self.rows(Some(axis), Predicate::NonFinite, Rows::Census(out))
    }

    /// Rows along an axis, or along the last if that is `None`.
    fn rows(
        &self,
        axis: Option<usize>,
        predicate: Predicate,
        out: Rows<'_>,
    ) -> Result<(), ViewError> {
        let sizes = self.sizes();
        if let Some(axis) = axis.filter(|&axis| axis >= sizes.len()) {
            return Err(ViewError::Axis { axis, dimensions: sizes.len() });
        }
        let axis = axis.unwrap_or(sizes.len().saturating_sub(1));
        let others = || sizes.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &size)| size);
        let rows = match others().any(|size| size == 0) {
            true => 0,
            false => others().fold(1, usize::saturating_mul),
        };
        if rows != out.len() {
            return Err(ViewError::Rows { rows, output: out.len() });
        }
        let size = sizes.get(axis).copied().unwrap_or(1);
        self.asked().rows(sizes.len().saturating_sub(axis + 1), size, predicate, out);
        Ok(())
    }

    fn asked(&self) -> Asked<'_> {
        let (elements, layout) = (&self.elements, &self.layout);
        let (bytes, size) = (elements.as_bytes(), elements.format().size_in_bytes());
        let source = Source::new(bytes, size, layout.offset(), layout.dimensions());
        Asked { source, format: elements.format(), backend: self.backend }
    }
}
