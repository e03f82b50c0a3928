//! The entries for elements whose width is known only at run time, by the rule.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
#[cfg(feature = "replace")]
use crate::codes::Values;
use crate::entry;
use crate::lane::Loops;
use crate::out::MaskOut;
use crate::rule::Rule;

/// Of the loops for elements of 1, 2, 4 and 8 bytes, the one for elements of this rule, and their
/// size. For a rule without a size, any loop and size: the entries compare the sizes.
fn of_width<T: Copy>(rule: &Rule, widths: [T; 4]) -> (T, usize) {
    let i = rule.size().trailing_zeros() as usize % 4;
    (widths[i], 1 << i)
}

/// [`crate::typed::mask`].
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[track_caller]
pub fn mask(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    let (ask, size) = of_width(rule, [u8::mask, u16::mask, u32::mask, u64::mask]);
    entry::mask_by(ask, size, backend, x, rule, out);
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
    let (ask, size) = of_width(rule, [u8::mask, u16::mask, u32::mask, u64::mask]);
    entry::mask_uninit_by(ask, size, backend, x, rule, out)
}

/// [`crate::typed::bits`].
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[track_caller]
pub fn bits(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    let (ask, size) = of_width(rule, [u8::bits, u16::bits, u32::bits, u64::bits]);
    entry::bits_by(ask, size, backend, x, rule, (out, offset));
}

/// [`crate::typed::position`].
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    let (ask, size) = of_width(rule, [u8::position, u16::position, u32::position, u64::position]);
    entry::position_by(ask, size, backend, x, rule)
}

/// [`crate::typed::count`].
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    let (ask, size) = of_width(rule, [u8::count, u16::count, u32::count, u64::count]);
    entry::count_by(ask, size, backend, x, rule)
}

/// [`crate::typed::occurrences`].
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    let (count, size) = of_width(rule, [u8::count, u16::count, u32::count, u64::count]);
    let (position, _) = of_width(rule, [u8::position, u16::position, u32::position, u64::position]);
    entry::occurrences_by((count, position), size, backend, x, rule)
}

/// [`crate::typed::census`].
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    let (ask, size) = of_width(nan, [u8::census, u16::census, u32::census, u64::census]);
    let (count, _) = of_width(nan, [u8::count, u16::count, u32::count, u64::count]);
    let (position, _) = of_width(nan, [u8::position, u16::position, u32::position, u64::position]);
    entry::census_by(ask, (count, position), size, backend, x, nan)
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
