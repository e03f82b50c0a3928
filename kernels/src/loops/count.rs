//! Counts, element by element.
//!
//! ```text
//! count(x):
//!     for each part of 4 KiB, if x has 512 bytes or more:
//!         counters a, b = 0                          one byte in each lane
//!         for each register of the part:
//!             a (even) or b (odd) += 1 in each lane that is a hit
//!         total += the sum of all lanes of a and b
//!     total += the ones in the bits of the other lines          the last line overlaps
//! ```
//!
//! For a tilted rule, which is rare, all lines are counted in bits.
//!
//! ```text
//! register      0   1   2   3   ..                   one lane of each
//! hit           1   0   0   1
//! counter a     1 ----- 1 -----                      at most 128 in a lane after 4 KiB:
//! counter b         0 ----- 1 --                     no counter overflows
//! ```
//!
//! Two counters, because an addition waits for the addition before.

use crate::isa::{Isa, With, op};
use crate::pieces::{COUNTED, Line, Long};
use crate::rule::Rule;

/// From this many bytes on, hits are counted in registers. To add up the counters takes as long as
/// a few lines.
const COUNTERS_FROM: usize = 512;

/// The pairs of lines that are counted in registers.
#[inline(always)]
fn pairs(x: Long<'_>) -> &[[Line; 2]] {
    if x.len() < COUNTERS_FROM { &[] } else { x.bytes().as_chunks().0.as_chunks().0 }
}

/// The number of elements for which a rule of hits holds.
#[inline(always)]
pub(crate) fn count<I: Isa, const W: usize>(isa: I, x: Long<'_>, rule: &Rule) -> u64 {
    let (with, pairs) = (isa.with::<W>(rule), pairs(x));
    let (mut at, mut total) = (pairs.len() * 128, 0);
    if rule.is_greater() {
        total = in_registers::<I, W, { op::GREATER }>(isa, pairs, &with);
    } else if rule.is_equal::<W>() {
        total = in_registers::<I, W, { op::EQUAL }>(isa, pairs, &with);
    } else {
        at = 0;
    }
    while at < x.len() {
        let (place, line) = x.line_at(at);
        // The last line overlaps what is counted.
        let bits = isa.answers::<W>(line, rule.is_tilted(), &with) >> ((at - place) / W);
        total += u64::from(bits.count_ones());
        at = place + 64;
    }
    total
}

#[inline(always)]
fn in_registers<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    pairs: &[[Line; 2]],
    with: &With<I::V>,
) -> u64 {
    let parts = pairs.chunks(COUNTED / 128);
    parts.map(|part| isa.sum(hits::<I, W, OP>(isa, part, with)) as u64).sum()
}

/// The number of hits in each lane, in two counters.
#[inline(always)]
fn hits<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    part: &[[Line; 2]],
    with: &With<I::V>,
) -> [I::V; 2] {
    let mut counts = [isa.splat::<1>(0); 2];
    for pair in part {
        for i in 0..128 / I::BYTES {
            let lanes = isa.load(pair.as_flattened(), i * I::BYTES);
            let hits = isa.hits::<W, OP>(lanes, with);
            counts[i % 2] = isa.add::<W>(counts[i % 2], hits, with.one);
        }
    }
    counts
}

/// Bits of each of the three numbers that [`classify`] returns.
pub(crate) const CLASS_BITS: u32 = 21;

/// The numbers of NaN, of infinities and of -Inf, together in one number, of less than 2 MiB. `nan`
/// is the rule for NaN of a format that has infinities.
///
/// ```text
/// bits & !sign  > exponent           NaN             f32: exponent = 7F80_0000
///               == exponent          infinite        either sign
/// bits          == sign | exponent   -Inf
/// ```
#[inline(always)]
pub(crate) fn classify<I: Isa, const W: usize>(isa: I, x: Long<'_>, nan: &Rule) -> u64 {
    let (pairs, mut total) = (pairs(x), 0);
    let (with, inf) = (isa.with::<W>(nan), isa.splat::<W>(nan.least()));
    let negative = isa.splat::<W>(nan.least() | (nan.mask() + 1));
    for part in pairs.chunks(COUNTED / 128) {
        let [mut nans, mut infs, mut negs] = [[isa.splat::<1>(0); 2]; 3];
        for pair in part {
            for i in 0..128 / I::BYTES {
                let (x, i) = (isa.load(pair.as_flattened(), i * I::BYTES), i % 2);
                let magnitude = isa.and(x, with.mask);
                nans[i] = isa.add::<W>(nans[i], isa.greater::<W>(magnitude, inf), with.one);
                infs[i] = isa.add::<W>(infs[i], isa.equal::<W>(magnitude, inf), with.one);
                negs[i] = isa.add::<W>(negs[i], isa.equal::<W>(x, negative), with.one);
            }
        }
        total += packed([isa.sum(nans), isa.sum(infs), isa.sum(negs)].map(|sum| sum as u64));
    }
    let of_inf = With { bound: inf, ..with };
    let of_negative = With { mask: isa.splat::<W>(u64::MAX), bound: negative, ..with };
    let mut at = pairs.len() * 128;
    while at < x.len() {
        let (place, line) = x.line_at(at);
        let bits = [
            isa.line_bits::<W, { op::GREATER }>(line, &with),
            isa.line_bits::<W, { op::EQUAL }>(line, &of_inf),
            isa.line_bits::<W, { op::EQUAL }>(line, &of_negative),
        ];
        total += packed(bits.map(|bits| u64::from((bits >> ((at - place) / W)).count_ones())));
        at = place + 64;
    }
    total
}

#[inline(always)]
fn packed([a, b, c]: [u64; 3]) -> u64 {
    a | b << CLASS_BITS | c << (2 * CLASS_BITS)
}
