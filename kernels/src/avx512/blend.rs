//! Choosing between lanes.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx512, V};
use crate::registers::Blend;

impl Blend for Avx512 {
    #[inline(always)]
    fn blend<const W: usize>(self, a: V, b: V, hits: u64) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match W {
                1 => _mm512_mask_blend_epi8(hits, a, b),
                2 => _mm512_mask_blend_epi16(hits as u32, a, b),
                4 => _mm512_mask_blend_epi32(hits as u16, a, b),
                _ => _mm512_mask_blend_epi64(hits as u8, a, b),
            }
        }
    }
}
