//! The entries for elements whose width is known only at run time, by the rule.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
#[cfg(feature = "replace")]
use crate::codes::Values;
use crate::entry;
use crate::out::MaskOut;
use crate::rule::Rule;

/// [`crate::typed::mask`].
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[track_caller]
pub fn mask(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    match rule.size() {
        1 => entry::mask::<u8>(backend, x, rule, out),
        2 => entry::mask::<u16>(backend, x, rule, out),
        4 => entry::mask::<u32>(backend, x, rule, out),
        _ => entry::mask::<u64>(backend, x, rule, out),
    }
}

/// [`crate::typed::mask_uninit`].
///
/// # Panics
/// As [`mask`].
#[track_caller]
pub fn mask_uninit<'o>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    match rule.size() {
        1 => entry::mask_uninit::<u8>(backend, x, rule, out),
        2 => entry::mask_uninit::<u16>(backend, x, rule, out),
        4 => entry::mask_uninit::<u32>(backend, x, rule, out),
        _ => entry::mask_uninit::<u64>(backend, x, rule, out),
    }
}

/// [`crate::typed::bits`].
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[track_caller]
pub fn bits(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    match rule.size() {
        1 => entry::bits::<u8>(backend, x, rule, out, offset),
        2 => entry::bits::<u16>(backend, x, rule, out, offset),
        4 => entry::bits::<u32>(backend, x, rule, out, offset),
        _ => entry::bits::<u64>(backend, x, rule, out, offset),
    }
}

/// [`crate::typed::position`].
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    match rule.size() {
        1 => entry::position::<u8>(backend, x, rule),
        2 => entry::position::<u16>(backend, x, rule),
        4 => entry::position::<u32>(backend, x, rule),
        _ => entry::position::<u64>(backend, x, rule),
    }
}

/// [`crate::typed::count`].
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    match rule.size() {
        1 => entry::count::<u8>(backend, x, rule),
        2 => entry::count::<u16>(backend, x, rule),
        4 => entry::count::<u32>(backend, x, rule),
        _ => entry::count::<u64>(backend, x, rule),
    }
}

/// [`crate::typed::occurrences`].
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    match rule.size() {
        1 => entry::occurrences::<u8>(backend, x, rule),
        2 => entry::occurrences::<u16>(backend, x, rule),
        4 => entry::occurrences::<u32>(backend, x, rule),
        _ => entry::occurrences::<u64>(backend, x, rule),
    }
}

/// [`crate::typed::census`].
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    match nan.size() {
        1 => entry::census::<u8>(backend, x, nan),
        2 => entry::census::<u16>(backend, x, nan),
        4 => entry::census::<u32>(backend, x, nan),
        _ => entry::census::<u64>(backend, x, nan),
    }
}

/// [`crate::typed::replace`].
///
/// # Panics
/// If `nan` is no rule for NaN.
#[cfg(feature = "replace")]
pub fn replace(backend: Option<Backend>, x: &mut [u8], nan: &Rule, values: Values) -> usize {
    match nan.size() {
        1 => crate::replace::replace::<u8>(backend, x, nan, values),
        2 => crate::replace::replace::<u16>(backend, x, nan, values),
        4 => crate::replace::replace::<u32>(backend, x, nan, values),
        _ => crate::replace::replace::<u64>(backend, x, nan, values),
    }
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
    match nan.size() {
        1 => crate::replace::replace_into::<u8>(backend, x, out, nan, values),
        2 => crate::replace::replace_into::<u16>(backend, x, out, nan, values),
        4 => crate::replace::replace_into::<u32>(backend, x, out, nan, values),
        _ => crate::replace::replace_into::<u64>(backend, x, out, nan, values),
    }
}
