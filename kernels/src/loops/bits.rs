//! Packed bits: one word for a block of 64 elements. The bits of the elements behind the last whole
//! word are returned.
//!
//! ```text
//! bits(x, out):
//!     if the rule has no screen or x is shorter than 2 KiB:
//!         return compare(x, out)
//!     until x is at its end:
//!         clean = skip(x)                                skip.rs: bytes without a hit
//!         all words of these bytes = the answer of an element that is no hit
//!         compare(the next 16 KiB)                       dense hits: a screen only costs
//!
//! compare(x, out):
//!     for each block: its word = the comparisons of its lines side by side
//!     return the bits of the rest                        a block that overlaps the one before, or
//!                                                        fewer than 64 elements
//! ```

use super::skip::{AFTER_HIT, Look, Skip};
use crate::rule::{Comparison, Operation, Screen};
use crate::simd::{Call, Loop, SameAs, Simd, last_block, lines, op};

/// From this length on, in bytes, a screen pays.
const SCREEN_FROM: usize = 2048;

/// Compares every element, or skips groups without a hit.
pub(crate) struct Bits<const W: usize>;

impl<const W: usize> SameAs<Bits<1>> for Bits<W> {}

impl<const W: usize> Loop for Bits<W> {
    /// One word for each 64 elements.
    type Out<'o> = &'o mut [[u8; 8]];
    /// The bits of the elements behind the last whole word. The other bits have any value.
    type Output = u64;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, out: &mut [[u8; 8]]) -> u64 {
        let (usual, words) = (comparison.usual_bits(), out.len());
        if words == 0 {
            return isa.run::<Few<W>>(x, comparison, ());
        }
        if x.len() >= SCREEN_FROM && comparison.screen() != Screen::None {
            let steps =
                &Steps { skip: Call::of::<Skip<W>, I>(isa), bits: Call::of::<Self, I>(isa) };
            return screened(x, comparison, (64 * W).trailing_zeros(), out, steps);
        }
        match comparison.operation() {
            Operation::Ones if !I::BITS_COMPARED => {
                plain::<I, W, { op::ONES }>(isa, x, comparison, usual, out)
            }
            Operation::Ones if comparison.negate() => {
                plain::<I, W, { op::ONES_NOT }>(isa, x, comparison, 0, out)
            }
            Operation::Ones | Operation::Equal => {
                plain::<I, W, { op::EQUAL }>(isa, x, comparison, usual, out)
            }
            Operation::Greater => plain::<I, W, { op::GREATER }>(isa, x, comparison, usual, out),
        }
        rest::<I, W>(isa, x, comparison, words)
    }
}

#[inline(always)]
fn plain<I: Simd, const W: usize, const OP: u8>(
    isa: I,
    x: &[u8],
    comparison: &Comparison,
    usual: u64,
    out: &mut [[u8; 8]],
) {
    let with = isa.with::<W>(comparison);
    for (block, word) in lines(x).0.as_chunks().0.iter().zip(out) {
        isa.put_bits::<W, OP>(block, with, usual, word);
    }
}

/// The bits of the elements behind `words` words: of a block that overlaps the last word, if there
/// is one.
#[inline(always)]
fn rest<I: Simd, const W: usize>(isa: I, x: &[u8], comparison: &Comparison, words: usize) -> u64 {
    let few = &x[words * 64 * W..];
    match last_block::<W>(x) {
        _ if few.is_empty() => 0,
        Some(block) => {
            let mut word = [[0; 8]];
            isa.run::<Bits<W>>(block.as_flattened(), comparison, &mut word);
            u64::from_le_bytes(word[0]) >> (64 - few.len() / W)
        }
        None => isa.run::<Few<W>>(few, comparison, ()),
    }
}

/// The bits of fewer than 64 elements, which all loops leave over.
pub(super) struct Few<const W: usize>;

impl<const W: usize> SameAs<Few<1>> for Few<W> {}

impl<const W: usize> Loop for Few<W> {
    type Out<'o> = ();
    type Output = u64;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> u64 {
        isa.bits_few::<W>(x, comparison)
    }
}

/// The loops that [`screened`] calls.
struct Steps {
    skip: Call<Skip<1>>,
    bits: Call<Bits<1>>,
}

/// Skips groups without a hit. A block has `1 << shift` bytes.
#[inline(never)]
fn screened(
    mut x: &[u8],
    comparison: &Comparison,
    shift: u32,
    mut out: &mut [[u8; 8]],
    steps: &Steps,
) -> u64 {
    let usual = comparison.usual_bits();
    let exact = comparison.unscreened();
    loop {
        let clean = steps.skip.run(x, comparison, Look::Hits(&mut []));
        let words = clean >> shift;
        let (skipped, rest) = out.split_at_mut(words);
        // All bytes of `usual` are equal.
        skipped.as_flattened_mut().fill(usual as u8);
        if clean == x.len() {
            return usual;
        }
        let (place, behind) = rest.split_at_mut(rest.len().min(AFTER_HIT >> shift));
        x = &x[words << shift..];
        if behind.is_empty() {
            return steps.bits.run(x, &exact, place);
        }
        let (here, after) = x.split_at(place.len() << shift);
        steps.bits.run(here, &exact, place);
        (x, out) = (after, behind);
    }
}
