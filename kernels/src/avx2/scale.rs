//! Multiplying: AVX2 and F16C, which every CPU with AVX2 has had so far. Where it is missing, elements are multiplied one by
//! one.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU8, Ordering};

use super::{Avx2, Constants, Layout, V};
use crate::isa::{Blocks, Isa, Kernel};
use crate::lane::{Block, Lane};
use crate::rule::{Ones, Test};
use crate::scale::{self, Arithmetic, Bf16, F16, F32, F64, Float, Multiply, Scale};
use crate::stream::Stream;

/// Proves that the CPU has F16C besides what [`Avx2`] proves.
#[derive(Clone, Copy)]
pub(crate) struct F16c(Avx2);

impl F16c {
    fn detect(isa: Avx2) -> Option<Self> {
        /// Not asked yet, absent, present: CPUID is slow, above all in a virtual machine.
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        let known = match KNOWN.load(Ordering::Relaxed) {
            0 => {
                // Leaf 1, ECX, bit 29 (Intel SDM volume 2A, CPUID). That the system keeps the registers is known of AVX2.
                #[allow(unused_unsafe, reason = "an unsafe function in older versions of Rust")]
                // SAFETY: a CPU with AVX2 has the instruction, and the leaf.
                let features = unsafe { __cpuid(1) }.ecx;
                let known = 1 + (features >> 29 & 1) as u8;
                KNOWN.store(known, Ordering::Relaxed);
                known
            }
            known => known,
        };
        (known == 2).then_some(Self(isa))
    }
}

/// It writes no masks.
impl Stream for F16c {}

impl Isa for F16c {
    /// The token of AVX2 proves the first four features, and `detect` asks for the fifth.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,f16c")]
    unsafe fn vectorize<K: Kernel<Self>>(x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output {
        K::run(Self(Avx2(())), x, test, out)
    }
}

impl Scale for Avx2 {
    #[inline(always)]
    fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool {
        match F16c::detect(self) {
            Some(isa) => scale::vector(isa, x, float, factor),
            None => scale::scalar(x, float, factor),
        }
    }
}

/// Names intrinsics without memory operands as methods of the token. Registers are `__m256i`; casts are free.
macro_rules! operations {
    ($($name:ident = |$($a:ident),*| $e:expr;)*) => {
        impl Avx2 { $(
            #[inline(always)]
            fn $name(self, $($a: V),*) -> V {
                // SAFETY: `self` proves AVX2, which is all that these intrinsics ask for.
                unsafe { $e }
            }
        )* }
    };
}
operations! {
    multiply_f32 = |a, b| _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
    multiply_f64 = |a, b| _mm256_castpd_si256(_mm256_mul_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)));
    add_i32 = |a, b| _mm256_add_epi32(a, b);
    up_16 = |a| _mm256_slli_epi32::<16>(a);
    down_16 = |a| _mm256_srli_epi32::<16>(a);
}

impl F16c {
    #[inline(always)]
    fn widen_f16(self, halves: __m128i) -> V {
        // SAFETY: `self` proves F16C and AVX2.
        unsafe { _mm256_castps_si256(_mm256_cvtph_ps(halves)) }
    }

    /// To nearest, whatever the rounding mode.
    #[inline(always)]
    fn narrow_f16(self, wide: V) -> __m128i {
        // SAFETY: `self` proves F16C and AVX2.
        unsafe { _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(wide)) }
    }

    #[inline(always)]
    fn halves(self, a: V) -> [__m128i; 2] {
        // SAFETY: `self` proves AVX2.
        unsafe { [_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)] }
    }

    #[inline(always)]
    fn join(self, [low, high]: [__m128i; 2]) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high) }
    }
}

/// How a register of lanes is multiplied.
pub(crate) trait Lanes: Arithmetic<Lane: Layout> {
    /// In every lane.
    fn splat(isa: F16c, factor: Self::Factor) -> V;
    fn times(isa: F16c, lanes: V, factor: V) -> V;
}

impl Lanes for F32 {
    #[inline(always)]
    fn splat(isa: F16c, factor: f32) -> V {
        isa.0.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: F16c, lanes: V, factor: V) -> V {
        isa.0.multiply_f32(lanes, factor)
    }
}

impl Lanes for F64 {
    #[inline(always)]
    fn splat(isa: F16c, factor: f64) -> V {
        isa.0.splat_i64(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: F16c, lanes: V, factor: V) -> V {
        isa.0.multiply_f64(lanes, factor)
    }
}

impl Lanes for Bf16 {
    #[inline(always)]
    fn splat(isa: F16c, factor: f32) -> V {
        isa.0.splat_i32(factor.to_bits().cast_signed())
    }

    /// Even and odd elements apart: each is widened in its place.
    #[inline(always)]
    fn times(isa: F16c, lanes: V, factor: V) -> V {
        let even = isa.0.multiply_f32(isa.0.up_16(lanes), factor);
        let odd =
            isa.0.multiply_f32(isa.0.and(lanes, isa.0.splat_i32(0xFFFF_0000_u32.cast_signed())), factor);
        isa.0.blend_odd(isa.0.down_16(round_bf16(isa.0, even)), round_bf16(isa.0, odd))
    }
}

impl Lanes for F16 {
    #[inline(always)]
    fn splat(isa: F16c, factor: f32) -> V {
        isa.0.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: F16c, lanes: V, factor: V) -> V {
        let [low, high] = isa.halves(lanes);
        isa.join([
            isa.narrow_f16(isa.0.multiply_f32(isa.widen_f16(low), factor)),
            isa.narrow_f16(isa.0.multiply_f32(isa.widen_f16(high), factor)),
        ])
    }
}

/// f32 to bf16 in the upper halves; what is in the lower ones is to be left out. A NaN stays, as it is quiet already.
#[inline(always)]
fn round_bf16(isa: Avx2, wide: V) -> V {
    let nan = isa.greater_i32(isa.and(wide, isa.splat_i32(0x7FFF_FFFF)), isa.splat_i32(0x7F80_0000));
    let last = isa.and(isa.down_16(wide), isa.splat_i32(1));
    isa.add_i32(wide, isa.not_and(nan, isa.add_i32(last, isa.splat_i32(0x7FFF))))
}

/// The factor in every lane, and the mask of what is not finite.
#[derive(Clone, Copy)]
pub(crate) struct With {
    factor: V,
    non_finite: Constants,
}

impl<F: Lanes> Multiply<F> for F16c {
    type With = With;
    type Seen = [V; 2];

    #[inline(always)]
    fn with(self, non_finite: &Test, factor: F::Factor) -> With {
        With { factor: F::splat(self, factor), non_finite: F::Lane::constants(self.0, non_finite.pair()) }
    }

    #[inline(always)]
    fn unseen(self) -> [V; 2] {
        Blocks::<F::Lane>::unseen::<Ones, false>(self.0)
    }

    #[inline(always)]
    fn multiply(self, mut seen: [V; 2], block: &mut Block<F::Lane>, with: With) -> [V; 2] {
        let bytes = F::Lane::bytes_mut(block);
        for i in 0..bytes.len() / 32 {
            let lanes = self.0.load(bytes, 32 * i);
            seen[i % 2] = self.0.look::<F::Lane, Ones>(seen[i % 2], lanes, with.non_finite);
            self.0.put(bytes, 32 * i, F::times(self, lanes, with.factor));
        }
        seen
    }

    #[inline(always)]
    fn hit(self, seen: [V; 2], with: With) -> bool {
        Blocks::<F::Lane>::hit::<Ones, false>(self.0, seen, with.non_finite)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::F16c;
    use crate::avx2::Avx2;

    /// Asked, and told from memory.
    #[test]
    fn f16c_as_std_has_it() {
        let Some(isa) = Avx2::detect() else {
            std::println!("no AVX2 on this CPU, so F16C is not asked for");
            return;
        };
        for _ in 0..2 {
            assert_eq!(F16c::detect(isa).is_some(), std::is_x86_feature_detected!("f16c"));
        }
    }
}
