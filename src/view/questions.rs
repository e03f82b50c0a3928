//! The questions.

use nonfinite_kernels::MaskOut;

use super::part::Part;
use super::{Positions, TensorView};
use crate::{Census, Error, Predicate};

impl<'a> TensorView<'a> {
    /// Writes one byte for each element: 1 if `predicate` holds, otherwise 0. `out` may be slices,
    /// arrays and vectors of `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// [`Error::OutputLength`] if `out` does not have one byte for each element; nothing is written
    /// then.
    #[inline]
    pub fn mask<'o>(&self, predicate: Predicate, out: impl Into<MaskOut<'o>>) -> Result<(), Error> {
        let out = out.into();
        if out.len() != self.len() {
            return Err(Error::OutputLength { elements: self.len(), output: out.len() });
        }
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            threads.mask(predicate, out);
            return Ok(());
        }
        Part::whole(self).mask(predicate, out);
        Ok(())
    }

    /// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether `predicate` holds for
    /// element `i`: the order of Apache Arrow's bitmaps (Arrow columnar format, "Validity
    /// bitmaps"). All other bits keep their values.
    ///
    /// # Errors
    /// [`Error::OutputBits`] if `out` ends before the last result or before bit `offset`; nothing
    /// is written then.
    #[inline]
    pub fn bits(&self, predicate: Predicate, out: &mut [u8], offset: usize) -> Result<(), Error> {
        let fits = offset.checked_add(self.len()).is_some_and(|end| end.div_ceil(8) <= out.len());
        if !fits {
            return Err(Error::OutputBits { elements: self.len(), offset, bytes: out.len() });
        }
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            threads.bits(predicate, out, offset);
            return Ok(());
        }
        Part::whole(self).bits(predicate, out, offset);
        Ok(())
    }

    /// Whether `predicate` holds for any element. Stops soon after the first hit.
    #[must_use]
    #[inline]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.any_of(predicate, false)
    }

    /// Whether `predicate` holds for all elements. True for an empty view. Stops soon after the
    /// first element for which the predicate does not hold.
    #[must_use]
    #[inline]
    pub fn all(&self, predicate: Predicate) -> bool {
        !self.any_of(predicate, true)
    }

    #[inline]
    fn any_of(&self, predicate: Predicate, opposite: bool) -> bool {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.any(predicate, opposite);
        }
        Part::whole(self).any(predicate, opposite)
    }

    /// The number of elements for which `predicate` holds. A broadcast element counts for each of
    /// its coordinates.
    #[must_use]
    #[inline]
    pub fn count(&self, predicate: Predicate) -> usize {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.count(predicate);
        }
        Part::whole(self).count(predicate)
    }

    /// The row-major index of the first element for which `predicate` holds.
    /// [`TensorView::coordinate`] converts the index to a coordinate.
    #[must_use]
    #[inline]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.position(predicate);
        }
        Part::whole(self).position(predicate)
    }

    /// The row-major indices of all elements for which `predicate` holds, in order. Fast if such
    /// elements are rare. If there are many, [`TensorView::bits`] or [`TensorView::mask`] is
    /// faster.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [f32::NAN, 1.0, f32::NAN];
    /// assert!(TensorView::from(&x).positions(Predicate::Nan).eq([0, 2]));
    /// ```
    #[inline]
    pub fn positions(self, predicate: Predicate) -> Positions<'a> {
        Positions::new(self, predicate)
    }

    /// Counts NaN, +Inf and -Inf, and finds the first of each by its row-major index. Takes one
    /// pass. A strided view takes one more pass for each class that occurs.
    #[must_use]
    #[inline]
    pub fn census(&self) -> Census {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.census();
        }
        Part::whole(self).census()
    }
}
