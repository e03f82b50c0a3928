//! Counts of the three classes of special elements.

use crate::dispatch::tables;
use crate::isa::{Isa, op};
use crate::lines::{COUNTED, Line, Long};
use crate::plain;
use crate::question::{On, Question};
use crate::rule::Rule;

/// Bits of each of the three numbers of [`Classify`].
pub(crate) const CLASS_BITS: u32 = 21;

/// The numbers of NaN, of infinities and of -Inf, together in one number, of less than 2 MiB. The
/// rule is that for NaN of a format that has infinities.
///
/// ```text
/// bits & !sign  > exponent           NaN             f32: exponent = 7F80_0000
///               == exponent          infinite        either sign
/// bits          == sign | exponent   -Inf
/// ```
pub(crate) struct Classify;

tables!(Classify);

impl Question for Classify {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = ();
    type Answer = u64;

    /// Three counts: slower than one pass, and a quarter of its code.
    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: Long<'_>, nan: &Rule, (): ()) -> u64 {
        let count = |rule: &Rule| plain::sum::<W, BLOCK>(x.bytes(), |bits| rule.hits_of::<W>(bits));
        let infinity = |all, code| Rule::equal(W, all, code);
        let (mask, exponent) = (nan.mask, nan.limit.cast_unsigned());
        let (inf, negative) = (infinity(mask, exponent), infinity(u64::MAX, exponent | (mask + 1)));
        joined([nan, &inf, &negative].map(count))
    }
}

impl<I: Isa> On<I> for Classify {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, nan: &Rule, (): ()) -> u64 {
        let (exponent, sign) = (nan.limit.cast_unsigned(), nan.mask + 1);
        let (with, inf) = (isa.with::<W>(nan), isa.splat::<W>(exponent));
        let negative = isa.splat::<W>(exponent | sign);
        let mut total = 0;
        let lines: &[Line] = x.bytes().as_chunks().0;
        let few = !I::GROUPS || x.len() < I::COUNTERS_FROM;
        let (pairs, lines) = if few { (&[][..], lines) } else { lines.as_chunks::<2>() };
        for run in pairs.chunks(COUNTED / 128) {
            let [mut nans, mut infs, mut negs] = [[isa.splat::<1>(0); 2]; 3];
            for pair in run {
                for i in 0..128 / I::BYTES {
                    let (x, i) = (isa.load(pair.as_flattened(), i * I::BYTES), i % 2);
                    let magnitude = isa.and(x, with.mask);
                    nans[i] = isa.add::<W>(nans[i], isa.greater::<W>(magnitude, inf), with.one);
                    infs[i] = isa.add::<W>(infs[i], isa.equal::<W>(magnitude, inf), with.one);
                    negs[i] = isa.add::<W>(negs[i], isa.equal::<W>(x, negative), with.one);
                }
            }
            total += joined([isa.sum(nans), isa.sum(infs), isa.sum(negs)].map(|sum| sum as u64));
        }
        let of_inf = isa.with_code::<W>(nan.mask, exponent);
        let of_negative = isa.with_code::<W>(u64::MAX, exponent | sign);
        let rest = x.len() % 64;
        let last = (rest != 0).then(|| (x.line_at(x.len()).1, (64 - rest) / W));
        for (line, overlap) in lines.iter().map(|line| (line, 0)).chain(last) {
            let bits = [
                isa.line_bits::<W, { op::GREATER }>(line, &with),
                isa.line_bits::<W, { op::EQUAL }>(line, &of_inf),
                isa.line_bits::<W, { op::EQUAL }>(line, &of_negative),
            ];
            total += joined(bits.map(|bits| u64::from((bits >> overlap).count_ones())));
        }
        total
    }
}

#[inline(always)]
fn joined([a, b, c]: [u64; 3]) -> u64 {
    a | b << CLASS_BITS | c << (2 * CLASS_BITS)
}
