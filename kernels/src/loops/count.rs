//! Counts, element by element.
//!
//! ```text
//! count(x):
//!     for each part of 4 KiB, if x is long enough, for each pair of lines:
//!         counters a, b = 0                              one byte in each lane
//!         for each register:
//!             a (even) or b (odd) += 1 in each lane that is a hit
//!         total += the sum of all lanes of a and b
//!     of the other lines: total += the ones in their bits    the last line overlaps
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

use crate::isa::{Isa, With, op};
use crate::lines::{COUNTED, Line, Long};
use crate::rule::Rule;

/// The number of elements for which the rule holds.
#[inline(always)]
pub(crate) fn count<I: Isa, const W: usize>(isa: I, x: Long<'_>, rule: &Rule) -> u64 {
    if !I::GROUPS {
        // One loop for every rule, since code should be small.
        by::<I, W, { op::TILTED }>(isa, x, rule)
    } else if rule.is_tilted() {
        in_bits::<I, W, { op::TILTED }>(isa, x, 0, &isa.with::<W>(rule))
    } else if rule.is_greater() && !I::ALIKE {
        by::<I, W, { op::GREATER }>(isa, x, rule)
    } else {
        by::<I, W, { op::ANSWER }>(isa, x, rule)
    }
}

#[inline(always)]
fn by<I: Isa, const W: usize, const OP: u8>(isa: I, x: Long<'_>, rule: &Rule) -> u64 {
    let (with, mut total) = (isa.with::<W>(rule), 0);
    let mut pairs: &[[Line; 2]] = &[];
    if I::GROUPS && x.len() >= I::COUNTERS_FROM {
        (pairs, _) = x.bytes().as_chunks().0.as_chunks();
        for part in pairs.chunks(COUNTED / 128) {
            let mut counts = [isa.splat::<1>(0); 2];
            for pair in part {
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
    }
    total + in_bits::<I, W, OP>(isa, x, 2 * pairs.len(), &with)
}

/// The number of hits after some lines, by the bits of each line.
#[inline(always)]
fn in_bits<I: Isa, const W: usize, const OP: u8>(
    isa: I,
    x: Long<'_>,
    lines: usize,
    with: &With<I::V>,
) -> u64 {
    let (mut line, mut total) = (x.from(64 * lines).windows(), 0);
    while let Some(next) = line.next::<1>() {
        let bits = isa.line_bits::<W, OP>(&line.here::<1>()[0], with);
        total += u64::from(bits.count_ones());
        line = next;
    }
    // The last line overlaps what is counted.
    let overlap = x.len().wrapping_neg() % 64 / W;
    let bits = isa.line_bits::<W, OP>(&line.here::<1>()[0], with) >> overlap;
    total + u64::from(bits.count_ones())
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
    if !I::GROUPS {
        return classes_by_counts::<I, W>(isa, x, nan);
    }
    let (with, inf) = (isa.with::<W>(nan), isa.splat::<W>(nan.least()));
    let negative = isa.splat::<W>(nan.least() | (nan.mask() + 1));
    let mut total = 0;
    let lines: &[Line] = x.bytes().as_chunks().0;
    let (pairs, lines) =
        if x.len() < I::COUNTERS_FROM { (&[][..], lines) } else { lines.as_chunks::<2>() };
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
    let rest = x.len() % 64;
    let last = (rest != 0).then(|| (x.line_at(x.len()).1, (64 - rest) / W));
    for (line, overlap) in lines.iter().map(|line| (line, 0)).chain(last) {
        let bits = [
            isa.line_bits::<W, { op::GREATER }>(line, &with),
            isa.line_bits::<W, { op::EQUAL }>(line, &of_inf),
            isa.line_bits::<W, { op::EQUAL }>(line, &of_negative),
        ];
        total += packed(bits.map(|bits| u64::from((bits >> overlap).count_ones())));
    }
    total
}

/// Three counts: slower than one pass, and a quarter of its code.
#[inline(always)]
fn classes_by_counts<I: Isa, const W: usize>(isa: I, x: Long<'_>, nan: &Rule) -> u64 {
    let (mask, exponent) = (nan.mask(), nan.least());
    let inf = Rule::equal(W, mask, exponent);
    let negative = Rule::equal(W, u64::MAX, exponent | (mask + 1));
    let mut numbers = [0; 3];
    for (number, rule) in numbers.iter_mut().zip([nan, &inf, &negative]) {
        *number = count::<I, W>(isa, x, rule);
    }
    packed(numbers)
}

#[inline(always)]
fn packed([a, b, c]: [u64; 3]) -> u64 {
    a | b << CLASS_BITS | c << (2 * CLASS_BITS)
}
