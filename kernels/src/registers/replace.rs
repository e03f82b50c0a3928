//! Replacing hits in place.

use super::Blend;
use crate::codes::Codes;
use crate::rule::Comparison;
use crate::simd::{Line, Replacing, op};

impl<R: Blend> Replacing for R {
    #[inline(always)]
    fn replace<const W: usize>(
        self,
        lines: &mut [Line],
        comparison: &Comparison,
        codes: &Codes,
    ) -> usize {
        let (mask, bound) =
            (self.splat::<W>(comparison.mask()), self.splat::<W>(comparison.bound()));
        let values = codes.values;
        let for_nan = self.splat::<W>(values.nan);
        let (pos_inf, for_pos) = (self.splat::<W>(codes.pos_inf), self.splat::<W>(values.pos_inf));
        let (neg_inf, for_neg) = (self.splat::<W>(codes.neg_inf), self.splat::<W>(values.neg_inf));
        let (mut counts, one) = (self.no_counts(), self.splat::<W>(1));
        for line in lines {
            for part in 0..64 / R::BYTES {
                let (lanes, i) = (self.load(line, part * R::BYTES), part % 2);
                let hits = self.compare::<W, { op::EQUAL }>(lanes, mask, bound);
                let value = self.blend::<W>(for_nan, for_neg, self.equal::<W>(lanes, neg_inf));
                let value = self.blend::<W>(value, for_pos, self.equal::<W>(lanes, pos_inf));
                self.write(self.blend::<W>(lanes, value, hits), line, part * R::BYTES);
                counts[i] = self.add::<W>(counts[i], hits, one);
            }
        }
        self.sum(counts)
    }
}
