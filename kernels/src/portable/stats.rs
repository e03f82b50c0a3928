//! Order of numbers, element by element.

use core::mem::MaybeUninit;

use super::{Portable, elements};
use crate::numbers::{Numbers, Range};
use crate::scalar::{read, write};
use crate::simd::{Block, Line, Ordering};

impl Ordering for Portable {
    type Bounds = Range;

    #[inline(always)]
    fn bounds<const W: usize>(self, range: Range) -> Range {
        range
    }

    #[inline(always)]
    fn within<const W: usize>(self, pairs: &[[Line; 2]], bounds: Range) -> bool {
        let Range { mask, low, width } = bounds;
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

    #[inline(always)]
    fn within_valid<const W: usize>(
        self,
        blocks: &[Block<W>],
        words: &mut impl Iterator<Item = u64>,
        bounds: Range,
    ) -> bool {
        let Range { mask, low, width } = bounds;
        let up = 64 - 8 * W as u32;
        for block in blocks {
            let Some(valid) = words.next() else { return false };
            let mut outside = 0;
            for (i, element) in elements::<W>(block).iter().enumerate() {
                let is_outside = (read::<W>(element) & mask).wrapping_sub(low) << up >> up > width;
                outside |= u64::from(is_outside) << i;
            }
            if outside & valid != 0 {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn fill_nulls<const W: usize>(
        self,
        block: &Block<W>,
        valid: u64,
        filling: u64,
        out: &mut [MaybeUninit<Line>; W],
    ) {
        let mut copy = *block;
        for (i, element) in copy.as_flattened_mut().as_chunks_mut::<W>().0.iter_mut().enumerate() {
            if valid >> i & 1 == 0 {
                write(element, filling);
            }
        }
        *out = copy.map(MaybeUninit::new);
    }
}
