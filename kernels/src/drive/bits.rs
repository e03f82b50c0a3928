//! Packed bits.

use super::screened::{Results, screened};
use super::{merge, until_aligned};
use crate::isa::Blocks;
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Op, Pair};

/// One bit per element, least significant first, from bit `offset` (0..8) of `out` on, which ends with the byte of
/// the last result. Bits before and behind stay. With a screen, hits of the positive test are looked for first.
#[inline(always)]
pub(crate) fn bits<L: Lane, I: Blocks<L>, S: Op, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    screen: Option<Pair<L>>,
    pair: Pair<L>,
    (out, offset): (&mut [u8], u32),
) {
    let with = isa.constants(pair);
    let first = out.first().map_or(0, |byte| u64::from(*byte));
    let mut carry = Carry { bits: first & !(u64::MAX << offset), offset };
    let head = until_aligned::<L>(x);
    let (mut x, mut out) = (x, out);
    if let (1.., Some(block)) = (head, x.first_chunk()) {
        let bits = isa.bits::<O, NEGATE>(block, with) & !(u64::MAX << head);
        (x, out) = (&x[head..], carry.add(bits, head as u32, out));
    }
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let Some((words, end)) = out.split_at_mut_checked(blocks.len() * 8) else { return };
    let words = words.as_chunks_mut::<8>().0;
    let carry = match (screen, carry.offset) {
        (Some(screen), 0) => {
            words_of::<L, I, S, O, NEGATE, true, false>(isa, blocks, screen, pair, words, carry)
        }
        (Some(screen), _) => {
            words_of::<L, I, S, O, NEGATE, true, true>(isa, blocks, screen, pair, words, carry)
        }
        (None, 0) => words_of::<L, I, S, O, NEGATE, false, false>(isa, blocks, pair, pair, words, carry),
        (None, _) => words_of::<L, I, S, O, NEGATE, false, true>(isa, blocks, pair, pair, words, carry),
    };
    let (fresh, mut bits) = (rest.len() as u32, 0);
    if let (1.., Some(last)) = (fresh, x.last_chunk()) {
        bits = isa.bits::<O, NEGATE>(last, with) >> (BLOCK as u32 - fresh);
    }
    merge(end, u128::from(carry.bits) | u128::from(bits) << carry.offset, carry.offset + fresh);
}

/// Bits below bit `offset` (0..8) of the next byte.
#[derive(Clone, Copy)]
struct Carry {
    bits: u64,
    offset: u32,
}

impl Carry {
    /// Adds `count` (1..64) bits. The bytes that they complete go into `out`; returned is what is left of it.
    #[inline(always)]
    fn add<'o>(&mut self, bits: u64, count: u32, out: &'o mut [u8]) -> &'o mut [u8] {
        let all = u128::from(self.bits) | u128::from(bits) << self.offset;
        let total = self.offset + count;
        let Some((bytes, out)) = out.split_at_mut_checked((total / 8) as usize) else { return &mut [] };
        for (byte, new) in bytes.iter_mut().zip(all.to_le_bytes()) {
            *byte = new;
        }
        *self = Self { bits: (all >> (total / 8 * 8)) as u64, offset: total % 8 };
        out
    }
}

/// The words of a bit string. `SHIFTED` says whether bits are carried from one to the next.
struct Words<const SHIFTED: bool>(Carry);

impl<const SHIFTED: bool> Words<SHIFTED> {
    #[inline(always)]
    fn put(&mut self, bits: u64, word: &mut [u8; 8]) {
        if SHIFTED {
            let Carry { bits: carried, offset } = self.0;
            *word = (carried | bits << offset).to_le_bytes();
            self.0.bits = bits >> (BLOCK as u32 - offset);
        } else {
            *word = bits.to_le_bytes();
        }
    }
}

impl<L: Lane, I: Blocks<L>, const SHIFTED: bool> Results<L, I> for Words<SHIFTED> {
    type Place = [u8; 8];

    #[inline(always)]
    fn compare<O: Op, const NEGATE: bool>(
        &mut self,
        isa: I,
        blocks: &[Block<L>],
        with: I::Constants,
        out: &mut [[u8; 8]],
    ) {
        for (block, word) in blocks.iter().zip(out) {
            self.put(isa.bits::<O, NEGATE>(block, with), word);
        }
    }

    #[inline(always)]
    fn fill<const BLOCKS: usize>(&mut self, answer: bool, out: &mut [[u8; 8]; BLOCKS]) {
        let all = if answer { u64::MAX } else { 0 };
        self.put(all, &mut out[0]);
        out[1..].fill(all.to_le_bytes());
    }
}

/// The words of whole blocks.
#[inline(always)]
fn words_of<
    L: Lane,
    I: Blocks<L>,
    S: Op,
    O: Op,
    const NEGATE: bool,
    const SCREENED: bool,
    const SHIFTED: bool,
>(
    isa: I,
    blocks: &[Block<L>],
    screen: Pair<L>,
    pair: Pair<L>,
    out: &mut [[u8; 8]],
    carry: Carry,
) -> Carry {
    let (screen, with) = (isa.constants(screen), isa.constants(pair));
    let mut words = Words::<SHIFTED>(carry);
    if !SCREENED {
        words.compare::<O, NEGATE>(isa, blocks, with, out);
        return words.0;
    }
    match size_of::<L>() {
        1 => screened::<16, L, I, S, O, _, NEGATE>(isa, blocks, screen, with, out, &mut words),
        2 => screened::<8, L, I, S, O, _, NEGATE>(isa, blocks, screen, with, out, &mut words),
        4 => screened::<4, L, I, S, O, _, NEGATE>(isa, blocks, screen, with, out, &mut words),
        _ => screened::<2, L, I, S, O, _, NEGATE>(isa, blocks, screen, with, out, &mut words),
    }
    words.0
}
