//! Packed bits.

use super::{AFTER_HIT, AFTER_HITS, again, merge};
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
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let Some((words, end)) = out.split_at_mut_checked(blocks.len() * 8) else { return };
    let words = words.as_chunks_mut::<8>().0;
    // The bits that go below the next 64.
    let first = words.first().map_or(0, |word| u64::from_le_bytes(*word));
    let carry = Carry { bits: first & !(u64::MAX << offset), offset };
    let carry = match (screen, offset) {
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
    merge(end, u128::from(carry.bits) | u128::from(bits) << offset, offset + fresh);
}

/// Bits below bit `offset` of the next word.
#[derive(Clone, Copy)]
struct Carry {
    bits: u64,
    offset: u32,
}

impl Carry {
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
        for (block, word) in blocks.iter().zip(words) {
            carry.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
        }
        return carry;
    }
    let (groups, rest) = blocks.as_chunks::<SCREENED_BLOCKS>();
    let (word_groups, word_rest) = words.as_chunks_mut::<SCREENED_BLOCKS>();
    let (mut exact, mut next_exact) = (0, AFTER_HIT);
    for ((group, same), words) in groups.iter().zip(again(groups)).zip(word_groups) {
        if exact == 0 {
            let mut seen = isa.unseen::<S, false>();
            for block in group {
                seen = isa.fold::<S, false>(seen, block, screen);
            }
            if !isa.hit::<S, false>(seen, screen) {
                for word in words {
                    carry.put::<SHIFTED>(if NEGATE { u64::MAX } else { 0 }, word);
                }
                next_exact = AFTER_HIT;
                continue;
            }
            exact = next_exact;
            next_exact = AFTER_HITS;
        }
        exact -= 1;
        for (block, word) in same.iter().zip(words) {
            carry.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
        }
    }
    for (block, word) in rest.iter().zip(word_rest) {
        carry.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
    }
    carry
}

/// Blocks of packed bits that are screened together.
const SCREENED_BLOCKS: usize = 4;
