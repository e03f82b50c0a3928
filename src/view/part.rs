//! Parts of a view, and the questions asked of them by the kernels.
//!
//! Every question of [`TensorView`] comes here: for the whole view, or for parts of it if threads
//! share the work. A part is a view itself. Indices are counted within the part.

use nonfinite_kernels as kernels;
use nonfinite_kernels::{MaskOut, Rule, strided};

use super::TensorView;
#[cfg(feature = "stats")]
use crate::Stats;
use crate::{Census, Occurrences, Predicate};

impl<'a> TensorView<'a> {
    /// `len` elements from row-major index `first` on. If the view is not dense, they are a box:
    /// some coordinates of one dimension, one coordinate of each dimension around, and all
    /// coordinates of the dimensions inside.
    pub(super) fn part(&self, first: usize, len: usize) -> Self {
        let validity = self.validity.map(|validity| validity.part(first, len));
        Self { tensor: self.tensor.part(first, len), validity, ..*self }
    }

    /// The elements, if they are adjacent, in row-major order.
    #[inline(always)]
    pub(super) fn dense(&self) -> Option<&'a [u8]> {
        self.tensor.dense()
    }

    #[inline(always)]
    pub(super) fn mask_here(&self, rule: &Rule, out: MaskOut<'_>) {
        match self.dense() {
            _ if self.validity.is_some() => self.mask_of_valid(rule, out),
            Some(x) => kernels::mask(self.backend, x, rule, out),
            None => strided::mask(self.backend, &self.tensor, rule, out),
        }
    }

    #[inline]
    pub(super) fn bits_here(&self, rule: &Rule, out: &mut [u8], offset: usize) {
        match self.dense() {
            Some(x) => kernels::bits(self.backend, x, rule, out, offset),
            None => strided::bits(self.backend, &self.tensor, rule, out, offset),
        }
        if let Some(validity) = &self.validity {
            validity.clear_nulls(out, offset);
        }
    }

    /// Whether the rule holds for any element.
    #[inline(always)]
    pub(super) fn any_here(&self, rule: &Rule) -> bool {
        match self.dense() {
            _ if self.validity.is_some() => self.position_of_valid(rule).is_some(),
            Some(x) => kernels::position(self.backend, x, rule).is_some(),
            None => strided::any(self.backend, &self.tensor, rule),
        }
    }

    /// The index of the first element for which the rule holds.
    #[inline]
    pub(super) fn position_here(&self, rule: &Rule) -> Option<usize> {
        match self.dense() {
            _ if self.validity.is_some() => self.position_of_valid(rule),
            Some(x) => kernels::position(self.backend, x, rule),
            None => strided::position(self.backend, &self.tensor, rule),
        }
    }

    /// Fast if the rule holds for few elements: see `Predicate::counted`.
    #[inline]
    pub(super) fn count_here(&self, rule: &Rule) -> usize {
        match self.dense() {
            _ if self.validity.is_some() => self.count_of_valid(rule),
            Some(x) => kernels::count(self.backend, x, rule),
            None => {
                let [count] = strided::counts(self.backend, &self.tensor, rule, [rule]);
                count
            }
        }
    }

    #[inline]
    pub(super) fn census_here(&self) -> Census {
        match self.dense() {
            _ if self.validity.is_some() => self.census_of_valid(),
            Some(x) => kernels::census(self.backend, x, self.format.rule(Predicate::Nan)),
            None => self.census_of_strided(),
        }
    }

    #[inline(never)]
    fn census_of_strided(&self) -> Census {
        let (backend, tensor, search) =
            (self.backend, &self.tensor, self.format.rule(Predicate::NonFinite));
        let counts = strided::counts(backend, tensor, search, self.format.classes());
        self.census_by(counts.iter().sum(), |class, _, rule| {
            let first = || strided::position(backend, tensor, rule);
            Occurrences::new(counts[class], if counts[class] > 0 { first() } else { None })
        })
    }

    /// The census of a part with this number of NaN and infinities. `found` tells what is found of
    /// each class, by its number, the number of elements left, and its rule.
    pub(super) fn census_by(
        &self,
        mut left: usize,
        mut found: impl FnMut(usize, usize, &Rule) -> Occurrences,
    ) -> Census {
        let mut classes = [Occurrences::default(); 3];
        for (i, (class, rule)) in classes.iter_mut().zip(self.format.classes()).enumerate() {
            if left > 0 {
                *class = found(i, left, rule);
                left -= class.count;
            }
        }
        let [nan, pos_inf, neg_inf] = classes;
        Census::new(nan, pos_inf, neg_inf)
    }

    #[cfg(feature = "stats")]
    pub(super) fn stats_here(&self) -> Stats {
        let (format, backend) = (self.format, self.backend);
        let stats = match self.dense() {
            _ if self.validity.is_some() => return self.stats_of_valid(),
            Some(x) => kernels::stats(backend, x, format.numbers()),
            None => strided::stats(backend, &self.tensor, format.numbers()),
        };
        Stats::new(stats, format)
    }
}
