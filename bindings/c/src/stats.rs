//! Statistics of numbers.
#![expect(unsafe_code, reason = "functions for C")]

use core::ffi::c_void;

use crate::codes::{FormatCode, NF_IS_NEVER};
use crate::flat::{self, Census, NF_NONE};
use crate::status::Status;
use crate::tensor::View;
use crate::view;

/// The minimum, the maximum, or the maximum magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Extreme {
    /// The number, exactly; 0 if there is none.
    pub value: f64,
    /// Its bits in the format of the elements; 0 if there is none.
    pub bits: u64,
    /// The index of the first element with this value, or `NF_NONE` if there is none. In a view:
    /// the row-major index of its coordinate. Here -0 equals +0.
    pub index: u64,
}

/// No element is finite.
impl Default for Extreme {
    fn default() -> Self {
        Self { value: 0.0, bits: 0, index: NF_NONE }
    }
}

/// What the elements are. Each is one of the census, or zero, subnormal or normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Stats {
    /// NaN, +Inf and -Inf.
    pub census: Census,
    /// The minimum of the finite elements.
    pub min: Extreme,
    /// The maximum of the finite elements.
    pub max: Extreme,
    /// The maximum magnitude (absolute value) of the finite elements.
    pub max_abs: Extreme,
    /// How many elements are zero, of either sign.
    pub zeros: u64,
    /// How many elements are subnormal numbers.
    pub subnormals: u64,
    /// How many elements are normal numbers.
    pub normals: u64,
}

impl From<Option<nonfinite::Extreme>> for Extreme {
    fn from(extreme: Option<nonfinite::Extreme>) -> Self {
        extreme.map_or(Self::default(), |nonfinite::Extreme { bits, value, index, .. }| Self {
            value,
            bits,
            index: index as u64,
        })
    }
}

impl From<nonfinite::Stats> for Stats {
    fn from(stats: nonfinite::Stats) -> Self {
        Self {
            census: stats.census.into(),
            min: stats.min.into(),
            max: stats.max.into(),
            max_abs: stats.max_abs.into(),
            zeros: stats.zeros as u64,
            subnormals: stats.subnormals as u64,
            normals: stats.normals as u64,
        }
    }
}

/// Finds minimum, maximum and maximum magnitude of the finite elements, counts zeros, subnormal and
/// normal numbers, and takes the census. Reads the elements once.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to an
/// nf_stats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_take_stats(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    result: *mut Stats,
) -> Status {
    // SAFETY: as the caller vouches. Statistics ask for no predicate.
    unsafe { flat::reduce(data, format, count, NF_IS_NEVER, result, |x, _| x.stats().into()) }
}

/// `nf_take_stats` of a strided tensor. An element that is broadcast counts as often as coordinates
/// name it. Nulls do not count.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to an
/// nf_stats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_stats(x: *const View, result: *mut Stats) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { view::reduce(x, result, |view| Ok(view.stats().into())) }
}
