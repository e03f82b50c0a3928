//! Packed bits.

use super::{AFTER_HIT, AFTER_HITS, Left, merge, unites, until_aligned};
use crate::isa::Blocks;
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Op, Operation, Pair};

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

    #[inline(always)]
    fn put_all<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool, const SHIFTED: bool>(
        &mut self,
        isa: I,
        blocks: &[Block<L>],
        with: I::Constants,
        words: &mut [[u8; 8]],
    ) {
        for (block, word) in blocks.iter().zip(words) {
            self.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
        }
    }

    /// 64 times the same answer a word.
    #[inline(always)]
    fn fill<const WORDS: usize, const SHIFTED: bool>(&mut self, answer: bool, words: &mut [[u8; 8]; WORDS]) {
        let all = if answer { u64::MAX } else { 0 };
        self.put::<SHIFTED>(all, &mut words[0]);
        words[1..].fill(all.to_le_bytes());
    }

    #[inline(always)]
    fn put<const SHIFTED: bool>(&mut self, bits: u64, word: &mut [u8; 8]) {
        if SHIFTED {
            *word = (self.bits | bits << self.offset).to_le_bytes();
            self.bits = bits >> (BLOCK as u32 - self.offset);
        } else {
            *word = bits.to_le_bytes();
        }
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
    words: &mut [[u8; 8]],
    mut carry: Carry,
) -> Carry {
    let (screen, with) = (isa.constants(screen), isa.constants(pair));
    if !SCREENED {
        carry.put_all::<L, I, O, NEGATE, SHIFTED>(isa, blocks, with, words);
        return carry;
    }
    match size_of::<L>() {
        1 => groups_of::<16, L, I, S, O, NEGATE, SHIFTED>(isa, blocks, screen, with, words, &mut carry),
        2 => groups_of::<8, L, I, S, O, NEGATE, SHIFTED>(isa, blocks, screen, with, words, &mut carry),
        4 => groups_of::<4, L, I, S, O, NEGATE, SHIFTED>(isa, blocks, screen, with, words, &mut carry),
        _ => groups_of::<2, L, I, S, O, NEGATE, SHIFTED>(isa, blocks, screen, with, words, &mut carry),
    }
    carry
}

/// The words of whole blocks, `BLOCKS` screened at a time.
#[inline(always)]
fn groups_of<
    const BLOCKS: usize,
    L: Lane,
    I: Blocks<L>,
    S: Op,
    O: Op,
    const NEGATE: bool,
    const SHIFTED: bool,
>(
    isa: I,
    blocks: &[Block<L>],
    screen: I::Constants,
    with: I::Constants,
    words: &mut [[u8; 8]],
    carry: &mut Carry,
) {
    let (groups, rest) = blocks.as_chunks::<BLOCKS>();
    let (word_groups, word_rest) = words.as_chunks_mut::<BLOCKS>();
    let mut left = Left { x: groups, out: word_groups };
    loop {
        let mut clean = 0;
        for (group, words) in left.x.iter().zip(left.out.iter_mut()) {
            let mut seen = isa.unseen::<S, false>();
            for block in group {
                seen = isa.fold::<S, false>(seen, block, screen);
            }
            if isa.hit::<S, false>(seen, screen) {
                break;
            }
            carry.fill::<BLOCKS, SHIFTED>(NEGATE, words);
            clean += 1;
        }
        left.take(clean);
        if left.x.is_empty() {
            break;
        }
        if S::OP == Operation::Ones && unites::<O>() {
            // A tensor of nothing but NaN: as long as it goes on.
            let mut full = 0;
            for (group, words) in left.x.iter().zip(left.out.iter_mut()) {
                if !isa.all_hit::<O>(group, with) {
                    break;
                }
                carry.fill::<BLOCKS, SHIFTED>(!NEGATE, words);
                full += 1;
            }
            left.take(full);
        }
        let (groups, words) = left.take(if clean == 0 { AFTER_HITS } else { AFTER_HIT });
        for (group, words) in groups.iter().zip(words) {
            carry.put_all::<L, I, O, NEGATE, SHIFTED>(isa, group, with, words);
        }
    }
    carry.put_all::<L, I, O, NEGATE, SHIFTED>(isa, rest, with, word_rest);
}
