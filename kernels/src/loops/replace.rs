//! Replaces NaN and infinities.

use crate::dispatch::tables;
use crate::element::{read, write};
use crate::isa::lanes::Blend;
use crate::isa::{Isa, op};
use crate::lines::Four;
use crate::question::{On, Question};
use crate::rule::{Classes, Rule};

/// The codes that replace NaN and infinities. An element takes the low bytes of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    /// The code that replaces NaN.
    pub nan: u64,
    /// The code that replaces +Inf.
    pub pos_inf: u64,
    /// The code that replaces -Inf.
    pub neg_inf: u64,
}

/// The hits of a rule, and the codes that replace them: one for each infinity, and one for all
/// other hits, which are NaN. In formats without infinities the three codes are the same.
pub(crate) struct Codes {
    pub(crate) rule: Rule,
    pub(crate) values: Values,
    /// The codes of the infinities.
    pub(crate) pos_inf: u64,
    pub(crate) neg_inf: u64,
}

impl Codes {
    /// # Panics
    /// If the rule is that for NaN or +Inf.
    #[track_caller]
    pub(crate) fn new(nan: &Rule, values: Values) -> Self {
        assert!(!nan.tilted, "a rule for NaN or +Inf, where a rule for NaN is needed");
        let Some(classes) = Classes::of(nan) else {
            let values = Values { pos_inf: values.nan, neg_inf: values.nan, ..values };
            return Self { rule: nan.without_opposite(), values, pos_inf: 0, neg_inf: 0 };
        };
        let (pos_inf, sign) = (classes.exponent, nan.mask + 1);
        Self { rule: classes.special(), values, pos_inf, neg_inf: pos_inf | sign }
    }

    #[inline(always)]
    pub(crate) fn instead_of(&self, bits: u64) -> u64 {
        if bits == self.pos_inf {
            self.values.pos_inf
        } else if bits == self.neg_inf {
            self.values.neg_inf
        } else {
            self.values.nan
        }
    }
}

/// Whether an element of four lines may be a hit of a rule. If the screen is exact, never true for
/// lines without a hit: see [`Rule::exact`].
#[inline(always)]
pub(super) fn may_hit<I: Isa, const W: usize>(isa: I, lines: &Four, rule: &Rule) -> bool {
    let screen = isa.screen::<W>(rule.screen());
    if rule.screen_flips::<W>() {
        isa.may_hit::<W, true>(lines, screen)
    } else {
        isa.may_hit::<W, false>(lines, screen)
    }
}

/// Writes other codes over the hits of a rule, which is not tilted. Returns their number. Four
/// lines without a hit are not written.
pub(crate) struct Replace;

tables!(Replace);

impl Question for Replace {
    type Input<'x> = &'x mut [Four];
    type Asked<'a> = &'a Codes;
    type Out<'o> = ();
    type Answer = usize;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: &mut [Four], codes: &Codes, (): ()) -> usize {
        // A copy, which the stores do not change.
        let (rule, mut found) = (codes.rule, 0);
        for element in x.as_flattened_mut().as_flattened_mut().as_chunks_mut::<W>().0 {
            let bits = read(element);
            if rule.hits_of::<W>(bits) {
                write(element, codes.instead_of(bits));
                found += 1;
            }
        }
        found
    }
}

impl<I: Blend> On<I> for Replace {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: &mut [Four], codes: &Codes, (): ()) -> usize {
        let (with, Values { nan, pos_inf, neg_inf }) = (isa.with::<W>(&codes.rule), codes.values);
        let [for_nan, for_pos, for_neg] = [nan, pos_inf, neg_inf].map(|bits| isa.splat::<W>(bits));
        let [pos_inf, neg_inf] = [codes.pos_inf, codes.neg_inf].map(|bits| isa.splat::<W>(bits));
        let mut found = 0;
        for lines in x {
            if !may_hit::<I, W>(isa, lines, &codes.rule) {
                continue;
            }
            let mut counts = [isa.splat::<1>(0); 2];
            for line in lines {
                for part in 0..64 / I::BYTES {
                    let (x, i) = (isa.load(line, part * I::BYTES), part % 2);
                    let hits = isa.hits::<W, { op::FLIPPED }>(x, &with);
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
}
