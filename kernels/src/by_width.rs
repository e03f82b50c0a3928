//! The entries for elements whose width is known only at run time, from the rule.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::entry;
use crate::lines::{Long, elements};
use crate::mask_out::MaskOut;
use crate::rule::{Classes, Rule};
use crate::tables::{Count, Screen, Table, Tables};

/// The item for the width of the rule, among the items for 1, 2, 4 and 8 bytes.
#[inline(always)]
pub(crate) fn of<T: Copy>(rule: &Rule, widths: [T; 4]) -> T {
    widths[rule.size().trailing_zeros() as usize % 4]
}

/// The bytes of the whole elements.
#[inline(always)]
fn whole<'x>(x: &'x [u8], rule: &Rule) -> &'x [u8] {
    &x[..x.len() & !(rule.size() - 1)]
}

/// [`crate::typed::mask`] for elements whose width the rule says.
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[track_caller]
pub fn mask(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    let x = whole(x, rule);
    entry::check_places(elements(x.len(), rule.size()), out.len());
    let short = of(rule, [u8::short_mask, u16::short_mask, u32::short_mask, u64::short_mask]);
    let mask = of(rule, [u8::MASK, u16::MASK, u32::MASK, u64::MASK]);
    let skip = of(rule, [u8::SKIP, u16::SKIP, u32::SKIP, u64::SKIP]);
    match Long::new(x) {
        None => short(x, rule, out.slots()),
        Some(x) => entry::long_mask((mask, skip), backend, x, rule, out.slots()),
    }
}

/// [`crate::typed::mask_uninit`] for elements whose width the rule says.
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

/// [`crate::typed::bits`] for elements whose width the rule says.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[track_caller]
pub fn bits(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    let bits = of(rule, [u8::PACKED, u16::PACKED, u32::PACKED, u64::PACKED]);
    let screen = of(rule, [u8::SCREEN, u16::SCREEN, u32::SCREEN, u64::SCREEN]);
    entry::bits_by(short_bits(rule), (bits, screen), backend, whole(x, rule), rule, (out, offset));
}

/// [`crate::typed::any`] for elements whose width the rule says.
#[must_use]
pub fn any(backend: Option<Backend>, x: &[u8], rule: &Rule) -> bool {
    position(backend, x, rule).is_some()
}

/// [`crate::typed::position`] for elements whose width the rule says.
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    let find = of(rule, [u8::FIND, u16::FIND, u32::FIND, u64::FIND]);
    entry::position_by(short_bits(rule), find, backend, whole(x, rule), rule)
}

/// [`crate::typed::count`] for elements whose width the rule says.
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    let short = of(rule, [u8::short_count, u16::short_count, u32::short_count, u64::short_count]);
    let x = whole(x, rule);
    match Long::new(x) {
        None => short(x, rule),
        Some(x) => entry::long_count(counts(rule), backend, x, rule),
    }
}

/// [`crate::typed::occurrences`] for elements whose width the rule says.
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    let find = of(rule, [u8::FIND, u16::FIND, u32::FIND, u64::FIND]);
    let (short, x) = (short_bits(rule), whole(x, rule));
    entry::occurrences_by(short, find, counts(rule), backend, x, rule)
}

/// [`crate::typed::census`] for elements whose width the rule says.
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    let Some(classes) = Classes::of(nan) else {
        return Census { nan: occurrences(backend, x, nan), ..Census::default() };
    };
    let classify = of(nan, [u8::CLASSIFY, u16::CLASSIFY, u32::CLASSIFY, u64::CLASSIFY]);
    let find = of(nan, [u8::FIND, u16::FIND, u32::FIND, u64::FIND]);
    entry::census_by(short_bits(nan), (classify, find), backend, whole(x, nan), nan, classes)
}

#[inline(always)]
fn short_bits(rule: &Rule) -> entry::ShortBits {
    of(rule, [u8::short_bits, u16::short_bits, u32::short_bits, u64::short_bits])
}

#[inline(always)]
fn counts(rule: &Rule) -> (&'static Table<Count>, &'static Table<Screen>) {
    let count = of(rule, [u8::COUNT, u16::COUNT, u32::COUNT, u64::COUNT]);
    (count, of(rule, [u8::SCREEN, u16::SCREEN, u32::SCREEN, u64::SCREEN]))
}
