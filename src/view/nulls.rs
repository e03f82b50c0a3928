//! The questions about elements of which some are null.
//!
//! ```text
//! count(x, bitmap):
//!     search x for the next hit, as if nothing were null; return count if there is none
//!     run = up to 4096 elements from this hit on
//!     hits = the packed bits of the run AND its part of the bitmap
//!     count += the ones in hits
//!     repeat after the run
//! ```
//!
//! ```text
//! elements   . . . . . . . x . . x x . x . . . . x x . .      x: a hit
//! bitmap                   1 0 1 1 0 1 0 ...                  not read before the first hit
//! hits                     1 0 0 1 0 1 0 ...
//! ```
//!
//! So the bitmap is not read before the first hit. `position` and `any` look up a few hits one by
//! one first, and end at the first run with a valid hit. `census` takes runs of elements that are
//! not finite. Where such an element is valid, `census` packs the bits of NaN and of +Inf too.
//!
//! A view that is not dense is searched once, in the order of memory. If there is a hit, boxes of
//! up to 16384 elements take the place of runs, one after the other in row-major order.

#[cfg(feature = "stats")]
use nonfinite_kernels::strided::Tensor;
use nonfinite_kernels::{self as kernels, MaskOut, Rule, strided};

use super::TensorView;
#[cfg(feature = "stats")]
use crate::Stats;
use crate::{Census, Occurrences, Predicate};

/// The most elements of a run of a dense view.
const RUN: usize = 4096;

/// The most elements of a box of another view: boxes with many rows read whole cache lines.
const BOX: usize = 16384;

/// Bytes of elements that are copied at a time.
#[cfg(feature = "stats")]
const ROOM: usize = 16384;

/// A hit is near if it is less than this many elements after the end of what was looked at last.
const NEAR: usize = 256;

/// Up to this many hits in a row are looked up one by one. A hit that is not near begins to count
/// again. After as many near hits, the next hit begins a run.
const LONE: usize = 8;

/// A run of elements of a view, or a box, and the valid ones among them for which a rule holds.
struct Run {
    first: usize,
    len: usize,
    /// Indices count from the start of the view.
    found: Occurrences,
}

impl<'a> TensorView<'a> {
    /// Whether the element with this row-major index is valid.
    #[inline]
    pub(super) fn is_valid(&self, index: usize) -> bool {
        self.validity.is_none_or(|validity| validity.is_valid(index))
    }

    /// The row-major indices of the nulls, in order.
    pub(super) fn nulls(&self) -> impl Iterator<Item = usize> {
        self.validity.iter().flat_map(|validity| validity.nulls())
    }

    /// The same elements, none of them null.
    #[inline]
    fn without_nulls(&self) -> Self {
        Self { validity: None, ..*self }
    }

    /// Writes 0 for each null.
    #[inline(never)]
    pub(super) fn mask_of_valid(&self, rule: &Rule, mut out: MaskOut<'_>) {
        self.without_nulls().mask_here(rule, out.reborrow());
        self.nulls().for_each(|null| out.set(null, false));
    }

    #[inline(never)]
    pub(super) fn count_of_valid(&self, rule: &Rule) -> usize {
        self.runs(rule, 0).map(|run| run.found.count).sum()
    }

    /// The index of the first valid element for which the rule holds.
    #[inline(never)]
    pub(super) fn position_of_valid(&self, rule: &Rule) -> Option<usize> {
        // One of the first hits is often valid.
        self.runs(rule, LONE).find_map(|run| run.found.first)
    }

    #[inline(never)]
    pub(super) fn census_of_valid(&self) -> Census {
        let runs = self.runs(self.format.rule(Predicate::NonFinite), 0);
        let mut has_neg_inf = false;
        let census = runs.map(|Run { first, len, found }| {
            self.census_by(found.count, |class, left, rule| match class {
                // All that are left, and a later one is not the first.
                2 if has_neg_inf => Occurrences::new(left, None),
                _ => {
                    has_neg_inf |= class == 2;
                    self.occurrences_in(first, len, rule)
                }
            })
        });
        census.fold(Census::default(), Census::join)
    }

    /// The runs that hold all elements for which the rule holds. In a dense view the first `lone`
    /// hits are runs of their own.
    #[inline(always)]
    fn runs<'v>(&'v self, rule: &'v Rule, mut lone: usize) -> impl Iterator<Item = Run> + 'v {
        let mut at = 0;
        if !self.tensor.is_dense() && !strided::any(self.backend, &self.tensor, rule) {
            at = self.len();
        }
        core::iter::from_fn(move || {
            let run = self.next_run(at, rule, &mut lone)?;
            at = run.first + run.len;
            Some(run)
        })
    }

    /// The first run from element `at` on.
    #[inline]
    fn next_run(&self, at: usize, rule: &Rule, lone: &mut usize) -> Option<Run> {
        if at == self.len() {
            return None;
        }
        let run = |first, len| Run { first, len, found: self.occurrences_in(first, len, rule) };
        let Some(x) = self.dense() else { return Some(run(at, self.tensor.part_len(at, BOX))) };
        let hit = kernels::position(self.backend, &x[at * rule.size()..], rule)?;
        if hit >= NEAR {
            *lone = LONE;
        }
        if let Some(left) = lone.checked_sub(1) {
            *lone = left;
            let first = at + hit;
            let valid = self.is_valid(first);
            let found = Occurrences::new(usize::from(valid), valid.then_some(first));
            return Some(Run { first, len: 1, found });
        }
        // The run reads whole cache lines, if the elements begin at one.
        let first = at + (hit & !63);
        Some(run(first, RUN.min(self.len() - first)))
    }

    /// The valid elements of a run for which the rule holds. Indices count from the start of the
    /// view.
    #[inline(never)]
    fn occurrences_in(&self, first: usize, len: usize, rule: &Rule) -> Occurrences {
        // No larger than the run needs, since filling it with zeros takes time.
        let (mut few, mut many);
        let bits: &mut [u8] = if len <= RUN {
            few = [0; RUN / 8];
            &mut few
        } else {
            many = [0; BOX / 8];
            &mut many
        };
        let (backend, size) = (self.backend, rule.size());
        match self.dense() {
            Some(x) => kernels::bits(backend, &x[first * size..][..len * size], rule, bits, 0),
            None => strided::bits(backend, &self.tensor.part(first, len), rule, bits, 0),
        }
        let validity = self.validity.unwrap_or_default().part(first, len);
        validity.occurrences(self.backend, bits).behind(first)
    }

    #[cfg(feature = "stats")]
    #[inline(never)]
    pub(super) fn stats_of_valid(&self) -> Stats {
        match self.dense() {
            Some(_) if self.valid_count() == self.len() => self.without_nulls().stats_here(),
            Some(x) => self.stats_of_dense(x),
            None => self.stats_of_boxes(),
        }
    }

    /// Copies boxes of elements, one after the other in row-major order.
    #[cfg(feature = "stats")]
    #[inline(never)]
    fn stats_of_boxes(&self) -> Stats {
        let (size, mut room) = (self.format.size_in_bytes(), [0; ROOM]);
        let (mut at, mut stats) = (0, Stats::default());
        while at < self.len() {
            let part = self.part(at, self.tensor.part_len(at, ROOM / size));
            let tensor = Tensor::flat(strided::gather(&part.tensor, &mut room), size);
            let copy = TensorView { tensor, ..part };
            (at, stats) = (at + part.len(), stats.join(copy.stats_of_valid().behind(at)));
        }
        stats
    }

    /// The statistics of dense elements. The kernel needs a valid element that is finite.
    #[cfg(feature = "stats")]
    fn stats_of_dense(&self, x: &[u8]) -> Stats {
        let format = self.format;
        let Some(finite) = self.position_of_valid(format.rule(Predicate::Finite)) else {
            return Stats { census: self.census_of_valid(), ..Stats::default() };
        };
        let validity = self.validity.unwrap_or_default();
        let numbers = format.numbers();
        Stats::new(kernels::stats_of_valid(self.backend, x, numbers, validity, finite), format)
    }
}
