//! The scalar backend: the rule, element by element. All others must give the same answers.

#[cfg(feature = "replace")]
mod replace;
#[cfg(feature = "scale")]
mod scale;
#[cfg(feature = "stats")]
mod stats;

use core::mem::MaybeUninit;

#[cfg(feature = "validity")]
use crate::bitmap::Bitmap;
use crate::found::{ClassCounts, Counted};
use crate::line;
use crate::out::MaskOut;
use crate::rule::Comparison;

#[cfg(feature = "replace")]
pub(crate) use replace::replace;
#[cfg(feature = "scale")]
pub(crate) use scale::scale;
#[cfg(feature = "stats")]
pub(crate) use stats::stats;

/// The bits of the elements of `x`.
#[inline(always)]
fn elements<const W: usize>(x: &[u8]) -> impl DoubleEndedIterator<Item = u64> + Clone + '_ {
    x.as_chunks::<W>().0.iter().map(read)
}

/// The bits of an element.
#[inline(always)]
pub(crate) fn read<const W: usize>(element: &[u8; W]) -> u64 {
    read_any(element)
}

/// The bits of an element of any width.
#[inline(always)]
pub(crate) fn read_any(element: &[u8]) -> u64 {
    // By shifts: a copy into eight bytes takes nine times as long in tests.
    let join = |bits, &byte: &u8| bits << 8 | u64::from(byte);
    if cfg!(target_endian = "little") {
        element.iter().rev().fold(0, join)
    } else {
        element.iter().fold(0, join)
    }
}

/// A byte for each element.
#[inline(never)]
pub(crate) fn mask<const W: usize>(
    x: &[u8],
    comparison: &Comparison,
    out: &mut [MaybeUninit<bool>],
) {
    for (bits, slot) in elements::<W>(x).zip(out) {
        slot.write(comparison.holds_of::<W>(bits));
    }
}

/// [`mask`] of one width.
type Ask = fn(&[u8], &Comparison, &mut [MaybeUninit<bool>]);

/// A word for each 64 elements. The bits of the last elements are returned.
pub(crate) fn bits<const W: usize>(x: &[u8], comparison: &Comparison, out: &mut [[u8; 8]]) -> u64 {
    pack(mask::<W>, W, x, comparison, out)
}

/// The number of hits.
pub(crate) fn count<const W: usize>(x: &[u8], comparison: &Comparison) -> Counted {
    Counted { hits: ones(mask::<W>, W, x, comparison), from: 0 }
}

/// [`bits`], not generic, so that it is compiled once.
#[inline(never)]
fn pack(mask: Ask, size: usize, x: &[u8], comparison: &Comparison, out: &mut [[u8; 8]]) -> u64 {
    let (words, last) = x.split_at(out.len() * 64 * size);
    for (part, out) in words.chunks_exact(64 * size).zip(out) {
        *out = word(mask, size, part, comparison).to_le_bytes();
    }
    word(mask, size, last, comparison)
}

/// [`count`], not generic.
#[inline(never)]
fn ones(mask: Ask, size: usize, x: &[u8], comparison: &Comparison) -> usize {
    let words = x.chunks(64 * size).map(|part| word(mask, size, part, comparison));
    words.map(|word| word.count_ones() as usize).sum()
}

/// Bit `i` for element `i` of at most 64, by their mask.
#[inline(never)]
fn word(mask: Ask, size: usize, x: &[u8], comparison: &Comparison) -> u64 {
    let mut answers = [0; 64];
    let out = MaskOut::from(&mut answers[..line::elements(x.len(), size)]);
    mask(x, comparison, out.slots());
    answers.as_chunks().0.iter().rev().fold(0, |word, eight| word << 8 | packed(*eight))
}

/// Bit `i` for byte `i`, each of which is 0 or 1.
#[inline(always)]
pub(crate) fn packed(answers: [u8; 8]) -> u64 {
    // The product moves bit 0 of byte `i` to bit `56 + i`, and no other term reaches these bits.
    u64::from_le_bytes(answers).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Bit `i` for element `i` of at most 64.
#[inline(always)]
pub(crate) fn bits_few<const W: usize>(x: &[u8], comparison: &Comparison) -> u64 {
    elements::<W>(x)
        .rev()
        .fold(0, |word, bits| word << 1 | u64::from(comparison.holds_of::<W>(bits)))
}

/// The index of the first hit.
pub(crate) fn position<const W: usize>(x: &[u8], comparison: &Comparison) -> Option<usize> {
    elements::<W>(x).position(|bits| comparison.holds_of::<W>(bits))
}

/// NaN and infinities, by the comparison for NaN.
pub(crate) fn census<const W: usize>(x: &[u8], nan: &Comparison) -> ClassCounts {
    let mut taken = ClassCounts::default();
    for (i, bits) in elements::<W>(x).enumerate() {
        classify(&mut taken, i, bits, nan);
    }
    taken
}

/// Adds element `i`, behind all others, if it is not finite.
#[inline(always)]
fn classify(taken: &mut ClassCounts, i: usize, bits: u64, nan: &Comparison) {
    if bits & nan.bound() == nan.bound() {
        let class = class(bits, nan);
        if taken.three[class] == 0 {
            taken.first[class] = i;
        }
        taken.three[class] += 1;
    }
}

/// The bits of element `i` of `size` bytes, unless it is null.
#[cfg(feature = "validity")]
#[inline(never)]
fn unless_null(x: &[u8], size: usize, i: usize, bitmap: &Bitmap<'_>) -> Option<u64> {
    bitmap.is_valid(i).then(|| read_any(&x[i * size..][..size]))
}

/// The number of hits that are no nulls. Not generic, so that it is compiled once.
#[cfg(feature = "validity")]
#[inline(never)]
pub(crate) fn count_valid(x: &[u8], comparison: &Comparison, bitmap: &Bitmap<'_>) -> usize {
    let (size, mut count) = (comparison.size(), 0);
    for i in 0..line::elements(x.len(), size) {
        let bits = unless_null(x, size, i, bitmap);
        count += usize::from(bits.is_some_and(|bits| comparison.holds(bits)));
    }
    count
}

/// NaN and infinities that are no nulls, by the comparison for NaN. Not generic.
#[cfg(feature = "validity")]
#[inline(never)]
pub(crate) fn census_valid(x: &[u8], nan: &Comparison, bitmap: &Bitmap<'_>) -> ClassCounts {
    let (size, mut taken) = (nan.size(), ClassCounts::default());
    for i in 0..line::elements(x.len(), size) {
        if let Some(bits) = unless_null(x, size, i, bitmap) {
            classify(&mut taken, i, bits, nan);
        }
    }
    taken
}

/// Whether an element that is not finite is NaN (0), +Inf (1) or -Inf (2), by the comparison for
/// NaN.
#[inline(always)]
fn class(bits: u64, nan: &Comparison) -> usize {
    let magnitude = bits & nan.mask();
    usize::from(magnitude == nan.bound()) << usize::from(bits != magnitude)
}

/// The low bytes of a number as an element.
#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
#[inline(always)]
pub(crate) fn write<const W: usize>(element: &mut [u8; W], bits: u64) {
    let bytes = bits.to_ne_bytes();
    let from = if cfg!(target_endian = "little") { 0 } else { 8 - W };
    element.copy_from_slice(&bytes[from..from + W]);
}
