//! Chooses between lanes, and orders them.

use super::{Avx512, V};
#[cfg(feature = "stats")]
use crate::isa::Isa;
use crate::isa::lanes::Blend;
#[cfg(feature = "stats")]
use crate::isa::lanes::Extremes;
use crate::isa::x86::intrinsics::*;

impl Blend for Avx512 {
    #[inline(always)]
    fn store(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 64] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves AVX-512 F. The store takes 64 bytes at any address.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), v) }
    }

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

    #[inline(always)]
    fn sort<const W: usize>(self, a: V, b: V) -> [V; 2] {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match W {
                1 => [_mm512_min_epi8(a, b), _mm512_max_epi8(a, b)],
                2 => [_mm512_min_epi16(a, b), _mm512_max_epi16(a, b)],
                4 => [_mm512_min_epi32(a, b), _mm512_max_epi32(a, b)],
                _ => [_mm512_min_epi64(a, b), _mm512_max_epi64(a, b)],
            }
        }
    }
}

#[cfg(feature = "stats")]
impl Extremes for Avx512 {
    #[inline(always)]
    fn lanes_of<const W: usize>(self, bits: u64) -> u64 {
        bits
    }

    #[inline(always)]
    fn signed<const W: usize>(self, x: V, m: V) -> V {
        self.minus::<W>(x, self.splat::<8>(0), m, m)
    }

    #[inline(always)]
    fn moved<const N: usize>(self, v: V) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match N {
                1 => _mm512_bsrli_epi128::<1>(v),
                2 => _mm512_bsrli_epi128::<2>(v),
                4 => _mm512_bsrli_epi128::<4>(v),
                8 => _mm512_bsrli_epi128::<8>(v),
                16 => _mm512_shuffle_i64x2::<1>(v, v),
                _ => _mm512_shuffle_i64x2::<0b11_10>(v, v),
            }
        }
    }
}
