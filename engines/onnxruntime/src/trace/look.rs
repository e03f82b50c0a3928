//! What a sink sees in a tensor.

use nonfinite::{Format, Occurrences, Stats};

/// The value of a field that has no index.
pub(super) const NONE: u64 = u64::MAX;

/// What a tensor holds. Read by C and Python: see `native.py` of the Python package.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Look {
    elements: u64,
    pub(super) nan: u64,
    pub(super) pos_inf: u64,
    pub(super) neg_inf: u64,
    zeros: u64,
    subnormals: u64,
    /// Row-major index of the first NaN or infinity, else `u64::MAX`.
    first: u64,
    /// Row-major index of `max_abs`, else `u64::MAX`.
    max_abs_index: u64,
    /// The smallest finite number, or NaN if no element is finite.
    min: f64,
    /// The largest finite number, or NaN if no element is finite.
    max: f64,
    /// The largest magnitude of a finite number, or NaN if no element is finite.
    pub(super) max_abs: f64,
    /// The largest finite number of the element type.
    limit: f64,
}

impl Look {
    /// Of a sink that has seen no tensor.
    pub(super) const EMPTY: Self = Self {
        elements: 0,
        nan: 0,
        pos_inf: 0,
        neg_inf: 0,
        zeros: 0,
        subnormals: 0,
        first: NONE,
        max_abs_index: NONE,
        min: f64::NAN,
        max: f64::NAN,
        max_abs: f64::NAN,
        limit: f64::NAN,
    };

    pub(super) fn new(stats: &Stats, format: Format) -> Self {
        let census = stats.census;
        let count = |class: Occurrences| class.count as u64;
        let first = [census.nan.first, census.pos_inf.first, census.neg_inf.first];
        let value = |extreme: Option<nonfinite::Extreme>| extreme.map_or(f64::NAN, |x| x.value);
        Self {
            elements: (stats.finite() + census.total()) as u64,
            nan: count(census.nan),
            pos_inf: count(census.pos_inf),
            neg_inf: count(census.neg_inf),
            zeros: stats.zeros as u64,
            subnormals: stats.subnormals as u64,
            first: first.into_iter().flatten().min().map_or(NONE, |index| index as u64),
            max_abs_index: stats.max_abs.map_or(NONE, |x| x.index as u64),
            min: value(stats.min),
            max: value(stats.max),
            max_abs: value(stats.max_abs),
            limit: format.to_f64(format.max_bits()),
        }
    }

    /// Whether the tensor has a NaN or an infinity.
    pub(super) fn has_non_finite(&self) -> bool {
        self.nan + self.pos_inf + self.neg_inf != 0
    }
}
