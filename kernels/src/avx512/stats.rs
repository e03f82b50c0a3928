//! Order of lanes.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx512, V};
use crate::registers::stats::Compare;

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
    fn min<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_min_epi8(a, b),
                2 => _mm512_min_epi16(a, b),
                4 => _mm512_min_epi32(a, b),
                _ => _mm512_min_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
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
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        self.max_unsigned::<W>(a, b)
    }

    #[inline(always)]
    fn choose<const W: usize>(self, a: V, b: V, hits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_mask_blend_epi8(hits, a, b),
                2 => _mm512_mask_blend_epi16(hits as u32, a, b),
                4 => _mm512_mask_blend_epi32(hits as u16, a, b),
                _ => _mm512_mask_blend_epi64(hits as u8, a, b),
            }
        }
    }

    #[inline(always)]
    fn negate<const W: usize>(self, lanes: V, hits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            let zero = _mm512_setzero_si512();
            match W {
                1 => _mm512_mask_sub_epi8(lanes, hits, zero, lanes),
                2 => _mm512_mask_sub_epi16(lanes, hits as u32, zero, lanes),
                4 => _mm512_mask_sub_epi32(lanes, hits as u16, zero, lanes),
                _ => _mm512_mask_sub_epi64(lanes, hits as u8, zero, lanes),
            }
        }
    }

    #[inline(always)]
    fn same(self, a: V, b: V) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_cmpneq_epi64_mask(a, b) == 0 }
    }
}
