//! The entries for elements whose width is known only at run time, by the rule.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
#[cfg(feature = "replace")]
use crate::codes::Values;
use crate::entry;
use crate::lane::{Loops, of_width};
use crate::out::MaskOut;
#[cfg(feature = "replace")]
use crate::replace::{replace_by, replace_into_by};
use crate::rule::Rule;

/// [`crate::typed::mask`].
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[track_caller]
pub fn mask(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    let (row, size) = of_width(rule.size(), &[u8::MASK, u16::MASK, u32::MASK, u64::MASK]);
    entry::mask_by(row, size, backend, x, rule, out);
}

/// [`crate::typed::mask_uninit`].
///
/// # Panics
/// As [`mask`].
#[track_caller]
#[expect(unsafe_code, reason = "all results are written")]
pub fn mask_uninit<'o>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    mask(backend, x, rule, MaskOut::from(&mut *out));
    // SAFETY: `mask` has written every result, or has panicked.
    unsafe { entry::initialised(out) }
}

/// [`crate::typed::bits`].
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[track_caller]
pub fn bits(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    let (row, size) = of_width(
        rule.size(),
        &[u8::PACKED_BITS, u16::PACKED_BITS, u32::PACKED_BITS, u64::PACKED_BITS],
    );
    entry::bits_by(row, size, backend, x, rule, out, offset);
}

/// [`crate::typed::position`].
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    let (row, size) =
        of_width(rule.size(), &[u8::POSITION, u16::POSITION, u32::POSITION, u64::POSITION]);
    entry::position_by(row, size, backend, x, rule)
}

/// [`crate::typed::count`].
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    let (row, size) = of_width(rule.size(), &[u8::COUNT, u16::COUNT, u32::COUNT, u64::COUNT]);
    entry::count_by(row, size, backend, x, rule)
}

/// [`crate::typed::occurrences`].
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    let (count, size) = of_width(rule.size(), &[u8::COUNT, u16::COUNT, u32::COUNT, u64::COUNT]);
    let (position, _) =
        of_width(rule.size(), &[u8::POSITION, u16::POSITION, u32::POSITION, u64::POSITION]);
    entry::occurrences_by((count, position), size, backend, x, rule)
}

/// [`crate::typed::census`].
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    let (row, size) = of_width(nan.size(), &[u8::CENSUS, u16::CENSUS, u32::CENSUS, u64::CENSUS]);
    let (count, _) = of_width(nan.size(), &[u8::COUNT, u16::COUNT, u32::COUNT, u64::COUNT]);
    let (position, _) =
        of_width(nan.size(), &[u8::POSITION, u16::POSITION, u32::POSITION, u64::POSITION]);
    entry::census_by(row, (count, position), size, backend, x, nan)
}

/// [`crate::typed::replace`].
///
/// # Panics
/// If `nan` is no rule for NaN.
#[cfg(feature = "replace")]
pub fn replace(backend: Option<Backend>, x: &mut [u8], nan: &Rule, values: Values) -> usize {
    let (row, size) =
        of_width(nan.size(), &[u8::REPLACE, u16::REPLACE, u32::REPLACE, u64::REPLACE]);
    replace_by(row, size, backend, x, nan, values)
}

/// [`crate::typed::replace_into`].
///
/// # Panics
/// If `out` is not as long as `x`, or if `nan` is no rule for NaN; nothing is written then.
#[cfg(feature = "replace")]
#[track_caller]
pub fn replace_into(
    backend: Option<Backend>,
    x: &[u8],
    out: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    let (row, size) =
        of_width(nan.size(), &[u8::REPLACE, u16::REPLACE, u32::REPLACE, u64::REPLACE]);
    replace_into_by(row, size, backend, x, out, nan, values)
}
