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
    let (ask, size) = of_width(rule.size(), [u8::mask, u16::mask, u32::mask, u64::mask]);
    entry::mask_by(ask, size, backend, x, rule, out);
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
    let (ask, size) = of_width(rule.size(), [u8::bits, u16::bits, u32::bits, u64::bits]);
    entry::bits_by(ask, size, backend, x, rule, out, offset);
}

/// [`crate::typed::position`].
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    let (ask, size) =
        of_width(rule.size(), [u8::position, u16::position, u32::position, u64::position]);
    entry::position_by(ask, size, backend, x, rule)
}

/// [`crate::typed::count`].
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    let (ask, size) = of_width(rule.size(), [u8::count, u16::count, u32::count, u64::count]);
    entry::count_by(ask, size, backend, x, rule)
}

/// [`crate::typed::occurrences`].
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    let (count, size) = of_width(rule.size(), [u8::count, u16::count, u32::count, u64::count]);
    let (position, _) =
        of_width(rule.size(), [u8::position, u16::position, u32::position, u64::position]);
    entry::occurrences_by((count, position), size, backend, x, rule)
}

/// [`crate::typed::census`].
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    let (ask, size) = of_width(nan.size(), [u8::census, u16::census, u32::census, u64::census]);
    let (count, _) = of_width(nan.size(), [u8::count, u16::count, u32::count, u64::count]);
    let (position, _) =
        of_width(nan.size(), [u8::position, u16::position, u32::position, u64::position]);
    entry::census_by(ask, (count, position), size, backend, x, nan)
}

/// [`crate::typed::replace`].
///
/// # Panics
/// If `nan` is no rule for NaN.
#[cfg(feature = "replace")]
pub fn replace(backend: Option<Backend>, x: &mut [u8], nan: &Rule, values: Values) -> usize {
    let (ask, size) = of_width(nan.size(), [u8::replace, u16::replace, u32::replace, u64::replace]);
    replace_by(ask, size, backend, x, nan, values)
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
    let (ask, size) = of_width(nan.size(), [u8::replace, u16::replace, u32::replace, u64::replace]);
    replace_into_by(ask, size, backend, x, out, nan, values)
}
