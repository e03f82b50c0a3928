//! What can be asked of a view.

use nonfinite_kernels::strided;
use nonfinite_kernels::{MaskOut, Rule};

use super::collapse::Dims;
use super::{TensorView, TensorViewMut, ViewError};
use crate::{Census, Predicate};

impl TensorView<'_> {
    /// One byte an element, in row-major order of the coordinates: 1 where `predicate` holds, else 0. `out` may be
    /// `&mut [bool]`, `&mut [u8]` or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// [`ViewError::OutputLength`] if `out` does not have one byte for each element; nothing is written then.
    pub fn mask<'o>(&self, predicate: Predicate, out: impl Into<MaskOut<'o>>) -> Result<(), ViewError> {
        let mut out = out.into();
        if out.len() != self.len() {
            return Err(ViewError::OutputLength { elements: self.len(), output: out.len() });
        }
        if !self.is_empty() {
            let dims = Dims::row_major(&self.layout);
            strided::mask(self.kernel(), self.bytes(), self.rule(predicate), &mut out, dims.grid());
        }
        Ok(())
    }

    /// One byte an element at the place that `out` has for its coordinate: 1 where `predicate` holds, else 0.
    ///
    /// # Errors
    /// [`ViewError::OutputRank`] or [`ViewError::OutputSize`] if `out` does not have the sizes of the view; nothing is
    /// written then.
    pub fn mask_into(&self, predicate: Predicate, out: &mut TensorViewMut<'_>) -> Result<(), ViewError> {
        let (from, to) = (self.sizes(), out.sizes());
        if from.len() != to.len() {
            return Err(ViewError::OutputRank { input: from.len(), output: to.len() });
        }
        if let Some(dimension) = (0..from.len()).find(|&i| from[i] != to[i]) {
            let (input, output) = (from[dimension], to[dimension]);
            return Err(ViewError::OutputSize { dimension, input, output });
        }
        if !self.is_empty() {
            let dims = Dims::of_mask(&self.layout, &out.layout);
            strided::mask(self.kernel(), self.bytes(), self.rule(predicate), &mut out.out, dims.grid());
        }
        Ok(())
    }

    /// Bit `(offset + i) % 8` of `out[(offset + i) / 8]` becomes 1 if `predicate` holds for the element of row-major
    /// index `i`, else 0. All other bits stay as they are.
    ///
    /// # Errors
    /// [`ViewError::OutputBits`] if `out` ends before the last result or before bit `offset`; nothing is written then.
    pub fn bits(&self, predicate: Predicate, out: &mut [u8], offset: usize) -> Result<(), ViewError> {
        let fits = offset.checked_add(self.len()).is_some_and(|end| end.div_ceil(8) <= out.len());
        if !fits {
            return Err(ViewError::OutputBits { elements: self.len(), offset, bytes: out.len() });
        }
        if !self.is_empty() {
            let dims = Dims::row_major(&self.layout);
            strided::bits(self.kernel(), self.bytes(), self.rule(predicate), out, offset, dims.grid());
        }
        Ok(())
    }

    /// Whether `predicate` holds for an element. Stops soon after one was found.
    #[must_use]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.holds_somewhere(self.rule(predicate))
    }

    /// Whether `predicate` holds for all elements; true of none. Stops soon after one was found for which it does not.
    #[must_use]
    pub fn all(&self, predicate: Predicate) -> bool {
        !self.holds_somewhere(self.format().opposite(predicate))
    }

    /// For how many elements `predicate` holds; one that is broadcast counts as often as coordinates name it.
    #[must_use]
    pub fn count(&self, predicate: Predicate) -> usize {
        if self.is_empty() {
            return 0;
        }
        let (dims, repeats) = Dims::of_count(&self.layout);
        repeats * strided::count(self.kernel(), self.bytes(), self.rule(predicate), dims.grid())
    }

    /// The index, in row-major order of the coordinates, of the first element for which `predicate` holds.
    /// [`TensorView::coordinate`] makes a coordinate of it.
    #[must_use]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        self.first(self.rule(predicate))
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

    /// Counts NaN, +Inf and -Inf and finds the first of each, by row-major index. One pass, and another one for the
    /// indices where something was found and the layout is not row-major.
    #[must_use]
    pub fn census(&self) -> Census {
        if self.is_empty() {
            return Census::default();
        }
        let (dims, repeats) = Dims::of_count(&self.layout);
        let nan = self.rule(Predicate::Nan);
        let mut census = strided::census(self.kernel(), self.bytes(), nan, dims.grid());
        let classes = [
            (&mut census.nan, Predicate::Nan),
            (&mut census.pos_inf, Predicate::PositiveInf),
            (&mut census.neg_inf, Predicate::NegativeInf),
        ];
        for (class, predicate) in classes {
            class.count *= repeats;
            class.first = if class.count > 0 { self.position(predicate) } else { None };
        }
        census
    }

    /// `out[r]` tells whether `predicate` holds for an element of row `r`. The rows run along the last dimension, and are numbered in
    /// row-major order of the others; a tensor of rank 0 is one row of one element.
    ///
    /// # Errors
    /// [`ViewError::Rows`] if `out` does not have one place for each row; nothing is written then.
    pub fn any_rows(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), ViewError> {
        self.check_rows(out.len())?;
        if self.is_empty() {
            out.fill(false);
        } else {
            let (dims, _) = Dims::of_rows(&self.layout);
            strided::any_rows(self.kernel(), self.bytes(), self.rule(predicate), out, dims.grid());
        }
        Ok(())
    }

    /// `out[r]` becomes the number of elements of row `r` for which `predicate` holds; rows as in
    /// [`TensorView::any_rows`].
    ///
    /// # Errors
    /// As [`TensorView::any_rows`].
    pub fn count_rows(&self, predicate: Predicate, out: &mut [usize]) -> Result<(), ViewError> {
        self.check_rows(out.len())?;
        if self.is_empty() {
            out.fill(0);
        } else {
            let (dims, repeats) = Dims::of_rows(&self.layout);
            strided::count_rows(self.kernel(), self.bytes(), self.rule(predicate), out, dims.grid());
            if repeats != 1 {
                out.iter_mut().for_each(|count| *count *= repeats);
            }
        }
        Ok(())
    }

    fn check_rows(&self, output: usize) -> Result<(), ViewError> {
        let outer = self.sizes().split_last().map_or(&[][..], |(_, outer)| outer);
        let rows = match outer.contains(&0) {
            true => 0,
            false => outer.iter().fold(1, |rows: usize, &size| rows.saturating_mul(size)),
        };
        if rows == output { Ok(()) } else { Err(ViewError::Rows { rows, output }) }
    }

    fn holds_somewhere(&self, rule: &Rule) -> bool {
        if self.is_empty() {
            return false;
        }
        let (dims, _) = Dims::of_count(&self.layout);
        strided::position(self.kernel(), self.bytes(), rule, dims.grid()).is_some()
    }

    /// The row-major index of the first element that the rule holds for.
    fn first(&self, rule: &Rule) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let dims = Dims::of_search(&self.layout);
        let grid = dims.grid();
        // In the order of memory it is found faster that there is none.
        if grid.dims.first().is_some_and(|dim| dim.input != 1) && !self.holds_somewhere(rule) {
            return None;
        }
        strided::position(self.kernel(), self.bytes(), rule, grid)
    }

    fn kernel(&self) -> Option<nonfinite_kernels::Path> {
        self.path.map(crate::Path::kernel)
    }

    fn bytes(&self) -> &[u8] {
        self.elements.as_bytes()
    }

    fn rule(&self, predicate: Predicate) -> &'static Rule {
        self.format().rule(predicate)
    }
}
