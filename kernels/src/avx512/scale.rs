//! Multiplying: AVX-512 F converts f16 too.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx512, Constants, Layout, Seen, V};
use crate::isa::Blocks;
use crate::lane::{Block, Lane};
use crate::rule::{Ones, Test};
use crate::scale::{self, Arithmetic, Bf16, F16, F32, F64, Float, Multiply, Scale};

impl Scale for Avx512 {
    #[inline(always)]
    fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool {
        scale::vector(self, x, float, factor)
    }
}

/// Names intrinsics without memory operands as methods of the token.
macro_rules! operations {
    ($($name:ident = |$($a:ident: $t:ty),*| -> $r:ty { $e:expr };)*) => {
        impl Avx512 { $(
            #[inline(always)]
            fn $name(self, $($a: $t),*) -> $r {
                // SAFETY: `self` proves AVX-512 F and BW, which is all that these intrinsics ask for.
                unsafe { $e }
            }
        )* }
    };
}
operations! {
    multiply_f32 = |a: V, b: V| -> V {
        _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
    };
    multiply_f64 = |a: V, b: V| -> V {
        _mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)))
    };
    // `a + b` where the mask is set, else `a`.
    add_where = |mask: u16, a: V, b: V| -> V { _mm512_mask_add_epi32(a, mask, a, b) };
    add_i32 = |a: V, b: V| -> V { _mm512_add_epi32(a, b) };
    up_16 = |a: V| -> V { _mm512_slli_epi32::<16>(a) };
    widen_f16 = |a: __m256i| -> V { _mm512_castps_si512(_mm512_cvtph_ps(a)) };
    // To nearest, whatever the rounding mode.
    narrow_f16 = |a: V| -> __m256i { _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_castsi512_ps(a)) };
    halves = |a: V| -> [__m256i; 2] { [_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64::<1>(a)] };
    join = |low: __m256i, high: __m256i| -> V { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) };
}

/// How a register of lanes is multiplied.
pub(crate) trait Lanes: Arithmetic<Lane: Layout> {
    /// In every lane.
    fn splat(isa: Avx512, factor: Self::Factor) -> V;
    fn times(isa: Avx512, lanes: V, factor: V) -> V;
}

impl Lanes for F32 {
    #[inline(always)]
    fn splat(isa: Avx512, factor: f32) -> V {
        isa.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Avx512, lanes: V, factor: V) -> V {
        isa.multiply_f32(lanes, factor)
    }
}

impl Lanes for F64 {
    #[inline(always)]
    fn splat(isa: Avx512, factor: f64) -> V {
        isa.splat_i64(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Avx512, lanes: V, factor: V) -> V {
        isa.multiply_f64(lanes, factor)
    }
}

impl Lanes for F16 {
    #[inline(always)]
    fn splat(isa: Avx512, factor: f32) -> V {
        isa.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Avx512, lanes: V, factor: V) -> V {
        let [low, high] = isa.halves(lanes);
        isa.join(
            isa.narrow_f16(isa.multiply_f32(isa.widen_f16(low), factor)),
            isa.narrow_f16(isa.multiply_f32(isa.widen_f16(high), factor)),
        )
    }
}

impl Lanes for Bf16 {
    #[inline(always)]
    fn splat(isa: Avx512, factor: f32) -> V {
        isa.splat_i32(factor.to_bits().cast_signed())
    }

    /// Even and odd elements apart: each is widened in its place.
    #[inline(always)]
    fn times(isa: Avx512, lanes: V, factor: V) -> V {
        let even = isa.multiply_f32(isa.up_16(lanes), factor);
        let odd = isa.multiply_f32(isa.and(lanes, isa.splat_i32(0xFFFF_0000_u32.cast_signed())), factor);
        isa.select(isa.splat_i32(!0 << 16), round_bf16(isa, odd), isa.down_16(round_bf16(isa, even)))
    }
}

/// f32 to bf16 in the upper halves; what is in the lower ones is to be left out. A NaN stays, as it is quiet already.
#[inline(always)]
fn round_bf16(isa: Avx512, wide: V) -> V {
    let magnitude = isa.and(wide, isa.splat_i32(0x7FFF_FFFF));
    let number = isa.at_most_i32(magnitude, isa.splat_i32(0x7F80_0000));
    let last = isa.and(isa.down_16(wide), isa.splat_i32(1));
    isa.add_where(number, wide, isa.add_i32(last, isa.splat_i32(0x7FFF)))
}

/// The factor in every lane, and the mask of what is not finite.
#[derive(Clone, Copy)]
pub(crate) struct With {
    factor: V,
    non_finite: Constants,
}

impl<F: Lanes> Multiply<F> for Avx512 {
    type With = With;
    type Seen = Seen;

    #[inline(always)]
    fn with(self, non_finite: &Test, factor: F::Factor) -> With {
        With { factor: F::splat(self, factor), non_finite: F::Lane::constants(self, non_finite.pair()) }
    }

    #[inline(always)]
    fn unseen(self) -> Seen {
        Blocks::<F::Lane>::unseen::<Ones, false>(self)
    }

    #[inline(always)]
    fn multiply(self, mut seen: Seen, block: &mut Block<F::Lane>, with: With) -> Seen {
        let bytes = F::Lane::bytes_mut(block);
        for i in 0..bytes.len() / 64 {
            let lanes = self.load(bytes, 64 * i);
            seen = self.look::<F::Lane, Ones>(seen, i, lanes, with.non_finite);
            self.put(bytes, 64 * i, F::times(self, lanes, with.factor));
        }
        seen
    }

    #[inline(always)]
    fn hit(self, seen: Seen, with: With) -> bool {
        Blocks::<F::Lane>::hit::<Ones, false>(self, seen, with.non_finite)
    }
}
