//! Packed bits: like `mask.rs`, with one word for a block of 64 elements, and screens for elements
//! of one byte too. The bits of the elements behind the last whole word are returned.

use super::skip::{AFTER_HIT, clean_head, may_hit};
use crate::rule::{Comparison, Operation, Screen};
use crate::simd::{Block, Loop, Simd, last_block, lines, op};

/// From this length on, in bytes, a screen pays.
const SCREEN_FROM: usize = 2048;

/// Compares every element, or skips groups without a hit.
pub(crate) struct Bits<const W: usize>;

impl<const W: usize> Loop for Bits<W> {
    /// One word for each 64 elements.
    type Out<'o> = &'o mut [[u8; 8]];
    /// The bits of the elements behind the last whole word.
    type Output = u64;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, out: &mut [[u8; 8]]) -> u64 {
        let (usual, words) = (comparison.usual_bits(), out.len());
        if words == 0 {
            return isa.run::<Few<W>>(x, comparison, ());
        }
        if x.len() >= SCREEN_FROM && comparison.screen() != Screen::None {
            return isa.run::<Screened<W>>(x, comparison, out);
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

impl<const W: usize> Loop for Few<W> {
    type Out<'o> = ();
    type Output = u64;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> u64 {
        isa.bits_few::<W>(x, comparison)
    }
}

/// Skips groups without a hit. Separate from [`Bits`]: short inputs would have to wait while this
/// loop saves registers.
struct Screened<const W: usize>;

impl<const W: usize> Loop for Screened<W> {
    type Out<'o> = &'o mut [[u8; 8]];
    type Output = u64;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, out: &mut [[u8; 8]]) -> u64 {
        match W {
            1 if matches!(comparison.screen(), Screen::Flipped { .. }) => {
                screened::<I, W, 16, true>(isa, x, comparison, out)
            }
            1 => screened::<I, W, 16, false>(isa, x, comparison, out),
            2 => screened::<I, W, 8, false>(isa, x, comparison, out),
            4 => screened::<I, W, 4, false>(isa, x, comparison, out),
            _ => screened::<I, W, 2, false>(isa, x, comparison, out),
        }
    }
}

/// Groups of `GROUP` words.
#[inline(always)]
fn screened<I: Simd, const W: usize, const GROUP: usize, const FLIP: bool>(
    isa: I,
    mut x: &[u8],
    comparison: &Comparison,
    mut out: &mut [[u8; 8]],
) -> u64 {
    let usual = comparison.usual_bits().to_ne_bytes();
    loop {
        let screen = isa.screen::<W>(comparison.screen());
        // The screen reads from a cache line on: it runs `head` bytes ahead of the words.
        let head = clean_head::<I, W, FLIP>(isa, x, screen).unwrap_or(x.len());
        let groups: &[[Block<W>; GROUP]] = lines(&x[head..]).0.as_chunks::<W>().0.as_chunks().0;
        let places: &mut [[[u8; 8]; GROUP]] = out.as_chunks_mut().0;
        let mut clean = 0;
        for (group, place) in groups.iter().zip(places) {
            if may_hit::<I, W, FLIP>(isa, group.as_flattened(), screen) {
                break;
            }
            *place = [usual; GROUP];
            clean += 1;
        }
        // Compares the rest, or the group that may have a hit.
        let done = clean * GROUP;
        let run = (out.len() - done).min(AFTER_HIT / 64 / W);
        let (place, rest) = out[done..].split_at_mut(run);
        let bytes = if rest.is_empty() { x.len() - done * 64 * W } else { run * 64 * W };
        let (here, after) = x[done * 64 * W..].split_at(bytes);
        if here.is_empty() {
            // All was skipped, and no element is left over.
            return 0;
        }
        let last = isa.run::<Bits<W>>(here, &comparison.unscreened(), place);
        if rest.is_empty() {
            return last;
        }
        (x, out) = (after, rest);
    }
}
