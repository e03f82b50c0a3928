//! The questions.

use nonfinite_kernels::strided::{self, MaskView};
use nonfinite_kernels::{MaskOut, Rule};

#[cfg(feature = "rayon")]
use super::threads::{Part, Threads};
use super::{Positions, TensorView};
#[cfg(feature = "stats")]
use crate::Stats;
use crate::rules::Asked;
use crate::{Census, Error, Predicate};

impl<'a> TensorView<'a> {
    /// The opposite of the rule of a predicate.
    #[inline(always)]
    #[track_caller]
    pub(super) fn opposite(&self, predicate: Predicate) -> Asked {
        let (counted, opposite) = predicate.counted();
        self.format.asked(counted).not_if(!opposite)
    }

    /// Writes one byte for each element: 1 if `predicate` holds, otherwise 0. `out` is a slice, an
    /// array or a vector of `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// [`Error::OutputLength`] if `out` does not have one byte for each element, or
    /// [`Error::ThresholdFormat`]; nothing is written then.
    #[inline]
    pub fn mask<'o>(&self, predicate: Predicate, out: impl Into<MaskOut<'o>>) -> Result<(), Error> {
        let (rule, out) = (self.format.try_asked(predicate)?, out.into());
        if out.len() != self.len() {
            return Err(Error::OutputLength { elements: self.len(), output: out.len() });
        }
        #[cfg(feature = "rayon")]
        if let Some(threads) = Threads::of(self) {
            threads.mask(&rule, out);
            return Ok(());
        }
        self.mask_here(&rule, out);
        Ok(())
    }

    /// Writes one byte for each element, at the place of its coordinate in `out`: 1 if `predicate`
    /// holds, otherwise 0. `out` is a [`MaskView`] or converts into one, such as a writable array
    /// of the crate `ndarray` (feature `ndarray-0_17`).
    ///
    /// # Errors
    /// [`Error::Layout`] if `out` does not have the shape of the view, or
    /// [`Error::ThresholdFormat`]; nothing is written then.
    pub fn mask_into<'o>(
        &self,
        predicate: Predicate,
        out: impl Into<MaskView<'o>>,
    ) -> Result<(), Error> {
        let (rule, mut out) = (self.format.try_asked(predicate)?, out.into());
        strided::mask_into(self.backend, &self.tensor, &rule, MaskView::from(&mut out))?;
        self.nulls().for_each(|null| out.set(null, false));
        Ok(())
    }

    /// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether `predicate` holds for
    /// element `i`: the order of Apache Arrow's bitmaps (Arrow columnar format, "Validity
    /// bitmaps"). All other bits keep their values.
    ///
    /// # Errors
    /// [`Error::OutputBits`] if `out` ends before the last result or before bit `offset`, or
    /// [`Error::ThresholdFormat`]; nothing is written then.
    #[inline]
    pub fn bits(&self, predicate: Predicate, out: &mut [u8], offset: usize) -> Result<(), Error> {
        let rule = self.format.try_asked(predicate)?;
        let fits = offset.checked_add(self.len()).is_some_and(|end| end.div_ceil(8) <= out.len());
        if !fits {
            return Err(Error::OutputBits { elements: self.len(), offset, bytes: out.len() });
        }
        #[cfg(feature = "rayon")]
        if let Some(threads) = Threads::of(self) {
            threads.bits(&rule, out, offset);
            return Ok(());
        }
        self.bits_here(&rule, out, offset);
        Ok(())
    }

    /// Whether `predicate` holds for any element. Stops soon after the first hit.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.any_where(&self.format.asked(predicate))
    }

    /// Whether `predicate` holds for all elements that are not null. True if there is none. Stops
    /// soon after the first element for which the predicate does not hold.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn all(&self, predicate: Predicate) -> bool {
        !self.any_where(&self.opposite(predicate))
    }

    /// Whether any element is NaN. Stops soon after the first one.
    #[must_use]
    #[inline(always)]
    pub fn any_nan(&self) -> bool {
        self.any(Predicate::Nan)
    }

    /// Whether all elements that are not null are finite. Stops soon after the first NaN or
    /// infinity.
    #[must_use]
    #[inline(always)]
    pub fn all_finite(&self) -> bool {
        self.all(Predicate::Finite)
    }

    // Always inlined, as `any` and `all`: where the caller has just made the view, its fields fold
    // away, and the kernel starts 3 ns sooner (64 f32, AMD EPYC Zen 4).
    #[inline(always)]
    fn any_where(&self, rule: &Rule) -> bool {
        #[cfg(feature = "rayon")]
        if let Some(threads) = Threads::of(self) {
            return threads.any(rule);
        }
        self.any_here(rule)
    }

    /// The number of elements for which `predicate` holds. A broadcast element counts for each of
    /// its coordinates.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn count(&self, predicate: Predicate) -> usize {
        let (counted, opposite) = predicate.counted();
        let count = self.count_where(&self.format.asked(counted));
        if opposite { self.valid_count() - count } else { count }
    }

    #[inline]
    fn count_where(&self, rule: &Rule) -> usize {
        #[cfg(feature = "rayon")]
        if let Some(threads) = Threads::of(self) {
            return threads.parts(&|part| part.view.count_here(rule), &|a, b| a + b);
        }
        self.count_here(rule)
    }

    /// The row-major index of the first element for which `predicate` holds.
    /// [`TensorView::coordinate`] gives its coordinate.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        let rule = self.format.asked(predicate);
        #[cfg(feature = "rayon")]
        if let Some(threads) = Threads::of(self) {
            return threads.position(&rule);
        }
        self.position_here(&rule)
    }

    /// The row-major indices of all elements for which `predicate` holds, in order. Fast if the
    /// predicate holds for few elements, nulls included. If there are many, [`TensorView::bits`] or
    /// [`TensorView::mask`] is faster.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [f32::NAN, 1.0, f32::NAN];
    /// assert!(TensorView::from(&x).positions(Predicate::Nan).eq([0, 2]));
    /// ```
    #[inline]
    #[track_caller]
    pub fn positions(self, predicate: Predicate) -> Positions<'a> {
        Positions::new(self, &self.format.asked(predicate))
    }

    /// Counts NaN, +Inf and -Inf, and finds the first of each by its row-major index. Takes one
    /// pass. A strided view takes one more pass for each class that occurs.
    #[must_use]
    #[inline]
    pub fn census(&self) -> Census {
        #[cfg(feature = "rayon")]
        if let Some(threads) = Threads::of(self) {
            let census = &|part: Part<'_>| part.view.census_here().behind(part.first);
            return threads.parts(census, &Census::join);
        }
        self.census_here()
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
        if let Some(threads) = Threads::of(self) {
            let stats = &|part: Part<'_>| part.view.stats_here().behind(part.first);
            return threads.parts(stats, &Stats::join);
        }
        self.stats_here()
    }
}
