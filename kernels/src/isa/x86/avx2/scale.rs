//! Multiplies a register of elements.

use super::{Avx2, V};
use crate::isa::lanes::Products;
use crate::isa::x86::intrinsics::*;
use crate::soft_float::format;

impl Products for Avx2 {
    #[inline(always)]
    fn times<const F: usize>(self, lanes: V, factor: V) -> V {
        // SAFETY: `self` proves AVX2 and F16C.
        unsafe {
            match F {
                format::F64 => {
                    let product =
                        _mm256_mul_pd(_mm256_castsi256_pd(lanes), _mm256_castsi256_pd(factor));
                    _mm256_castpd_si256(product)
                }
                format::F32 => times_f32(lanes, factor),
                format::F16 => {
                    let low = times_f16(_mm256_castsi256_si128(lanes), factor);
                    let high = times_f16(_mm256_extracti128_si256::<1>(lanes), factor);
                    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
                }
                // Handles even and odd elements separately. Each is widened in place.
                _ => {
                    let upper = _mm256_set1_epi32(!0 << 16);
                    let even = times_f32(_mm256_slli_epi32::<16>(lanes), factor);
                    let odd = times_f32(_mm256_and_si256(lanes, upper), factor);
                    let even = _mm256_srli_epi32::<16>(round_bf16(even));
                    _mm256_blend_epi16::<0b1010_1010>(even, round_bf16(odd))
                }
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn times_f32(lanes: V, factor: V) -> V {
    let product = _mm256_mul_ps(_mm256_castsi256_ps(lanes), _mm256_castsi256_ps(factor));
    _mm256_castps_si256(product)
}

/// Rounds to nearest in every rounding mode.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn times_f16(halves: __m128i, factor: V) -> __m128i {
    let product = _mm256_mul_ps(_mm256_cvtph_ps(halves), _mm256_castsi256_ps(factor));
    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(product)
}

/// Rounds f32 to bf16. The result is in the upper halves of the lanes, and the lower halves have no
/// meaning. A NaN does not change, since it is already quiet.
#[inline]
#[target_feature(enable = "avx2")]
fn round_bf16(wide: V) -> V {
    let magnitude = _mm256_and_si256(wide, _mm256_set1_epi32(0x7FFF_FFFF));
    let nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7F80_0000));
    let last = _mm256_and_si256(_mm256_srli_epi32::<16>(wide), _mm256_set1_epi32(1));
    let up = _mm256_add_epi32(last, _mm256_set1_epi32(0x7FFF));
    _mm256_add_epi32(wide, _mm256_andnot_si256(nan, up))
}
