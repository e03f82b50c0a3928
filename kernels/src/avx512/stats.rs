//! Order of lanes.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx512, V};
use crate::registers::stats::{Compare, Order};

// SAFETY of all blocks below: `self` proves the features that the intrinsics ask for.
impl Compare for Avx512 {
    const WIDE: bool = true;

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_sub_epi8(a, b),
                2 => _mm512_sub_epi16(a, b),
                4 => _mm512_sub_epi32(a, b),
                _ => _mm512_sub_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        self.max_unsigned::<W>(a, b)
    }

    #[inline(always)]
    fn higher_signed<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_max_epi8(a, b),
                2 => _mm512_max_epi16(a, b),
                4 => _mm512_max_epi32(a, b),
                _ => _mm512_max_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn lower<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_min_epu8(a, b),
                2 => _mm512_min_epu16(a, b),
                4 => _mm512_min_epu32(a, b),
                _ => _mm512_min_epu64(a, b),
            }
        }
    }

    #[inline(always)]
    fn all<const W: usize>(self) -> u64 {
        u64::MAX >> (64 - 64 / W)
    }

    #[inline(always)]
    fn both(self, a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    fn is_all<const W: usize>(self, hits: u64) -> bool {
        hits == self.all::<W>()
    }

    #[inline(always)]
    fn still_some<const W: usize>(self, hits: u64, lanes: V, mask: V) -> u64 {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_mask_test_epi8_mask(hits, lanes, mask),
                2 => _mm512_mask_test_epi16_mask(hits as u32, lanes, mask).into(),
                4 => _mm512_mask_test_epi32_mask(hits as u16, lanes, mask).into(),
                _ => _mm512_mask_test_epi64_mask(hits as u8, lanes, mask).into(),
            }
        }
    }

    #[inline(always)]
    fn lowest<const W: usize>(self, low: V, rank: V, hits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_mask_min_epu8(low, !hits, low, rank),
                2 => _mm512_mask_min_epu16(low, !hits as u32, low, rank),
                4 => _mm512_mask_min_epu32(low, !hits as u16, low, rank),
                _ => _mm512_mask_min_epu64(low, !hits as u8, low, rank),
            }
        }
    }

    #[inline(always)]
    fn highest<const W: usize>(self, high: V, rank: V, hits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_mask_max_epu8(high, !hits, high, rank),
                2 => _mm512_mask_max_epu16(high, !hits as u32, high, rank),
                4 => _mm512_mask_max_epu32(high, !hits as u16, high, rank),
                _ => _mm512_mask_max_epu64(high, !hits as u8, high, rank),
            }
        }
    }

    #[inline(always)]
    fn rank<const W: usize>(self, lanes: V, magnitude: V, order: Order<V>) -> V {
        let (flip, positive) = (order.flip, self.xor(magnitude, order.flip));
        // SAFETY: see above.
        unsafe {
            match W {
                1 => {
                    let minus = _mm512_test_epi8_mask(lanes, order.sign);
                    _mm512_mask_sub_epi8(positive, minus, flip, magnitude)
                }
                2 => {
                    let minus = _mm512_movepi16_mask(lanes);
                    _mm512_mask_sub_epi16(positive, minus, flip, magnitude)
                }
                4 => {
                    let minus = _mm512_movepi32_mask(lanes);
                    _mm512_mask_sub_epi32(positive, minus, flip, magnitude)
                }
                _ => {
                    let minus = _mm512_movepi64_mask(lanes);
                    _mm512_mask_sub_epi64(positive, minus, flip, magnitude)
                }
            }
        }
    }

    #[inline(always)]
    fn same(self, a: V, b: V) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_cmpneq_epi64_mask(a, b) == 0 }
    }

    #[inline(always)]
    fn hits<const W: usize>(self, bits: u64) -> u64 {
        bits
    }
}
