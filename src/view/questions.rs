//! The questions.

use nonfinite_kernels::strided::{self, MaskView};
use nonfinite_kernels::{MaskOut, Rule};

use super::part::Part;
use super::{Positions, TensorView};
#[cfg(feature = "stats")]
use crate::Stats;
use crate::format::with_opposite;
use crate::{Census, Error, Predicate};

impl<'a> TensorView<'a> {
    #[inline]
    fn rule(&self, predicate: Predicate) -> &'static Rule {
        self.format.rule(predicate)
    }

    /// Writes one byte for each element: 1 if `predicate` holds, otherwise 0. `out` is a slice, an
    /// array or a vector of `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// [`Error::OutputLength`] if `out` does not have one byte for each element; nothing is written
    /// then.
    #[inline]
    pub fn mask<'o>(&self, predicate: Predicate, out: impl Into<MaskOut<'o>>) -> Result<(), Error> {
        self.mask_where(self.rule(predicate), out.into())
    }

    #[inline]
    pub(super) fn mask_where(&self, rule: &Rule, out: MaskOut<'_>) -> Result<(), Error> {
        if out.len() != self.len() {
            return Err(Error::OutputLength { elements: self.len(), output: out.len() });
        }
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            threads.mask(rule, out);
            return Ok(());
        }
        Part::whole(self).mask(rule, out);
        Ok(())
    }

    /// [`TensorView::mask`] in a new vector (feature `std`).
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [1.0, f32::NAN];
    /// assert_eq!(TensorView::from(&x).mask_vec(Predicate::Nan), [false, true]);
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn mask_vec(&self, predicate: Predicate) -> std::vec::Vec<bool> {
        let mut out = std::vec![false; self.len()];
        self.mask(predicate, &mut out).expect("one place for each element");
        out
    }

    /// Writes one byte for each element, at the place of its coordinate in `out`: 1 if `predicate`
    /// holds, otherwise 0. `out` is a [`MaskView`] or converts into one, such as a writable array
    /// of the crate `ndarray` (feature `ndarray`).
    ///
    /// # Errors
    /// [`Error::Layout`] if `out` does not have the sizes of the view; nothing is written then.
    pub fn mask_into<'o>(
        &self,
        predicate: Predicate,
        out: impl Into<MaskView<'o>>,
    ) -> Result<(), Error> {
        let (backend, rule) = (self.backend, self.rule(predicate));
        Ok(strided::mask_into(backend, &self.tensor, rule, out.into())?)
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
        self.bits_where(self.rule(predicate), out, offset)
    }

    #[inline]
    pub(super) fn bits_where(
        &self,
        rule: &Rule,
        out: &mut [u8],
        offset: usize,
    ) -> Result<(), Error> {
        self.check_bits(out, offset)?;
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            threads.bits(out, offset, &|part, out, offset| part.bits(rule, out, offset));
            return Ok(());
        }
        Part::whole(self).bits(rule, out, offset);
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

    /// Whether `predicate` holds for any element. Stops soon after the first hit.
    #[must_use]
    #[inline(always)]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.any_where(self.rule(predicate))
    }

    /// Whether `predicate` holds for all elements. True for an empty view. Stops soon after the
    /// first element for which the predicate does not hold.
    #[must_use]
    #[inline(always)]
    pub fn all(&self, predicate: Predicate) -> bool {
        let rule = |predicate| self.rule(predicate);
        !with_opposite(predicate, rule, |opposite| self.any_where(opposite))
    }

    // Always inlined, as `any` and `all`: where the caller has just made the view, its fields fold
    // away, and the kernel starts 3 ns sooner (64 f32, AMD EPYC Zen 4).
    #[inline(always)]
    pub(super) fn any_where(&self, rule: &Rule) -> bool {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.any(&|part| part.any(rule));
        }
        Part::whole(self).any(rule)
    }

    /// The number of elements for which `predicate` holds. A broadcast element counts for each of
    /// its coordinates.
    #[must_use]
    #[inline]
    pub fn count(&self, predicate: Predicate) -> usize {
        let (counted, complement) = predicate.counted();
        let count = self.count_where(self.rule(counted));
        if complement { self.len() - count } else { count }
    }

    #[inline]
    pub(super) fn count_where(&self, rule: &Rule) -> usize {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.parts(&|part| part.count(rule), &|a, b| a + b);
        }
        Part::whole(self).count(rule)
    }

    /// The row-major index of the first element for which `predicate` holds. [`TensorView::first`]
    /// also returns its coordinate.
    #[must_use]
    #[inline]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        self.position_where(self.rule(predicate))
    }

    #[inline]
    pub(super) fn position_where(&self, rule: &Rule) -> Option<usize> {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.position(&|part| part.position(rule));
        }
        Part::whole(self).position(rule)
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
            return threads.parts(&|part| part.census().behind(part.first), &Census::join);
        }
        Part::whole(self).census()
    }

    /// Minimum, maximum and maximum magnitude of the finite elements, and how many elements are
    /// zero, subnormal, normal, NaN and infinite. Reads the elements once. A strided view is
    /// searched again for each index.
    ///
    /// -0 equals +0 here. An index is that of the first element with the value. If no element is
    /// finite, minimum and maximum are `None`. Elements of [`crate::Format::F8E8M0Fnu`] are all
    /// normal. Only integer instructions touch the data.
    ///
    /// ```
    /// use nonfinite::TensorView;
    /// let x = [0.5f32, -2.0, f32::NAN, 0.0, 1e-40, -2.0];
    /// let stats = TensorView::from(&x).stats();
    /// let (min, max_abs) = (stats.min.unwrap(), stats.max_abs.unwrap());
    /// assert_eq!((min.value, min.index, max_abs.value), (-2.0, 1, 2.0));
    /// assert_eq!((stats.zeros, stats.subnormals, stats.normals), (1, 1, 3));
    /// assert_eq!(stats.census.nan.first, Some(2));
    /// ```
    #[cfg(feature = "stats")]
    #[must_use]
    pub fn stats(&self) -> Stats {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.shared() {
            return threads.parts(&|part| part.stats().behind(part.first), &Stats::join);
        }
        Part::whole(self).stats()
    }
}
