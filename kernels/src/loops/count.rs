//! Counts, element by element.
//!
//! ```text
//! count(x):
//!     for each run of 4 KiB, if x is long enough, for each pair of lines:
//!         counters a, b = 0                              one byte in each lane
//!         for each register:
//!             a (even) or b (odd) += 1 in each lane that is a hit
//!         total += the sum of all lanes of a and b
//!     for each line after them: total += the ones in its bits    the last line overlaps
//! ```
//!
//! ```text
//! register      0   1   2   3   ..                   one lane of each
//! hit           1   0   0   1
//! counter a     1 ----- 1 -----                      at most 128 in a lane after 4 KiB:
//! counter b         0 ----- 1 --                     no counter overflows
//! ```
//!
//! Two counters, because an addition waits for the addition before. For a tilted rule, which is
//! rare, all lines are counted by their bits.

use crate::dispatch::tables;
use crate::isa::{Isa, With, op};
use crate::lines::{COUNTED, Line, Long};
use crate::plain;
use crate::question::{On, Question};
use crate::rule::Rule;

/// The number of hits.
pub(crate) struct Count;

tables!(Count);

impl Question for Count {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = ();
    type Answer = u64;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: Long<'_>, rule: &Rule, (): ()) -> u64 {
        plain::sum::<W, BLOCK>(x.bytes(), |bits| rule.hits_of::<W>(bits))
    }
}

impl<I: Isa> On<I> for Count {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, rule: &Rule, (): ()) -> u64 {
        if !I::GROUPS {
            // One loop for every rule, since code should be small.
            by::<I, W, { op::TILTED }>(isa, x, rule)
        } else if rule.tilted {
            in_bits::<I, W, { op::TILTED }>(isa, x, x.len(), &isa.with::<W>(rule))
        } else if rule.greater && !I::MASK_REGISTERS {
            by::<I, W, { op::GREATER }>(isa, x, rule)
        } else {
            by::<I, W, { op::FLIPPED }>(isa, x, rule)
        }
    }
}

#[inline(always)]
fn by<I: Isa, const W: usize, const OP: u8>(isa: I, x: Long<'_>, rule: &Rule) -> u64 {
    let (with, mut rest, mut total) = (isa.with::<W>(rule), x, 0);
    if I::GROUPS && x.len() >= I::COUNTERS_FROM {
        let (pairs, _): (&[[Line; 2]], _) = x.bytes().as_chunks().0.as_chunks();
        for run in pairs.chunks(COUNTED / 128) {
            let mut counts = [isa.splat::<1>(0); 2];
            for pair in run {
                for i in 0..128 / I::BYTES {
                    let lanes = isa.load(pair.as_flattened(), i * I::BYTES);
                    let hits = isa.hits::<W, OP>(lanes, &with);
                    counts[i % 2] = isa.add::<W>(counts[i % 2], hits, with.one);
                }
            }
            total += isa.sum(counts) as u64;
        }
        if pairs.len() * 128 == x.len() {
            return total;
        }
        rest = x.from(128 * pairs.len());
    }
    total + in_bits::<I, W, OP>(isa, rest, x.len(), &with)
}

/// The number of hits in `x`, the end of an input of `bytes` bytes, by the bits of each line. If
/// `x` is one line, the line may overlap what was counted before.
#[inline(always)]
fn in_bits<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    x: Long<'_>,
    bytes: usize,
    with: &With<I::V>,
) -> u64 {
    let (mut line, mut total) = (x.cursor(), 0);
    while let Some(next) = line.next::<1>() {
        let bits = isa.line_bits::<W, OP>(&line.here::<1>()[0], with);
        total += u64::from(bits.count_ones());
        line = next;
    }
    // The last line overlaps what is counted.
    let overlap = bytes.wrapping_neg() % 64 / W;
    let bits = isa.line_bits::<W, OP>(&line.here::<1>()[0], with) >> overlap;
    total + u64::from(bits.count_ones())
}
