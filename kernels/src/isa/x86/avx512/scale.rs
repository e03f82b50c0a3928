//! Multiplies a register of elements.

use super::{Avx512, V};
use crate::isa::lanes::Products;
use crate::isa::x86::intrinsics::*;
use crate::soft_float::format;

impl Products for Avx512 {
    #[inline(always)]
    fn times<const F: usize>(self, lanes: V, factor: V) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match F {
                format::F64 => {
                    let product =
                        _mm512_mul_pd(_mm512_castsi512_pd(lanes), _mm512_castsi512_pd(factor));
                    _mm512_castpd_si512(product)
                }
                format::F32 => times_f32(lanes, factor),
                format::F16 => {
                    let low = times_f16(_mm512_castsi512_si256(lanes), factor);
                    let high = times_f16(_mm512_extracti64x4_epi64::<1>(lanes), factor);
                    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
                }
                // Handles even and odd elements separately. Each is widened in place.
                _ => {
                    let upper = _mm512_set1_epi32(!0 << 16);
                    let even = times_f32(_mm512_slli_epi32::<16>(lanes), factor);
                    let odd = times_f32(_mm512_and_si512(lanes, upper), factor);
                    let even = _mm512_srli_epi32::<16>(round_bf16(even));
                    _mm512_mask_blend_epi16(0xAAAA_AAAA, even, round_bf16(odd))
                }
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn times_f32(lanes: V, factor: V) -> V {
    let product = _mm512_mul_ps(_mm512_castsi512_ps(lanes), _mm512_castsi512_ps(factor));
    _mm512_castps_si512(product)
}

/// Rounds to nearest in every rounding mode.
#[inline]
#[target_feature(enable = "avx512f")]
fn times_f16(halves: __m256i, factor: V) -> __m256i {
    let product = _mm512_mul_ps(_mm512_cvtph_ps(halves), _mm512_castsi512_ps(factor));
    _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(product)
}

/// Rounds f32 to bf16. The result is in the upper halves of the lanes, and the lower halves have no
/// meaning. A NaN does not change, since it is already quiet.
#[inline]
#[target_feature(enable = "avx512f")]
fn round_bf16(wide: V) -> V {
    let magnitude = _mm512_and_si512(wide, _mm512_set1_epi32(0x7FFF_FFFF));
    let number = _mm512_cmple_epi32_mask(magnitude, _mm512_set1_epi32(0x7F80_0000));
    let last = _mm512_and_si512(_mm512_srli_epi32::<16>(wide), _mm512_set1_epi32(1));
    let up = _mm512_add_epi32(last, _mm512_set1_epi32(0x7FFF));
    _mm512_mask_add_epi32(wide, number, wide, up)
}
