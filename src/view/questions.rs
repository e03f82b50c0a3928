//! The questions.

use nonfinite_kernels::MaskOut;

use super::part::Part;
use super::{Positions, TensorView};
use crate::{Census, Error, Predicate};

impl<'a> TensorView<'a> {
    /// Writes one byte an element: 1 where `predicate` holds, else 0. `out` may be slices, arrays
    /// and vectors of `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
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
    /// bitmaps"). All other bits stay as they are.
    ///
    /// # Errors
    /// [`Error::OutputBits`] if `out` ends before the last result or before bit `offset`; nothing
    /// is written then.
    #[inline]
    pub fn bits(&self, predicate: Predicate, out: &mut [u8], offset: usize) -> Result<(), Error> {
        self.check_bits(out, offset)?;
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            threads.bits(out, offset, &|part, out, offset| part.bits(predicate, out, offset));
            return Ok(());
        }
        Part::whole(self).bits(predicate, out, offset);
        Ok(())
    }

    /// Whether packed bits fit into `out` from bit `offset` on.
    #[inline]
    pub(super) fn check_bits(&self, out: &[u8], offset: usize) -> Result<(), Error> {
        let fits = offset.checked_add(self.len()).is_some_and(|end| end.div_ceil(8) <= out.len());
        if !fits {
            return Err(Error::OutputBits { elements: self.len(), offset, bytes: out.len() });
        }
        Ok(())
    }

    /// Whether `predicate` holds for an element. Stops soon after the first.
    #[must_use]
    #[inline]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.any_of(predicate, false)
    }

    /// Whether `predicate` holds for all elements; true of none. Stops soon after the first for
    /// which the answer is no.
    #[must_use]
    #[inline]
    pub fn all(&self, predicate: Predicate) -> bool {
        !self.any_of(predicate, true)
    }

    #[inline]
    fn any_of(&self, predicate: Predicate, opposite: bool) -> bool {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.any(&|part| part.any(predicate, opposite));
        }
        Part::whole(self).any(predicate, opposite)
    }

    /// For how many elements `predicate` holds. An element that is broadcast counts as often as
    /// coordinates name it.
    #[must_use]
    #[inline]
    pub fn count(&self, predicate: Predicate) -> usize {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.parts(&|part| part.count(predicate), &|a, b| a + b);
        }
        Part::whole(self).count(predicate)
    }

    /// The row-major index of the first element for which `predicate` holds.
    /// [`TensorView::coordinate`] makes a coordinate of the index.
    #[must_use]
    #[inline]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.position(&|part| part.position(predicate));
        }
        Part::whole(self).position(predicate)
    }

    /// The row-major indices of all elements for which `predicate` holds, in order. Fast where such
    /// elements are rare. Where they are many, [`TensorView::bits`] or [`TensorView::mask`] is
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

    /// Counts NaN, +Inf and -Inf and finds the first of each by its row-major index: in one pass,
    /// and in a strided view one more for each class that is there.
    #[must_use]
    #[inline]
    pub fn census(&self) -> Census {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.parts(&|part| part.census().behind(part.first), &Census::join);
        }
        Part::whole(self).census()
    }
}
