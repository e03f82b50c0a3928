//! Sums over the tensors of files.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{ByKind, Extreme, Stats};
use crate::report::{LookedAt, Report, TensorReport};

/// The number of tensors, and what was found in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// Tensors that were looked at.
    pub tensors: usize,
    /// Their elements.
    pub elements: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The count of NaN, +Inf and -Inf in them, including allowed ones.
    #[serde(flatten)]
    pub found: ByKind<u64>,
    /// Their finite numbers. None without [`Options::stats`](crate::Options::stats).
    #[serde(flatten)]
    pub stats: Option<TotalStats>,
    /// The number of bad tensors.
    pub bad: usize,
    /// Tensors that are masks.
    pub masks: usize,
    /// Tensors of integers, booleans, text or times. They are not looked at.
    pub not_float: usize,
    /// Tensors of formats that have neither NaN nor infinity.
    pub always_finite: usize,
    /// Tensors that may hold a NaN and could not be looked at.
    pub unreadable: usize,
}

/// The finite numbers of several tensors. Of quantised tensors, the scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TotalStats {
    /// Of all tensors together.
    #[serde(flatten)]
    pub finite: Stats<f64>,
    /// Tensors in which all numbers are zeros.
    pub all_zeros: usize,
}

impl TotalStats {
    fn add(&mut self, stats: &Stats, all_zeros: bool) {
        let more = stats.clone().map(|extreme: Extreme| extreme.value);
        self.finite = self.finite.merged(more, [f64::min, f64::max, f64::max]);
        self.all_zeros += usize::from(all_zeros);
    }
}

impl Totals {
    /// The sums over all tensors of these reports.
    #[must_use]
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut totals = Self::default();
        tensors(reports).for_each(|tensor| totals.add(tensor));
        totals
    }

    /// The sums for each dtype, as the files spell it.
    #[must_use]
    pub fn by_dtype<'a>(reports: impl IntoIterator<Item = &'a Report>) -> BTreeMap<&'a str, Self> {
        let mut dtypes: BTreeMap<&str, Self> = BTreeMap::new();
        for tensor in tensors(reports) {
            dtypes.entry(&tensor.dtype).or_default().add(tensor);
        }
        dtypes
    }

    /// Whether no tensor was looked at, and none is of a kind that cannot hold a NaN.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors + self.not_float + self.always_finite == 0
    }

    /// Adds a tensor. Sums saturate: views may claim any number of elements without data.
    pub fn add(&mut self, tensor: &TensorReport) {
        match tensor.looked_at {
            LookedAt::NotFloat => self.not_float += 1,
            LookedAt::AlwaysFinite => self.always_finite += 1,
            LookedAt::Unreadable(_) | LookedAt::Damaged(_) => self.unreadable += 1,
            LookedAt::Values | LookedAt::Scales { .. } => {
                self.tensors += 1;
                self.elements = self.elements.saturating_add(tensor.elements);
                self.bytes = self.bytes.saturating_add(tensor.bytes);
                let both = self.found.zip(tensor.found.as_ref());
                self.found = both.map(|(sum, of_kind)| sum.saturating_add(of_kind.count));
                self.bad += usize::from(tensor.is_bad());
                self.masks += usize::from(tensor.mask.is_some());
                if let Some(stats) = &tensor.stats {
                    let all = self.stats.get_or_insert_default();
                    all.add(stats, tensor.is_all_zeros());
                }
            }
        }
    }
}

fn tensors<'a>(
    reports: impl IntoIterator<Item = &'a Report>,
) -> impl Iterator<Item = &'a TensorReport> {
    reports.into_iter().flat_map(|report| report.tensors.iter().map(|tensor| &**tensor))
}
