//! Packed bits: a word for each 64 elements, the first element in the lowest bit.
//!
//! ```text
//! bits(x, out):
//!     for each block of 64 elements: its word = the comparisons of its lines side by side
//!     return the bits of the other elements          line by line; the last line overlaps
//! ```

use crate::isa::{Isa, op};
use crate::pieces::{Line, Long};
use crate::rule::Rule;

/// A word for each 64 elements, in the order of bytes of a little-endian machine. The bits of the
/// elements after the last whole word are returned; the other bits have any value.
#[inline(always)]
pub(crate) fn bits<I: Isa, const W: usize>(
    isa: I,
    x: Long<'_>,
    rule: &Rule,
    out: &mut [[u8; 8]],
) -> u64 {
    let (with, base) = (isa.with::<W>(rule), out.len() * 64 * W);
    if rule.is_tilted() {
        words::<I, W, { op::TILTED }>(isa, x, rule, out);
    } else if I::PACKS_ONES && rule.is_ones::<W>() {
        words::<I, W, { op::ONES }>(isa, x, rule, out);
    } else if rule.flip() == 0 {
        words::<I, W, { op::GREATER }>(isa, x, rule, out);
    } else {
        words::<I, W, { op::ANSWER }>(isa, x, rule, out);
    }
    let (mut at, mut rest) = (base, 0);
    while at < x.len() {
        let (place, line) = x.line_at(at);
        let bits = isa.answers::<W>(line, rule.is_tilted(), &with);
        // The last line overlaps others, or the last word.
        let (low, high) = (base.saturating_sub(place) / W, place.saturating_sub(base) / W);
        rest |= bits >> low << high;
        at = place + 64;
    }
    rest
}

#[inline(always)]
fn words<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    x: Long<'_>,
    rule: &Rule,
    out: &mut [[u8; 8]],
) {
    let with = isa.with::<W>(rule);
    let lines: &[Line] = x.bytes().as_chunks().0;
    for (block, word) in lines.as_chunks().0.iter().zip(out) {
        isa.pack::<W, OP>(block, &with, word);
    }
}
