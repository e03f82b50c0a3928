//! The entry of each question: checks the arguments, answers constant rules and short inputs, and
//! asks a loop or a driver about the others.
//!
//! ```text
//! fewer than 64 bytes      answered at once                              short/
//! up to 2 KiB              one loop                                      loops/
//! more, and a census       a driver; for a search, one loop              drivers.rs
//! ```
//!
//! Each entry stands here once, for a [`Width`] that is a type ([`crate::typed`]) or a number of
//! the rule. If the rule is an opposite, a count subtracts, a search looks for the elements that
//! are no hits, and masks and bits compare by the numbers of the answer.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::dispatch::{Loop, ShortBits, SizeOf, Table, Width};
use crate::drivers;
use crate::lines::{Hit, Long, elements};
use crate::loops::{Classify, Clean, Count, Find, Mask, Pack};
use crate::mask_out::MaskOut;
use crate::packed::{self, bytes_of};
use crate::rule::{Classes, Rule};
use crate::tuning::ONE_LOOP;

/// [`crate::typed::position`] for elements whose width the rule says.
#[must_use]
pub fn position(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    position_of(SizeOf(rule.size()), backend, x, rule)
}

/// [`crate::typed::count`] for elements whose width the rule says.
#[must_use]
pub fn count(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    count_of(SizeOf(rule.size()), backend, x, rule)
}

/// The number of elements of `x` for which the rule holds, and the index of the first.
#[must_use]
pub fn occurrences(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    occurrences_of(SizeOf(rule.size()), backend, x, rule)
}

/// [`crate::typed::census`] for elements whose width the rule says.
#[must_use]
pub fn census(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    census_of(SizeOf(nan.size()), backend, x, nan)
}

/// [`crate::typed::mask`] for elements whose width the rule says.
#[track_caller]
pub fn mask(backend: Option<Backend>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    mask_of(SizeOf(rule.size()), backend, x, rule, out);
}

/// Like [`mask`], into memory that need not be initialised. Returns the initialised memory.
#[track_caller]
#[expect(unsafe_code, reason = "all results are written")]
pub fn mask_uninit<'o>(
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    mask(backend, x, rule, MaskOut::from(&mut *out));
    // SAFETY: same length, size and alignment. `mask` has written every result, or has panicked.
    unsafe { &mut *(core::ptr::from_mut(out) as *mut [bool]) }
}

/// [`crate::typed::bits`] for elements whose width the rule says.
#[track_caller]
pub fn bits(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    bits_of(SizeOf(rule.size()), backend, x, rule, out, offset);
}

/// The bytes of the whole elements.
#[inline(always)]
fn whole<W: Width>(width: W, x: &[u8]) -> &[u8] {
    &x[..x.len() & !(width.size() - 1)]
}

/// An input for a loop: more than 64 bytes. The code for short inputs searches 64 bytes faster, but
/// elements of 8 bytes may be looked at one by one there.
#[inline(always)]
fn searched_by_loop<W: Width>(width: W, x: &[u8]) -> Option<Long<'_>> {
    Long::new(x).filter(|x| width.size() == 8 || x.len() > 64)
}

#[inline(always)]
pub(crate) fn any_of<W: Width>(width: W, backend: Option<Backend>, x: &[u8], rule: &Rule) -> bool {
    let x = whole(width, x);
    match searched_by_loop(width, x) {
        None => width.any(x, rule),
        Some(x) if rule.exact && !rule.opposite => {
            width.table::<Clean>().pick(backend).run(x, rule, ()) < x.len()
        }
        Some(x) => drivers::search(x, rule, width.table::<Find>().pick(backend)).is_some(),
    }
}

#[inline(always)]
pub(crate) fn position_of<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Option<usize> {
    let x = whole(width, x);
    match searched_by_loop(width, x) {
        None if !width.any(x, rule) => None,
        None => Hit { at: 0, bits: width.bits(x, rule) }.index(width.size()),
        Some(x) => {
            drivers::search(x, rule, width.table::<Find>().pick(backend)).index(width.size())
        }
    }
}

#[inline(always)]
pub(crate) fn count_of<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> usize {
    let x = whole(width, x);
    let hits = match Long::new(x) {
        None => width.hits(x, rule),
        Some(x) if x.len() <= ONE_LOOP => {
            width.table::<Count>().pick(backend).run(x, rule, ()) as usize
        }
        Some(x) => long_count((width.table(), width.table()), backend, x, rule),
    };
    if rule.opposite { elements(x.len(), width.size()) - hits } else { hits }
}

/// The hits of an input that is too long for one loop. This function, and others below that take
/// tables, stand once in a program for all widths.
#[inline(never)]
fn long_count(
    (count, clean): (&Table<Count>, &Table<Clean>),
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
) -> usize {
    if rule.constant().is_some() {
        return 0;
    }
    drivers::hits(x, rule, count.pick(backend), clean.pick(backend))
}

#[inline(always)]
fn occurrences_of<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Occurrences {
    let (find, counts) = (width.table(), (width.table(), width.table()));
    occurrences_by(width.short_bits(), find, counts, backend, whole(width, x), rule)
}

#[inline(always)]
pub(crate) fn census_of<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Rule,
) -> Census {
    let (x, classes) = (whole(width, x), Classes::of(nan));
    match classes {
        Some(classes) if x.len() < 64 && !width.any(x, &classes.special()) => Census::default(),
        _ => census_by(width, backend, x, nan, classes.map_or(0, |classes| classes.exponent)),
    }
}

/// `exponent` is 0 for a format without infinities. Inlined, the result would be copied slowly.
#[inline(never)]
fn census_by<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Rule,
    exponent: u64,
) -> Census {
    if exponent == 0 {
        return Census { nan: occurrences_of(width, backend, x, nan), ..Census::default() };
    }
    let classes = Classes { width: width.size(), exponent };
    let special = classes.special();
    let Some(x) = Long::new(x) else {
        return drivers::short_census(x, width.short_bits()(x, &special), classes);
    };
    let (find, classify) = (width.table::<Find>().pick(backend), width.table::<Classify>());
    match drivers::search(x, &special, find) {
        hit if hit.is_some() => {
            drivers::census(x, hit, &special, classes, classify.pick(backend), find)
        }
        _ => Census::default(),
    }
}

#[inline(never)]
fn occurrences_by(
    short: ShortBits,
    find: &Table<Find>,
    counts: (&Table<Count>, &Table<Clean>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Occurrences {
    let Some(long) = Long::new(x) else {
        let bits = short(x, rule);
        let first = Hit { at: 0, bits }.index(rule.size());
        return Occurrences::new(bits.count_ones() as usize, first);
    };
    let hits = long_count(counts, backend, long, rule);
    let count = if rule.opposite { elements(x.len(), rule.size()) - hits } else { hits };
    let first = || drivers::search(long, rule, find.pick(backend)).index(rule.size());
    Occurrences::new(count, if count == 0 { None } else { first() })
}

#[inline(always)]
#[track_caller]
pub(crate) fn mask_of<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: MaskOut<'_>,
) {
    let (x, out) = (whole(width, x), out.slots());
    let elements = elements(x.len(), width.size());
    if elements != out.len() {
        return wrong_length(elements, out.len());
    }
    match Long::new(x) {
        None => width.mask(x, rule, out),
        Some(x) if x.len() <= ONE_LOOP => width.table::<Mask>().pick(backend).run(x, rule, out),
        Some(x) => drivers::mask((width.table(), width.table()), backend, x, rule, out),
    }
}

#[inline(always)]
#[track_caller]
pub(crate) fn bits_of<W: Width>(
    width: W,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &mut [u8],
    offset: usize,
) {
    let x = whole(width, x);
    let elements = elements(x.len(), width.size());
    let whole_bytes = offset.is_multiple_of(8) && x.len() <= ONE_LOOP;
    let places = offset / 8..(offset / 8).saturating_add(elements.div_ceil(8));
    match (Long::new(x), out.get_mut(places)) {
        (None, Some(out)) if whole_bytes => {
            packed::put(width.bits(x, rule), elements, out, 0);
        }
        (Some(x), Some(out)) if whole_bytes => {
            let pack = width.table::<Pack>().pick(backend);
            drivers::bits_of(x, rule, out, |lines| pack.run(x, rule, lines));
        }
        _ => {
            let tables = (width.table(), width.table());
            bits_by(width.short_bits(), tables, backend, x, rule, (out, offset));
        }
    }
}

/// Bits that are too many for one loop, or that begin inside of a byte.
#[inline(never)]
#[track_caller]
fn bits_by(
    short: ShortBits,
    (pack, clean): (&Table<Pack>, &Table<Clean>),
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    (out, offset): (&mut [u8], usize),
) {
    let (elements, bytes, shift) = (elements(x.len(), rule.size()), out.len(), offset % 8);
    let end = (offset / 8).saturating_add(bytes_of(elements, shift));
    let Some(out) = out.get_mut(offset / 8..end) else { short_bitmap(elements, offset, bytes) };
    let loops = (pack.pick(backend), clean.pick(backend));
    match (rule.constant(), Long::new(x)) {
        (Some(answer), _) => packed::fill(answer, elements, out, shift),
        (None, None) => packed::put(short(x, rule), elements, out, shift),
        (None, Some(x)) if shift == 0 => drivers::bits(x, rule, out, loops),
        (None, Some(x)) => shifted_bits(short, loops, x, rule, (out, shift)),
    }
}

/// The bits from bit `shift` of `out` on: they are computed in a buffer and shifted.
#[inline(never)]
fn shifted_bits(
    short: ShortBits,
    loops: (Loop<Pack>, Loop<Clean>),
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
            Some(x) => drivers::bits(x, rule, bytes, loops),
        }
        for (i, word) in words.as_chunks().0[..elements.div_ceil(64)].iter().enumerate() {
            packed::put(u64::from_le_bytes(*word), (elements - 64 * i).min(64), out, shift);
            out = out.get_mut(8..).unwrap_or_default();
        }
    }
}

/// Panics. It does not say so by its type, so that it can be called without a frame: then the calls
/// beside it need no frame either.
#[cold]
#[inline(never)]
#[track_caller]
fn wrong_length(elements: usize, results: usize) {
    panic!("{elements} elements, but an output for {results}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn short_bitmap(elements: usize, offset: usize, bytes: usize) -> ! {
    panic!("{elements} elements from bit {offset} on, but an output of {bytes} bytes")
}
