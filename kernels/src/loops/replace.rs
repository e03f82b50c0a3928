//! Replaces NaN and infinities.

use crate::isa::{Isa, op};
use crate::lines::Four;
use crate::rule::Rule;
use crate::values::{Codes, Values};

/// The instructions that choose between lanes and write registers back.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Blend: Isa {
    /// Writes a register from byte `at` on.
    fn store(self, v: Self::V, bytes: &mut [u8], at: usize);

    /// Each lane from `b` where there is a hit, and from `a` elsewhere.
    fn blend<const W: usize>(self, a: Self::V, b: Self::V, hits: Self::Hits) -> Self::V;
}

/// Whether an element of four lines may be a hit of a rule. If the screen is exact, never true for
/// lines without a hit: see [`Rule::is_exact`].
#[inline(always)]
pub(super) fn may_hit<I: Isa, const W: usize>(isa: I, lines: &Four, rule: &Rule) -> bool {
    let screen = isa.screen::<W>(rule.screen());
    if W == 1 && rule.screen().flip != 0 {
        isa.may_hit::<W, true>(lines, screen)
    } else {
        isa.may_hit::<W, false>(lines, screen)
    }
}

/// Writes other codes over the elements for which a rule holds, which is not tilted. Returns their
/// number. Four lines without such an element are not written.
#[inline(always)]
pub(crate) fn replace<I: Blend, const W: usize>(isa: I, x: &mut [Four], codes: &Codes) -> usize {
    let (with, Values { nan, pos_inf, neg_inf }) = (isa.with::<W>(&codes.rule), codes.values);
    let [for_nan, for_pos, for_neg] = [nan, pos_inf, neg_inf].map(|bits| isa.splat::<W>(bits));
    let [pos_inf, neg_inf] = [codes.pos_inf, codes.neg_inf].map(|bits| isa.splat::<W>(bits));
    let mut found = 0;
    for lines in x {
        // Where the rule holds for what is usual, the screen finds the other elements.
        if !codes.rule.usual() && !may_hit::<I, W>(isa, lines, &codes.rule) {
            continue;
        }
        let mut counts = [isa.splat::<1>(0); 2];
        for line in lines {
            for part in 0..64 / I::BYTES {
                let (x, i) = (isa.load(line, part * I::BYTES), part % 2);
                let hits = isa.hits::<W, { op::ANSWER }>(x, &with);
                let value = isa.blend::<W>(for_nan, for_neg, isa.equal::<W>(x, neg_inf));
                let value = isa.blend::<W>(value, for_pos, isa.equal::<W>(x, pos_inf));
                isa.store(isa.blend::<W>(x, value, hits), line, part * I::BYTES);
                counts[i] = isa.add::<W>(counts[i], hits, with.one);
            }
        }
        found += isa.sum(counts);
    }
    found
}
