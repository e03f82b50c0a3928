//! Order of lanes.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx2, V};
use crate::registers::Registers;
use crate::registers::stats::{Compare, Order, powers};
use crate::simd::op;

impl Avx2 {
    /// Lanes of 64 bits in `a` that are greater than those of `b`, unsigned.
    #[inline(always)]
    fn greater_unsigned(self, a: V, b: V) -> V {
        let top = self.splat::<8>(1 << 63);
        self.greater::<8>(self.xor(a, top), self.xor(b, top))
    }
}

// SAFETY of all blocks below: `self` proves the features that the intrinsics ask for.
impl Compare for Avx2 {
    const WIDE: bool = false;

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_sub_epi8(a, b),
                2 => _mm256_sub_epi16(a, b),
                4 => _mm256_sub_epi32(a, b),
                _ => _mm256_sub_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        match W {
            8 => self.choose_bytes(a, b, self.greater_unsigned(b, a)),
            _ => self.max_unsigned::<W>(a, b),
        }
    }

    #[inline(always)]
    fn higher_signed<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_max_epi8(a, b),
                2 => _mm256_max_epi16(a, b),
                4 => _mm256_max_epi32(a, b),
                _ => self.choose_bytes(a, b, self.greater::<8>(b, a)),
            }
        }
    }

    #[inline(always)]
    fn lower<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_min_epu8(a, b),
                2 => _mm256_min_epu16(a, b),
                4 => _mm256_min_epu32(a, b),
                _ => self.choose_bytes(a, b, self.greater_unsigned(a, b)),
            }
        }
    }

    #[inline(always)]
    fn all<const W: usize>(self) -> V {
        self.splat::<8>(u64::MAX)
    }

    #[inline(always)]
    fn both(self, a: V, b: V) -> V {
        self.and(a, b)
    }

    #[inline(always)]
    fn is_all<const W: usize>(self, hits: V) -> bool {
        self.same(hits, self.all::<W>())
    }

    #[inline(always)]
    fn still_some<const W: usize>(self, hits: V, lanes: V, mask: V) -> V {
        let none = self.equal::<W>(self.and(lanes, mask), self.splat::<8>(0));
        // SAFETY: see above.
        unsafe { _mm256_andnot_si256(none, hits) }
    }

    #[inline(always)]
    fn lowest<const W: usize>(self, low: V, rank: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe {
            let rank_or_ones = _mm256_or_si256(rank, hits);
            match W {
                8 => {
                    let lower = _mm256_andnot_si256(hits, self.greater::<8>(low, rank));
                    self.choose_bytes(low, rank, lower)
                }
                _ => self.lower::<W>(low, rank_or_ones),
            }
        }
    }

    #[inline(always)]
    fn highest<const W: usize>(self, high: V, rank: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                8 => {
                    let higher = _mm256_andnot_si256(hits, self.greater::<8>(rank, high));
                    self.choose_bytes(high, rank, higher)
                }
                _ => self.higher::<W>(high, _mm256_andnot_si256(hits, rank)),
            }
        }
    }

    #[inline(always)]
    fn rank<const W: usize>(self, lanes: V, magnitude: V, order: Order<V>) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                // Zero has the rank of zero, whatever its sign is.
                2 => self.xor(_mm256_sign_epi16(magnitude, lanes), order.flip),
                4 => self.xor(_mm256_sign_epi32(magnitude, lanes), order.flip),
                _ => {
                    let minus = self.compare::<W, { op::EQUAL }>(lanes, order.sign, order.negative);
                    self.sub::<W>(self.xor(self.xor(magnitude, order.flip), minus), minus)
                }
            }
        }
    }

    #[inline(always)]
    fn same(self, a: V, b: V) -> bool {
        let differs = self.xor(a, b);
        // SAFETY: see above.
        unsafe { _mm256_testz_si256(differs, differs) != 0 }
    }

    #[inline(always)]
    fn hits<const W: usize>(self, bits: u64) -> V {
        let powers = self.load(const { &powers::<W, 32>() }, 0);
        let lanes = match W {
            // SAFETY: see above.
            1 => unsafe {
                // Byte `i` of the bits, for the lanes of its bits. Each half of a register has its
                // own copy of the bits.
                let (low, high) = (0x0101_0101_0101_0101, 0x0303_0303_0303_0303);
                let which = _mm256_setr_epi64x(0, low, 2 * low, high);
                _mm256_shuffle_epi8(self.splat::<4>(bits), which)
            },
            _ => self.splat::<W>(bits),
        };
        self.equal::<W>(self.and(lanes, powers), powers)
    }
}
