//! Packed bits: a byte for 8 elements, the first element in the lowest bit.
//!
//! ```text
//! bits(x, out):
//!     for each block of 64 elements: its word          unless lines are faster
//!     for each whole line after them: its bytes        a line has at least 8 elements
//!     return the bits of the elements after the lines  by the last line, which overlaps
//! ```

use crate::dispatch::tables;
use crate::isa::{Isa, With, op};
use crate::lines::{Block, Line, Long};
use crate::plain;
use crate::question::{On, Question};
use crate::rule::Rule;

/// From this many bytes on, blocks are faster than lines if a comparison makes a mask register.
const BLOCKS_FROM: usize = 512;

/// Writes the bits of all whole lines, in the order of bytes of a little-endian machine: `out` has
/// as many bytes as they take. Returns the bits of the elements after the last whole line. The bits
/// above these have any value.
pub(crate) struct Pack;

tables!(Pack);

impl Question for Pack {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = &'o mut [u8];
    type Answer = u64;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
        let (lines, rest) = x.bytes().split_at(x.len() & !63);
        let word = |block| plain::word::<W, BLOCK>(block, rule);
        for (block, out) in lines.chunks(64 * W).zip(out.chunks_mut(8)) {
            out.copy_from_slice(&word(block).to_le_bytes()[..out.len()]);
        }
        word(rest)
    }
}

impl<I: Isa> On<I> for Pack {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
        if rule.tilted {
            return bytes_of::<I, W, { op::TILTED }>(isa, x, 0, rule, out);
        }
        if !I::GROUPS || I::MASK_REGISTERS && x.len() < BLOCKS_FROM {
            return bytes_of::<I, W, { op::FLIPPED }>(isa, x, 0, rule, out);
        }
        let (blocks, _): (&[Block<W>], _) = x.bytes().as_chunks().0.as_chunks();
        let (with, words) = (isa.with_answer::<W>(rule), out.as_chunks_mut().0);
        if !I::MASK_REGISTERS && rule.ones {
            words_of::<I, W, { op::ONES }>(isa, blocks, &with, words);
        } else if !I::MASK_REGISTERS && rule.greater && !rule.opposite {
            words_of::<I, W, { op::GREATER }>(isa, blocks, &with, words);
        } else {
            words_of::<I, W, { op::FLIPPED }>(isa, blocks, &with, words);
        }
        bytes_of::<I, W, { op::FLIPPED }>(isa, x, blocks.len(), rule, &mut out[8 * blocks.len()..])
    }
}

/// The bytes of the lines after some blocks. Returns the bits of the elements after these lines.
#[inline(always)]
fn bytes_of<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    x: Long<'_>,
    blocks: usize,
    rule: &Rule,
    out: &mut [u8],
) -> u64 {
    let with = isa.with_answer::<W>(rule);
    let lines: &[Line] = x.bytes()[64 * W * blocks..].as_chunks().0;
    for (line, bytes) in lines.iter().zip(out.chunks_exact_mut(8 / W)) {
        bytes.copy_from_slice(&isa.line_bits::<W, OP>(line, &with).to_le_bytes()[..8 / W]);
    }
    match x.len() % 64 {
        0 => 0,
        rest => isa.line_bits::<W, OP>(x.line_at(x.len()).1, &with) >> ((64 - rest) / W),
    }
}

#[inline(always)]
fn words_of<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    blocks: &[Block<W>],
    with: &With<I::V>,
    words: &mut [[u8; 8]],
) {
    for (block, word) in blocks.iter().zip(words) {
        isa.pack::<W, OP>(block, with, word);
    }
}
