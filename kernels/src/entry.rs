//! The entry of each question: checks the arguments, answers constant rules and short inputs, and
//! asks a leaf or a driver about the others.
//!
//! ```text
//! fewer than 64 bytes      answered at once                              short/
//! up to 2 KiB              one leaf                                      loops/
//! more, and a census       a driver; for a search or a count, one leaf   drivers.rs
//! ```
//!
//! An entry is generic over the width of an element, so that a caller links only the leaves of that
//! width. [`crate::by_width`] has the entries for elements whose width is known only at run time.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::drivers;
use crate::lines::{Long, Places, elements};
use crate::mask_out::MaskOut;
use crate::packed::{self, bytes_of};
use crate::rule::{Classes, Rule};
use crate::tables::{Bits, Classify, Count, Find, Lane, Mask, Screen, Skip, Table};
use crate::tuning::ONE_LEAF;

/// The bytes of the whole elements.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline(always)]
#[track_caller]
fn whole<'x, L: Lane>(x: &'x [u8], rule: &Rule) -> &'x [u8] {
    assert!(rule.size() == L::SIZE, "a rule for elements of another width");
    &x[..x.len() & !(L::SIZE - 1)]
}

/// The answers for fewer than 64 bytes, as bits.
pub(crate) type ShortBits = fn(&[u8], &Rule) -> u64;

/// An input for a leaf: more than 64 bytes. The code for short inputs searches 64 bytes faster, but
/// elements of 8 bytes may be looked at one by one there.
#[inline(always)]
fn searched_by_leaf<L: Lane>(x: &[u8]) -> Option<Long<'_>> {
    Long::new(x).filter(|x| L::SIZE == 8 || x.len() > 64)
}

/// Whether the rule holds for any element of `x`. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
// Always inlined: a rule that the caller knows becomes a constant in the code for short inputs.
#[inline(always)]
#[must_use]
pub fn any<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> bool {
    let x = whole::<L>(x, rule);
    match searched_by_leaf::<L>(x) {
        None => L::short_any(x, rule),
        Some(x) if rule.is_exact() => L::SCREEN.pick(backend).run(x, rule) < x.len(),
        Some(x) => drivers::search(x, rule, L::FIND.pick(backend)).is_some(),
    }
}

/// The index of the first element of `x` for which the rule holds. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
// Always inlined: see `any`.
#[inline(always)]
#[must_use]
pub fn position<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    let x = whole::<L>(x, rule);
    match searched_by_leaf::<L>(x) {
        None if !L::short_any(x, rule) => None,
        None => first_of(L::short_bits(x, rule)),
        Some(x) => drivers::search(x, rule, L::FIND.pick(backend)).index(L::SIZE),
    }
}

/// The index of the lowest 1, if there is one.
#[inline(always)]
fn first_of(bits: u64) -> Option<usize> {
    if bits == 0 { None } else { Some(bits.trailing_zeros() as usize) }
}

/// [`position`] of whole elements, by the search of their width.
#[inline(never)]
pub(crate) fn position_by(
    short: ShortBits,
    find: &Table<Find>,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Option<usize> {
    match Long::new(x) {
        None => first_of(short(x, rule)),
        Some(x) => drivers::search(x, rule, find.pick(backend)).index(rule.size()),
    }
}

/// The number of elements of `x` for which the rule holds. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn count<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    let x = whole::<L>(x, rule);
    match Long::new(x) {
        None => L::short_count(x, rule),
        Some(x) if x.len() <= ONE_LEAF && rule.constant().is_none() => {
            L::COUNT.pick(backend).run(x, rule) as usize
        }
        Some(x) => long_count((L::COUNT, L::SCREEN), backend, x, rule),
    }
}

/// [`count`] of at least 64 bytes, by the loops of their width.
#[inline(never)]
pub(crate) fn long_count(
    (count, screen): (&Table<Count>, &Table<Screen>),
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
) -> usize {
    let elements = elements(x.len(), rule.size());
    if let Some(answer) = rule.constant() {
        return if answer { elements } else { 0 };
    }
    // Most elements are no hits, so hits are counted, even if the rule asks for the others.
    let hits = drivers::hits(x, rule, count.pick(backend), screen.pick(backend));
    if rule.usual() { elements - hits } else { hits }
}

/// The number of elements of `x` for which the rule holds, and the first. `None` means the active
/// backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn occurrences<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    let (x, counts) = (whole::<L>(x, rule), (L::COUNT, L::SCREEN));
    occurrences_by(L::short_bits, L::FIND, counts, backend, x, rule)
}

/// [`occurrences`] of whole elements, by the loops of their width.
#[inline(never)]
pub(crate) fn occurrences_by(
    short: ShortBits,
    find: &Table<Find>,
    counts: (&Table<Count>, &Table<Screen>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Occurrences {
    let count = match Long::new(x) {
        None => short(x, rule).count_ones() as usize,
        Some(x) => long_count(counts, backend, x, rule),
    };
    match count {
        0 => Occurrences::default(),
        count => Occurrences { count, first: position_by(short, find, backend, x, rule) },
    }
}

/// NaN, +Inf and -Inf in one pass, by the rule for NaN. If this rule has a [`Rule::exponent`], the
/// elements whose bits without the sign equal this number are infinite. Otherwise the format has no
/// infinity. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn census<L: Lane>(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    let x = whole::<L>(x, nan);
    let Some(classes) = Classes::of(nan) else {
        return Census { nan: occurrences::<L>(backend, x, nan), ..Census::default() };
    };
    if x.len() < 64 && !L::short_any(x, &classes.special()) {
        return Census::default();
    }
    census_by(L::short_bits, (L::CLASSIFY, L::FIND), backend, x, nan, classes)
}

/// [`census`] of whole elements of a format with infinities, by the loops of their width.
#[inline]
pub(crate) fn census_by(
    short: ShortBits,
    (classify, find): (&Table<Classify>, &Table<Find>),
    backend: Option<Backend>,
    x: &[u8],
    nan: &Rule,
    classes: Classes,
) -> Census {
    let special = classes.special();
    let Some(long) = Long::new(x) else {
        return drivers::short_census(x, short(x, &special), classes);
    };
    let find = find.pick(backend);
    match drivers::search(long, &special, find) {
        hit if !hit.is_some() => Census::default(),
        hit => drivers::census(long, hit, (nan, &special), classes, classify.pick(backend), find),
    }
}

/// One byte per element of `x`: 1 where the rule holds, otherwise 0. `None` means the active
/// backend.
///
/// # Panics
/// If `out` is not as long as `x` has whole elements, or if the rule is for elements of another
/// width; nothing is written then.
#[inline]
#[track_caller]
pub fn mask<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    let (x, out) = (whole::<L>(x, rule), out.slots());
    check_places(x.len() / L::SIZE, out.len());
    match Long::new(x) {
        None => L::short_mask(x, rule, out),
        Some(x) if x.len() <= ONE_LEAF => {
            L::MASK.pick(backend).run(x, rule, out);
        }
        Some(x) => long_mask((L::MASK, L::SKIP), backend, x, rule, out),
    }
}

/// [`mask`] of at least 64 bytes, by the loops of their width. `out` has a place for each element.
#[inline(never)]
pub(crate) fn long_mask(
    (mask, skip): (&Table<Mask>, &Table<Skip>),
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
    out: &mut Places,
) {
    if let Some(answer) = rule.constant() {
        out.fill(MaybeUninit::new(answer));
    } else if rule.size() == 1 || rule.is_tilted() || x.len() < Backend::skips_from(backend) {
        // For elements of one byte, a comparison is as fast as a screen.
        mask.pick(backend).run(x, rule, out);
    } else {
        drivers::mask(x, rule, out, mask.pick(backend), skip.pick(backend));
    }
}

/// Like [`mask`], into memory that need not be initialised. Returns the initialised memory.
///
/// # Panics
/// As [`mask`].
#[inline]
#[track_caller]
#[expect(unsafe_code, reason = "all results are written")]
pub fn mask_uninit<'o, L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    mask::<L>(backend, x, rule, MaskOut::from(&mut *out));
    // SAFETY: `mask` has written every result, or has panicked.
    unsafe { initialised(out) }
}

/// # Safety
/// All of `out` must be written.
#[inline(always)]
#[expect(unsafe_code, reason = "the caller has written all of it")]
pub(crate) unsafe fn initialised(out: &mut Places) -> &mut [bool] {
    // SAFETY: same length, size and alignment, and all written, as the caller promises.
    unsafe { &mut *(core::ptr::from_mut(out) as *mut [bool]) }
}

/// One bit per element of `x`, least significant bit of a byte first, from bit `offset` of `out`
/// on. All other bits of `out` keep their values. `None` means the active backend.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`, or if the rule is for elements of
/// another width; nothing is written then.
#[inline]
#[track_caller]
pub fn bits<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &mut [u8],
    offset: usize,
) {
    let x = whole::<L>(x, rule);
    let elements = x.len() / L::SIZE;
    let whole_bytes = offset.is_multiple_of(8) && x.len() <= ONE_LEAF;
    let places = offset / 8..(offset / 8).saturating_add(elements.div_ceil(8));
    match (Long::new(x), out.get_mut(places)) {
        (None, Some(out)) if whole_bytes => {
            packed::put(L::short_bits(x, rule), elements, out, 0);
        }
        (Some(x), Some(out)) if whole_bytes => {
            drivers::bits_of(x, rule, out, |lines| L::PACKED.pick(backend).run(x, rule, lines));
        }
        _ => bits_by(L::short_bits, (L::PACKED, L::SCREEN), backend, x, rule, (out, offset)),
    }
}

/// [`bits`] of whole elements, by the loops of their width.
#[inline(never)]
#[track_caller]
pub(crate) fn bits_by(
    short: ShortBits,
    (bits, screen): (&Table<Bits>, &Table<Screen>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    (out, offset): (&mut [u8], usize),
) {
    let (elements, bytes, shift) = (elements(x.len(), rule.size()), out.len(), offset % 8);
    let end = (offset / 8).saturating_add(bytes_of(elements, shift));
    let Some(out) = out.get_mut(offset / 8..end) else { short_bitmap(elements, offset, bytes) };
    let leaves = (bits.pick(backend), screen.pick(backend));
    match Long::new(x) {
        _ if rule.constant().is_some() => {
            packed::fill(rule.constant() == Some(true), elements, out, shift);
        }
        None => packed::put(short(x, rule), elements, out, shift),
        Some(x) if shift == 0 => drivers::bits(x, rule, out, leaves),
        Some(x) => shifted_bits(short, leaves, x, rule, (out, shift)),
    }
}

/// [`bits`] from bit `shift` of `out` on: the bits are computed in a buffer and shifted.
#[inline(never)]
fn shifted_bits(
    short: ShortBits,
    leaves: (Bits, Screen),
    x: Long<'_>,
    rule: &Rule,
    (mut out, shift): (&mut [u8], usize),
) {
    const WORDS: usize = 64;
    for x in x.bytes().chunks((WORDS * 64) << rule.size().trailing_zeros()) {
        let (mut words, elements) = ([0; WORDS * 8], elements(x.len(), rule.size()));
        let bytes = &mut words[..elements.div_ceil(8)];
        match Long::new(x) {
            None => packed::put(short(x, rule), elements, bytes, 0),
            Some(x) => drivers::bits(x, rule, bytes, leaves),
        }
        for (i, word) in words.as_chunks().0[..elements.div_ceil(64)].iter().enumerate() {
            packed::put(u64::from_le_bytes(*word), (elements - 64 * i).min(64), out, shift);
            out = out.get_mut(8..).unwrap_or_default();
        }
    }
}

/// # Panics
/// If there are not as many places as elements.
#[inline(always)]
#[track_caller]
pub(crate) fn check_places(elements: usize, places: usize) {
    if elements != places {
        wrong_length(elements, places);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn wrong_length(elements: usize, results: usize) -> ! {
    panic!("{elements} elements, but an output for {results}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn short_bitmap(elements: usize, offset: usize, bytes: usize) -> ! {
    panic!("{elements} elements from bit {offset} on, but an output of {bytes} bytes")
}
