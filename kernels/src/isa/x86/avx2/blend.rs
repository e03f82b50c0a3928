//! Chooses between lanes, and orders them.

use super::{Avx2, V};
use crate::isa::Isa;
use crate::isa::lanes::Blend;
#[cfg(feature = "stats")]
use crate::isa::lanes::{Extremes, powers};
use crate::isa::x86::intrinsics::*;

impl Blend for Avx2 {
    #[inline(always)]
    fn store(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 32] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves AVX2. The store takes 32 bytes at any address.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn blend<const W: usize>(self, a: V, b: V, hits: V) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_blendv_epi8(a, b, hits) }
    }

    #[inline(always)]
    fn sort<const W: usize>(self, a: V, b: V) -> [V; 2] {
        // SAFETY: `self` proves AVX2.
        unsafe {
            match W {
                1 => [_mm256_min_epi8(a, b), _mm256_max_epi8(a, b)],
                2 => [_mm256_min_epi16(a, b), _mm256_max_epi16(a, b)],
                4 => [_mm256_min_epi32(a, b), _mm256_max_epi32(a, b)],
                _ => {
                    let above = self.greater::<8>(a, b);
                    [self.blend::<8>(a, b, above), self.blend::<8>(b, a, above)]
                }
            }
        }
    }
}

#[cfg(feature = "stats")]
impl Extremes for Avx2 {
    #[inline(always)]
    fn lanes_of<const W: usize>(self, bits: u64) -> V {
        let powers = self.load(const { &powers::<W, 32>() }, 0);
        let lanes = match W {
            // SAFETY: `self` proves AVX2.
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

    #[inline(always)]
    fn signed<const W: usize>(self, x: V, m: V) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe {
            match W {
                1 => _mm256_sign_epi8(m, x),
                2 => _mm256_sign_epi16(m, x),
                4 => _mm256_sign_epi32(m, x),
                _ => {
                    let minus = self.greater::<8>(_mm256_setzero_si256(), x);
                    self.sub::<8>(self.xor(m, minus), minus)
                }
            }
        }
    }

    #[inline(always)]
    fn moved<const N: usize>(self, v: V) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe {
            match N {
                1 => _mm256_bsrli_epi128::<1>(v),
                2 => _mm256_bsrli_epi128::<2>(v),
                4 => _mm256_bsrli_epi128::<4>(v),
                8 => _mm256_bsrli_epi128::<8>(v),
                _ => _mm256_permute2x128_si256::<1>(v, v),
            }
        }
    }
}
