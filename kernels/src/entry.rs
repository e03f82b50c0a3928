//! The entry of each question: checks the arguments, answers constant rules and short inputs, and
//! asks a leaf or a driver about the others.
//!
//! ```text
//! fewer than 64 bytes      answered at once                       short.rs
//! up to 2 KiB              one leaf                               loops/
//! more, and a census       a driver; for a search, one leaf       drivers.rs
//! ```
//!
//! An entry is generic over the width of an element, so that a caller links only the leaves of that
//! width. [`crate::bytes`] has the entries for elements whose width is known only at run time.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::drivers::{self, ONE_LEAF};
use crate::leaves::{Bits, Count, Find, Mask};
use crate::leaves::{Lane, Table};
use crate::out::MaskOut;
use crate::packed::{self, bytes_of};
use crate::pieces::{Hit, Long, Places, elements};
use crate::rule::{Classes, Rule};

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

/// Whether the rule holds for any element of `x`. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
// Always inlined: a rule that the caller knows becomes a constant in the code for short inputs.
#[inline(always)]
#[must_use]
pub fn any<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> bool {
    let x = whole::<L>(x, rule);
    match Long::new(x) {
        _ if rule.constant().is_some() => rule.constant() == Some(true) && !x.is_empty(),
        None => L::short_any(x, rule),
        Some(x) => find(L::find(), backend, x, rule).is_some(),
    }
}

/// The index of the first element of `x` for which the rule holds. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn position<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    let x = whole::<L>(x, rule);
    match Long::new(x) {
        _ if rule.constant().is_some() => {
            (rule.constant() == Some(true) && !x.is_empty()).then_some(0)
        }
        None if !L::short_any(x, rule) => None,
        None => first_of(L::short_bits(x, rule)),
        Some(x) => find(L::find(), backend, x, rule).index(L::SIZE),
    }
}

/// The index of the lowest 1, if there is one.
#[inline(always)]
fn first_of(bits: u64) -> Option<usize> {
    if bits == 0 { None } else { Some(bits.trailing_zeros() as usize) }
}

#[inline(always)]
fn find(table: &Table<Find>, backend: Option<Backend>, x: Long<'_>, rule: &Rule) -> Hit {
    drivers::search(x, rule, table.pick(backend))
}

/// [`position`] of whole elements, by the loops of their width.
#[inline(never)]
pub(crate) fn position_by(
    short: ShortBits,
    table: &Table<Find>,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Option<usize> {
    match Long::new(x) {
        None => first_of(short(x, rule)),
        Some(x) => long_position(table, backend, x, rule),
    }
}

/// [`position`] of at least 64 bytes.
#[inline(never)]
fn long_position(
    table: &Table<Find>,
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
) -> Option<usize> {
    match rule.constant() {
        Some(answer) => answer.then_some(0),
        None => find(table, backend, x, rule).index(rule.size()),
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
    if x.len() < 64 {
        return L::short_count(x, rule);
    }
    if rule.usual() || rule.constant().is_some() {
        return long_count((L::count(), L::find()), backend, Long::of(x), rule);
    }
    hits(L::count(), L::find(), backend, Long::of(x), rule)
}

/// [`count`] by a rule of hits.
#[inline(always)]
fn hits(
    count: &Table<Count>,
    find: &Table<Find>,
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
) -> usize {
    let count = count.pick(backend);
    if x.len() <= ONE_LEAF {
        return count.run(x, rule) as usize;
    }
    let first = self::find(find, backend, x, rule);
    if first.is_some() { drivers::count(x, first, rule, count, find.pick(backend)) } else { 0 }
}

/// [`count`] of whole elements, by the loops of their width.
#[inline(never)]
pub(crate) fn count_by(
    short: fn(&[u8], &Rule) -> usize,
    (count, find): (&Table<Count>, &Table<Find>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> usize {
    match Long::new(x) {
        None => short(x, rule),
        Some(x) => long_count((count, find), backend, x, rule),
    }
}

/// [`count`] of at least 64 bytes.
#[inline(never)]
fn long_count(
    (count, find): (&Table<Count>, &Table<Find>),
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
) -> usize {
    let elements = elements(x.len(), rule.size());
    if let Some(answer) = rule.constant() {
        return if answer { elements } else { 0 };
    }
    // Most elements are no hits, so hits are counted, even if the rule asks for the others.
    let (usual, opposite) = (rule.usual(), rule.not());
    let hits = hits(count, find, backend, x, if usual { &opposite } else { rule });
    if usual { elements - hits } else { hits }
}

/// The number of elements of `x` for which the rule holds, and the first. `None` means the active
/// backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn occurrences<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    let tables = (L::count(), L::find());
    occurrences_by(L::short_bits, tables, backend, whole::<L>(x, rule), rule)
}

/// [`occurrences`] of whole elements, by the loops of their width.
#[inline(never)]
pub(crate) fn occurrences_by(
    short: ShortBits,
    (count, find): (&Table<Count>, &Table<Find>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Occurrences {
    let Some(x) = Long::new(x) else { return occurrences_in(short(x, rule)) };
    match long_count((count, find), backend, x, rule) {
        0 => Occurrences::default(),
        count => Occurrences { count, first: long_position(find, backend, x, rule) },
    }
}

/// The number of ones in a word, and the index of the first.
#[inline(always)]
fn occurrences_in(bits: u64) -> Occurrences {
    Occurrences { count: bits.count_ones() as usize, first: first_of(bits) }
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
        let tables = (L::count(), L::find());
        let nan = occurrences_by(L::short_bits, tables, backend, x, nan);
        return Census { nan, ..Census::default() };
    };
    match Long::new(x) {
        None => short_census(L::short_bits, x, nan, classes),
        Some(x) => long_census((L::classify(), L::find()), backend, x, nan, classes),
    }
}

/// The census of fewer than 64 bytes.
#[inline(never)]
pub(crate) fn short_census(short: ShortBits, x: &[u8], nan: &Rule, classes: Classes) -> Census {
    if short(x, &classes.special()) == 0 {
        return Census::default();
    }
    let infinity = |negative| occurrences_in(short(x, &classes.infinity(negative)));
    Census::new(occurrences_in(short(x, nan)), infinity(false), infinity(true))
}

#[inline(always)]
pub(crate) fn long_census(
    (classify, find): (&Table<Count>, &Table<Find>),
    backend: Option<Backend>,
    x: Long<'_>,
    nan: &Rule,
    classes: Classes,
) -> Census {
    let find = find.pick(backend);
    let first = find.run(x, &classes.special());
    if first.is_some() {
        drivers::census(x, first, nan, classes, classify.pick(backend), find)
    } else {
        Census::default()
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
    if x.len() < 64 {
        L::short_mask(x, rule, out);
    } else if x.len() <= ONE_LEAF {
        L::mask().pick(backend).run(Long::of(x), rule, out);
    } else {
        mask_by(L::short_mask, (L::mask(), L::skip()), backend, x, rule, out);
    }
}

/// [`mask`] of whole elements, one for each place, by the loops of their width.
#[inline(never)]
pub(crate) fn mask_by(
    short: fn(&[u8], &Rule, &mut Places),
    (mask, skip): (&Table<Mask>, &Table<Mask>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &mut Places,
) {
    let Some(long) = Long::new(x) else { return short(x, rule, out) };
    if let Some(answer) = rule.constant() {
        out.fill(MaybeUninit::new(answer));
    } else if rule.size() == 1 || rule.is_tilted() || x.len() < Backend::skips_from(backend) {
        // For elements of one byte, a comparison is as fast as a screen.
        mask.pick(backend).run(long, rule, out);
    } else {
        let (mask, skip) = (mask.pick(backend), skip.pick(backend));
        drivers::mask(long, rule, out, mask, skip);
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
    if offset.is_multiple_of(8)
        && let Some(long) = Long::new(x)
        && let Some(out) = out.get_mut(offset / 8..)
        && let Some(out) = out.get_mut(..elements.div_ceil(8))
    {
        words_by(L::bits(), L::find(), backend, long, rule, out);
    } else {
        bits_by(L::short_bits, (L::bits(), L::find()), backend, x, rule, (out, offset));
    }
}

/// [`bits`] of whole elements, by the loops of their width.
#[inline(never)]
#[track_caller]
pub(crate) fn bits_by(
    short: ShortBits,
    (bits, find): (&Table<Bits>, &Table<Find>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    (out, offset): (&mut [u8], usize),
) {
    let elements = elements(x.len(), rule.size());
    let (first, shift) = (offset / 8, offset % 8);
    let end = first.saturating_add(bytes_of(elements, shift));
    let bytes = out.len();
    let Some(out) = out.get_mut(first..end) else { short_bitmap(elements, offset, bytes) };
    if let Some(answer) = rule.constant() {
        packed::fill(answer, elements, out, shift);
    } else if let Some(x) = Long::new(x).filter(|_| shift == 0) {
        words_by(bits, find, backend, x, rule, out);
    } else if x.len() < 64 {
        packed::put(short(x, rule), elements, out, shift);
    } else {
        shifted_bits(short, (bits, find), backend, x, rule, (out, shift));
    }
}

/// [`bits_by`] from bit `shift` of `out` on: the bits are computed in a buffer and shifted.
#[inline(never)]
fn shifted_bits(
    short: ShortBits,
    (bits, find): (&Table<Bits>, &Table<Find>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    (mut out, shift): (&mut [u8], usize),
) {
    const WORDS: usize = 64;
    for x in x.chunks((WORDS * 64) << rule.size().trailing_zeros()) {
        let (mut words, elements) = ([0; WORDS * 8], elements(x.len(), rule.size()));
        let bytes = &mut words[..elements.div_ceil(8)];
        match Long::new(x) {
            None => packed::put(short(x, rule), elements, bytes, 0),
            Some(x) => words_by(bits, find, backend, x, rule, bytes),
        }
        for (i, word) in words.as_chunks().0[..elements.div_ceil(64)].iter().enumerate() {
            packed::put(u64::from_le_bytes(*word), (elements - 64 * i).min(64), out, shift);
            out = out.get_mut(8..).unwrap_or_default();
        }
    }
}

/// The bits of at least 64 bytes, from the first bit of `out` on to its last byte.
#[inline(always)]
fn words_by(
    bits: &Table<Bits>,
    find: &Table<Find>,
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
    out: &mut [u8],
) {
    let elements = elements(x.len(), rule.size());
    let (words, bits) = (&mut out.as_chunks_mut().0[..elements / 64], bits.pick(backend));
    let rest = if x.len() <= ONE_LEAF {
        bits.run(x, rule, words)
    } else {
        drivers::bits(x, rule, words, bits, find.pick(backend))
    };
    packed::put(rest, elements % 64, &mut out[elements / 64 * 8..], 0);
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
