//! Order of numbers, element by element.

use super::{Portable, elements};
use crate::scalar::read;
use crate::simd::{Line, Ordering};
use crate::stats::{Numbers, Range};

impl Ordering for Portable {
    type Bounds = Option<Range>;

    #[inline(always)]
    fn bounds<const W: usize>(self, range: Option<Range>) -> Option<Range> {
        range
    }

    #[inline(always)]
    fn within<const W: usize>(self, pairs: &[[Line; 2]], bounds: Option<Range>) -> bool {
        let Some(Range { mask, low, width }) = bounds else { return false };
        let up = 64 - 8 * W as u32;
        let outside = |element| (read::<W>(element) & mask).wrapping_sub(low) << up >> up > width;
        !elements::<W>(pairs.as_flattened()).iter().fold(false, |seen, x| seen | outside(x))
    }

    #[inline(always)]
    fn order<const W: usize>(
        self,
        pairs: &[[Line; 2]],
        numbers: &Numbers,
        keys: &mut [i64; 2],
    ) -> [usize; 3] {
        let ([mut low, mut high], mut counts) = (*keys, [0; 3]);
        for element in elements::<W>(pairs.as_flattened()) {
            let bits = read(element);
            let [zero, small, special] = numbers.counts(bits);
            let key = if special { low } else { numbers.key(bits) };
            (low, high) = (low.min(key), high.max(key));
            for (count, one) in counts.iter_mut().zip([zero, small, special]) {
                *count += usize::from(one);
            }
        }
        *keys = [low, high];
        counts
    }
}
