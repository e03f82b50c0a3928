//! Multiplies a register of elements.

use super::{Avx2, V};
use crate::isa::lanes::Products;
use crate::isa::x86::intrinsics::*;
use crate::soft_float::format;

// SAFETY of all blocks below: `self` proves the features that the intrinsics ask for.
impl Products for Avx2 {
    #[inline(always)]
    fn times<const F: usize>(self, lanes: V, factor: V) -> V {
        // SAFETY: see above.
        unsafe {
            match F {
                format::F64 => {
                    let product =
                        _mm256_mul_pd(_mm256_castsi256_pd(lanes), _mm256_castsi256_pd(factor));
                    _mm256_castpd_si256(product)
                }
                format::F32 => self.times_f32(lanes, factor),
                format::F16 => {
                    let low = self.times_f16(_mm256_castsi256_si128(lanes), factor);
                    let high = self.times_f16(_mm256_extracti128_si256::<1>(lanes), factor);
                    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
                }
                // Handles even and odd elements separately. Each is widened in place.
                _ => {
                    let upper = _mm256_set1_epi32(!0 << 16);
                    let even = self.times_f32(_mm256_slli_epi32::<16>(lanes), factor);
                    let odd = self.times_f32(_mm256_and_si256(lanes, upper), factor);
                    let even = _mm256_srli_epi32::<16>(self.round_bf16(even));
                    _mm256_blend_epi16::<0b1010_1010>(even, self.round_bf16(odd))
                }
            }
        }
    }
}

impl Avx2 {
    #[inline(always)]
    fn times_f32(self, lanes: V, factor: V) -> V {
        // SAFETY: see above.
        unsafe {
            let product = _mm256_mul_ps(_mm256_castsi256_ps(lanes), _mm256_castsi256_ps(factor));
            _mm256_castps_si256(product)
        }
    }

    /// Rounds to nearest in every rounding mode.
    #[inline(always)]
    fn times_f16(self, halves: __m128i, factor: V) -> __m128i {
        // SAFETY: see above.
        unsafe {
            let wide = _mm256_castps_si256(_mm256_cvtph_ps(halves));
            let product = _mm256_castsi256_ps(self.times_f32(wide, factor));
            _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(product)
        }
    }

    /// Rounds f32 to bf16. The result is in the upper halves of the lanes, and the lower halves
    /// have no meaning. A NaN does not change, since it is already quiet.
    #[inline(always)]
    fn round_bf16(self, wide: V) -> V {
        // SAFETY: see above.
        unsafe {
            let magnitude = _mm256_and_si256(wide, _mm256_set1_epi32(0x7FFF_FFFF));
            let nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7F80_0000));
            let last = _mm256_and_si256(_mm256_srli_epi32::<16>(wide), _mm256_set1_epi32(1));
            let up = _mm256_add_epi32(last, _mm256_set1_epi32(0x7FFF));
            _mm256_add_epi32(wide, _mm256_andnot_si256(nan, up))
        }
    }
}
