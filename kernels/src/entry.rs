//! The entry of each question: checks the arguments and answers constant rules.
//!
//! An entry is generic over the width of an element, so a caller that knows the width links only
//! the loops of that width. Behind each entry stands a function whose name ends in `_by`. Its first
//! arguments are the loops and the size of an element: [`crate::bytes`], for other callers, chooses
//! them at run time. If the rule is one comparison, most of these functions only call the loop.
//! Other rules are answered by a function that is not inlined: otherwise each call of a program
//! would have a copy.

use core::mem::MaybeUninit;

use crate::backend::{Backend, Row};
use crate::census::{Census, Occurrences};
use crate::either;
use crate::lane::Lane;
use crate::line::elements;
use crate::loops::bits::Bits;
use crate::loops::census::Census as CensusLoop;
use crate::loops::count::Count;
use crate::loops::mask::Mask;
use crate::loops::position::Position;
use crate::out::MaskOut;
use crate::rule::{Comparison, Rule};

/// The bytes of the whole elements, and their number.
#[inline(always)]
fn whole(size: usize, x: &[u8]) -> (&[u8], usize) {
    let elements = elements(x.len(), size);
    (&x[..elements * size], elements)
}

/// The comparison of a rule that is one, for elements of `size` bytes.
#[inline(always)]
fn one_comparison(size: usize, rule: &Rule) -> Option<&Comparison> {
    match rule {
        Rule::Comparison(comparison) if comparison.size() == size => Some(comparison),
        _ => None,
    }
}

/// Panics if the rule is for elements of another width.
#[inline(always)]
#[track_caller]
fn check(size: usize, rule: &Rule) {
    assert!(rule.size() == size, "a rule for elements of another width");
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
    mask_by(L::MASK, L::SIZE, backend, x, rule, out);
}

#[inline(always)]
#[track_caller]
pub(crate) fn mask_by(
    row: &Row<Mask<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: MaskOut<'_>,
) {
    match one_comparison(size, rule) {
        Some(comparison) => row.run(backend, whole_of(size, x, &out), comparison, out.slots()),
        None => other_mask(row, size, backend, x, rule, out),
    }
}

/// The bytes of the whole elements, of which there are as many as places in `out`.
#[inline(always)]
#[track_caller]
fn whole_of<'x>(size: usize, x: &'x [u8], out: &MaskOut<'_>) -> &'x [u8] {
    let (x, elements) = whole(size, x);
    if elements != out.len() {
        wrong_length(elements, out.len());
    }
    x
}

#[inline(never)]
#[track_caller]
fn other_mask(
    row: &Row<Mask<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: MaskOut<'_>,
) {
    check(size, rule);
    let x = whole_of(size, x, &out);
    match rule {
        Rule::Comparison(comparison) => row.call(backend, x, comparison, out.slots()),
        Rule::Constant { answer, .. } => out.fill(*answer),
        Rule::Either(nan) => either::mask(row, backend, x, nan, out.slots()),
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
    // SAFETY: same length, size and alignment. `mask` has written every result, or has panicked.
    unsafe { initialised(out) }
}

/// # Safety
/// All of `out` must be written.
#[inline(always)]
#[expect(unsafe_code, reason = "the caller has written all of it")]
pub(crate) unsafe fn initialised(out: &mut [MaybeUninit<bool>]) -> &mut [bool] {
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
    bits_by(L::PACKED_BITS, L::SIZE, backend, x, rule, out, offset);
}

#[inline(always)]
#[track_caller]
pub(crate) fn bits_by(
    row: &Row<Bits<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    out: &mut [u8],
    offset: usize,
) {
    let (x, elements) = whole(size, x);
    // In bytes, so that nothing overflows.
    let (first, shift) = (offset / 8, offset % 8);
    let end = first.saturating_add(elements / 8).saturating_add((elements % 8 + shift).div_ceil(8));
    let bytes = out.len();
    let Some(out) = out.get_mut(first..end) else { short_bitmap(elements, offset, bytes) };
    match one_comparison(size, rule) {
        Some(comparison) if shift == 0 => {
            bytes_of_bits(elements, out, |words| row.run(backend, x, comparison, words));
        }
        _ => other_bits(row, size, backend, x, rule, (out, shift)),
    }
}

/// Bits from the first one of `out` on. `ask` writes a word for each 64 elements, and returns the
/// bits of the last elements.
#[inline(always)]
fn bytes_of_bits(elements: usize, out: &mut [u8], ask: impl FnOnce(&mut [[u8; 8]]) -> u64) {
    let (words, last) = out.as_chunks_mut();
    // The eighth byte comes from `rest` if the last elements reach into it, and otherwise from
    // `last`.
    let (words, rest) = words.split_at_mut(elements / 64);
    let bits = ask(words);
    if !elements.is_multiple_of(64) {
        let out = if rest.is_empty() { last } else { rest.as_flattened_mut() };
        merge(out, bits, 0, elements % 64);
    }
}

/// Bits by another rule than one comparison, or from bit `shift` of the first byte on.
#[inline(never)]
#[track_caller]
fn other_bits(
    row: &Row<Bits<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    (out, shift): (&mut [u8], usize),
) {
    check(size, rule);
    let elements = elements(x.len(), size);
    match rule {
        Rule::Constant { answer, .. } => fill_bits(*answer, elements, out, shift),
        _ if shift == 0 => {
            bytes_of_bits(elements, out, |words| words_of_bits(row, backend, x, rule, words));
        }
        _ => shifted_bits(row, size, backend, x, rule, (out, shift)),
    }
}

/// A word for each 64 elements, by a rule that is not constant. The bits of the last elements are
/// returned.
#[inline]
fn words_of_bits(
    row: &Row<Bits<1>>,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    words: &mut [[u8; 8]],
) -> u64 {
    match rule {
        Rule::Constant { .. } => unreachable!("no words are asked of a constant"),
        Rule::Comparison(comparison) => row.call(backend, x, comparison, words),
        Rule::Either(nan) => either::bits(row, backend, x, nan, words),
    }
}

/// [`bits`] that begin inside a byte, of elements of `size` bytes. They are computed in a buffer
/// and shifted.
fn shifted_bits(
    row: &Row<Bits<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
    (mut out, shift): (&mut [u8], usize),
) {
    const WORDS: usize = 64;
    for x in x.chunks(WORDS * 64 * size) {
        let elements = elements(x.len(), size);
        let mut words = [[0; 8]; WORDS];
        let words = &mut words[..elements.div_ceil(64)];
        let bits = words_of_bits(row, backend, x, rule, &mut words[..elements / 64]);
        if !elements.is_multiple_of(64) {
            words[elements / 64] = bits.to_le_bytes();
        }
        for (i, word) in words.iter().enumerate() {
            let count = (elements - 64 * i).min(64);
            merge(out, u64::from_le_bytes(*word), shift, count);
            out = out.get_mut(8..).unwrap_or_default();
        }
    }
}

/// Overwrites `count` bits from bit `shift` of the first byte on, up to the end of the bytes.
/// `count` is 1 to 64 and `shift` is below 8.
#[inline(never)]
fn merge(out: &mut [u8], bits: u64, shift: usize, count: usize) {
    let here = u64::MAX >> (64 - count);
    let put = |word: u64, here: u64, new: u64| word & !here | new & here;
    match out.first_chunk_mut() {
        Some(word) => {
            let new = put(u64::from_le_bytes(*word), here << shift, bits << shift);
            *word = new.to_le_bytes();
        }
        None => {
            let (mut here, mut new) = (here << shift, bits << shift);
            for byte in out.iter_mut() {
                *byte = put(u64::from(*byte), here, new) as u8;
                (here, new) = (here >> 8, new >> 8);
            }
        }
    }
    if shift + count > 64
        && let Some(ninth) = out.get_mut(8)
    {
        *ninth = put(u64::from(*ninth), here >> (64 - shift), bits >> (64 - shift)) as u8;
    }
}

/// Writes the same answer `elements` times, from bit `shift` of the first byte on, below 8. `out`
/// ends with the last of them.
pub(crate) fn fill_bits(answer: bool, elements: usize, out: &mut [u8], shift: usize) {
    let (Some(first), Some(last)) = (out.first().copied(), out.last().copied()) else { return };
    out.fill(if answer { u8::MAX } else { 0 });
    // The bits before and behind stay as they are.
    let before = !(u8::MAX << shift);
    let behind = !(u8::MAX >> ((8 - (shift + elements % 8) % 8) % 8));
    let end = out.len() - 1;
    out[0] = out[0] & !before | first & before;
    out[end] = out[end] & !behind | last & behind;
}

/// The index of the first element of `x` for which the rule holds. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn position<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Option<usize> {
    position_by(L::POSITION, L::SIZE, backend, x, rule)
}

#[inline(always)]
pub(crate) fn position_by(
    row: &Row<Position<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Option<usize> {
    let (x, _) = whole(size, x);
    match one_comparison(size, rule) {
        Some(comparison) => row.run(backend, x, comparison, ()),
        None => other_position(row, size, backend, x, rule),
    }
}

#[inline(never)]
fn other_position(
    row: &Row<Position<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Option<usize> {
    check(size, rule);
    match rule {
        Rule::Constant { answer, .. } => (*answer && !x.is_empty()).then_some(0),
        Rule::Comparison(comparison) => row.call(backend, x, comparison, ()),
        Rule::Either(nan) => either::position(row, backend, x, nan),
    }
}

/// The number of elements of `x` for which the rule holds. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn count<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> usize {
    count_by(L::COUNT, L::SIZE, backend, x, rule)
}

#[inline(always)]
pub(crate) fn count_by(
    row: &Row<Count<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> usize {
    let (x, _) = whole(size, x);
    match one_comparison(size, rule) {
        Some(comparison) if !comparison.negate() => row.run(backend, x, comparison, ()).hits,
        _ => other_count(row, size, backend, x, rule),
    }
}

#[inline(never)]
fn other_count(
    row: &Row<Count<1>>,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> usize {
    check(size, rule);
    let elements = elements(x.len(), size);
    match rule {
        Rule::Constant { answer, .. } => usize::from(*answer) * elements,
        // Counts the complement: groups without a hit are skipped.
        Rule::Comparison(comparison) | Rule::Either(comparison) if comparison.negate() => {
            elements - other_count(row, size, backend, x, &rule.not())
        }
        Rule::Comparison(comparison) => row.call(backend, x, comparison, ()).hits,
        Rule::Either(nan) => either::count(row, backend, x, nan),
    }
}

/// The number of elements of `x` for which the rule holds, and the first. `None` means the active
/// backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn occurrences<L: Lane>(backend: Option<Backend>, x: &[u8], rule: &Rule) -> Occurrences {
    occurrences_by((L::COUNT, L::POSITION), L::SIZE, backend, x, rule)
}

/// The rows for a count and for a search.
type CountAndPosition = (&'static Row<Count<1>>, &'static Row<Position<1>>);

#[inline(never)]
pub(crate) fn occurrences_by(
    (count, position): CountAndPosition,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    rule: &Rule,
) -> Occurrences {
    check(size, rule);
    if let Rule::Comparison(comparison) = rule
        && !comparison.negate()
    {
        let (x, _) = whole(size, x);
        let counted = count.call(backend, x, comparison, ());
        let first = if counted.hits == 0 {
            None
        } else {
            let rest = &x[counted.from * size..];
            position.call(backend, rest, comparison, ()).map(|first| counted.from + first)
        };
        return Occurrences { count: counted.hits, first };
    }
    Occurrences {
        count: count_by(count, size, backend, x, rule),
        first: position_by(position, size, backend, x, rule),
    }
}

/// NaN, +Inf and -Inf in one pass, by the rule for NaN. If this rule is [`Rule::greater`] with
/// `(bits & !sign) > exponent`, the elements that equal the exponent are infinite. Otherwise the
/// format has no infinity. `None` means the active backend.
///
/// # Panics
/// If the rule is for elements of another width.
#[inline]
#[must_use]
pub fn census<L: Lane>(backend: Option<Backend>, x: &[u8], nan: &Rule) -> Census {
    census_by(L::CENSUS, (L::COUNT, L::POSITION), L::SIZE, backend, x, nan)
}

#[inline(always)]
pub(crate) fn census_by(
    row: &Row<CensusLoop<1>>,
    without_infinity: CountAndPosition,
    size: usize,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Rule,
) -> Census {
    match nan {
        Rule::Comparison(comparison) if comparison.is_ieee() => {
            check(size, nan);
            let (x, _) = whole(size, x);
            row.run(backend, x, comparison, ()).census()
        }
        _ => Census {
            nan: occurrences_by(without_infinity, size, backend, x, nan),
            ..Census::default()
        },
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
