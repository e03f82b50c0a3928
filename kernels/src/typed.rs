//! The entries for elements whose width the caller knows: only the loops of that width are linked.
//!
//! A backend of `None` means the active one. All functions panic if the rule is for elements of
//! another width; nothing is written then.

use crate::backend::Backend;
use crate::census::Census;
use crate::dispatch::{Lane, Typed, Width};
use crate::entry;
use crate::loops::{Codes, Values};
use crate::mask_out::MaskOut;
#[cfg(feature = "stats")]
use crate::numbers::Numbers;
use crate::replace::{replace_by, replace_into_by};
use crate::rule::Rule;
#[cfg(feature = "stats")]
use crate::stats::{ForWidth, Stats, stats_by};

/// The width. Panics if the rule has another one.
#[inline(always)]
#[track_caller]
fn width<L: Lane>(rule: &Rule) -> <L as Typed>::Width {
    assert!(rule.size() == L::SIZE, "a rule for elements of another width");
    Default::default()
}

/// Whether the rule holds for any element of `x`.
// Always inlined: a rule that the caller knows becomes a constant in the code for short inputs.
#[inline(always)]
#[must_use]
pub fn any<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> bool {
    entry::any_of(width::<L>(rule), backend, x, rule)
}

/// The index of the first element of `x` for which the rule holds.
// Always inlined: see `any`.
#[inline(always)]
#[must_use]
pub fn position<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    entry::position_of(width::<L>(rule), backend, x, rule)
}

/// The number of elements of `x` for which the rule holds.
#[inline]
#[must_use]
pub fn count<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    entry::count_of(width::<L>(rule), backend, x, rule)
}

/// NaN, +Inf and -Inf in one pass, by the rule for NaN. If this rule has a [`Rule::exponent`],
/// the elements whose bits without the sign equal this number are infinite. Otherwise the format
/// has no infinity.
#[inline]
#[must_use]
pub fn census<L: Lane>(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    entry::census_of(width::<L>(nan), backend, x, nan)
}

/// One byte per element of `x`: 1 where the rule holds, otherwise 0.
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[inline]
#[track_caller]
pub fn mask<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    entry::mask_of(width::<L>(rule), backend, x, rule, out);
}

/// One bit per element of `x`, least significant bit of a byte first, from bit `offset` of `out`
/// on. All other bits of `out` keep their values.
///
/// # Panics
/// If `out` ends before the last answer, or before bit `offset`; nothing is written then.
#[inline]
#[track_caller]
pub fn bits<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &mut [u8],
    offset: usize,
) {
    entry::bits_of(width::<L>(rule), backend, x, rule, out, offset);
}

/// Replaces every NaN and infinity of `x`, and returns their number. `nan` is the rule for NaN.
/// As in [`crate::census`], it also determines the codes of the infinities. Bytes after the last
/// whole element keep their values.
///
/// # Panics
/// If `nan` is the rule for NaN or +Inf.
#[inline]
#[track_caller]
pub fn replace<L: Lane>(
    backend: Option<Backend>,
    x: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    replace_by((position::<L>, width::<L>(nan).table()), backend, x, &Codes::new(nan, values))
}

/// Like [`replace`], but writes a copy of `x` to `out`, with NaN and infinities replaced.
///
/// # Panics
/// If `out` is not as long as `x`, or if `nan` is the rule for NaN or +Inf; nothing is written
/// then.
#[inline]
#[track_caller]
pub fn replace_into<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    out: &mut [u8],
    nan: &Rule,
    values: Values,
) -> usize {
    replace_into_by(
        (position::<L>, width::<L>(nan).table()),
        backend,
        x,
        out,
        &Codes::new(nan, values),
    )
}

/// Statistics of `x` in one pass.
#[must_use]
#[cfg(feature = "stats")]
pub fn stats<L: Lane>(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    width::<L>(&numbers.nan);
    let loops = const { &ForWidth::of(L::SIZE, position::<L>, census::<L>, bits::<L>) };
    stats_by(loops, backend, x, numbers)
}
