//! The algorithms that the hand-written backends share. They are written over a trait with the
//! instructions that differ.

#[cfg(feature = "replace")]
pub(crate) mod replace;
#[cfg(feature = "scale")]
pub(crate) mod scale;
#[cfg(feature = "stats")]
pub(crate) mod stats;

use crate::rule::Comparison;
use crate::simd::{Counting, Line, op};

/// The registers of an instruction set.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Registers: Copy {
    /// A register of lanes.
    type V: Copy;
    /// One answer for each lane.
    type Hits: Copy;
    /// Bytes of a register.
    const BYTES: usize;

    /// Loads the bytes at `at`.
    fn load(self, bytes: &[u8], at: usize) -> Self::V;

    /// The low `W` bytes of a number in every lane.
    fn splat<const W: usize>(self, bits: u64) -> Self::V;

    /// The bits that are set in both.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;

    /// The lanes that are equal.
    fn equal<const W: usize>(self, a: Self::V, b: Self::V) -> Self::Hits;

    /// The lanes of `a` that are greater than those of `b`, as signed integers.
    fn greater<const W: usize>(self, a: Self::V, b: Self::V) -> Self::Hits;

    /// Counts hits lane by lane; `one` is 1 in every lane.
    fn add<const W: usize>(self, counts: Self::V, hits: Self::Hits, one: Self::V) -> Self::V;

    /// The sum of all lanes of two registers of counts. Together they have counted at most
    /// [`crate::simd::COUNTED`] bytes, so each lane is at most 128, in its lowest byte. With
    /// registers of 16 bytes, two lanes may add up to 256, which does not fit into a byte.
    fn sum(self, counts: [Self::V; 2]) -> usize;

    /// The lanes for which `EQUAL` or `GREATER` holds.
    #[inline(always)]
    fn compare<const W: usize, const OP: u8>(
        self,
        lanes: Self::V,
        mask: Self::V,
        bound: Self::V,
    ) -> Self::Hits {
        let masked = self.and(lanes, mask);
        if OP == op::GREATER {
            self.greater::<W>(masked, bound)
        } else {
            self.equal::<W>(masked, bound)
        }
    }

    /// For elements of one byte, the mask in every 8-bit lane. For wider elements, the top 16 bits
    /// of the mask in every 16-bit lane.
    #[inline(always)]
    fn top<const W: usize>(self, comparison: &Comparison) -> Self::V {
        match W {
            1 => self.splat::<1>(comparison.mask()),
            _ => self.splat::<2>(comparison.mask() >> (8 * W - 16)),
        }
    }

    /// No counts yet. There are two registers because an addition waits for the one before.
    #[inline(always)]
    fn no_counts(self) -> [Self::V; 2] {
        [self.splat::<1>(0); 2]
    }
}

impl<R: Registers> Counting for R {
    #[inline(always)]
    fn count<const W: usize, const OP: u8>(
        self,
        pairs: &[[Line; 2]],
        comparison: &Comparison,
    ) -> usize {
        let (mask, bound) =
            (self.splat::<W>(comparison.mask()), self.splat::<W>(comparison.bound()));
        let (mut counts, one) = (self.no_counts(), self.splat::<W>(1));
        for pair in pairs {
            for part in 0..128 / R::BYTES {
                let lanes = self.load(pair.as_flattened(), part * R::BYTES);
                let hits = self.compare::<W, OP>(lanes, mask, bound);
                counts[part % 2] = self.add::<W>(counts[part % 2], hits, one);
            }
        }
        self.sum(counts)
    }

    #[inline(always)]
    fn classify<const W: usize>(self, pairs: &[[Line; 2]], nan: &Comparison) -> [usize; 3] {
        let (mask, code) = (nan.mask(), nan.bound());
        // The sign is the one bit that the mask lacks.
        let neg_code = self.splat::<W>(code | (mask + 1));
        let [mask, code, one] = [mask, code, 1].map(|bits| self.splat::<W>(bits));
        let [mut nan, mut inf, mut neg] = [self.no_counts(); 3];
        for pair in pairs {
            for part in 0..128 / R::BYTES {
                let (lanes, i) = (self.load(pair.as_flattened(), part * R::BYTES), part % 2);
                let magnitude = self.and(lanes, mask);
                nan[i] = self.add::<W>(nan[i], self.greater::<W>(magnitude, code), one);
                inf[i] = self.add::<W>(inf[i], self.equal::<W>(magnitude, code), one);
                neg[i] = self.add::<W>(neg[i], self.equal::<W>(lanes, neg_code), one);
            }
        }
        [self.sum(nan), self.sum(inf), self.sum(neg)]
    }
}

/// 1, hidden from the compiler: with a known value it would make two instructions of `min(x, 1)`.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn ones(comparison: &Comparison) -> u64 {
    let [usual, other] = comparison.answers();
    usual | other
}

/// Registers that can be written back to memory.
#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
pub(crate) trait Write: Registers {
    /// Stores the bytes at `at`.
    fn write(self, v: Self::V, bytes: &mut [u8], at: usize);
}

/// Choosing between lanes.
#[cfg(any(feature = "replace", feature = "stats"))]
pub(crate) trait Blend: Write {
    /// Each lane from `b` where there is a hit, and from `a` elsewhere.
    fn blend<const W: usize>(self, a: Self::V, b: Self::V, hits: Self::Hits) -> Self::V;
}
