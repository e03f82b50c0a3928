//! Multiplying. f16 is converted by instructions of the base architecture, for which Rust 1.89 has no intrinsics.

use core::arch::aarch64::*;
use core::arch::asm;
use core::sync::atomic::{Ordering, compiler_fence};

use super::{Constants, Layout, Neon, PAIR, V};
use crate::isa::Blocks;
use crate::lane::{Block, Lane};
use crate::rule::{Ones, Test};
use crate::scale::{self, Arithmetic, Bf16, F16, F32, F64, Float, Multiply, Scale};

impl Scale for Neon {
    #[inline(always)]
    fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool {
        scale::vector(self, x, float, factor)
    }
}

/// Names intrinsics without memory operands as methods of the token. Registers are `uint8x16_t`; casts are free.
macro_rules! operations {
    ($($name:ident = |$($a:ident),*| $e:expr;)*) => {
        impl Neon { $(
            #[inline(always)]
            fn $name(self, $($a: V),*) -> V {
                // SAFETY: `self` proves NEON, which is all that these intrinsics ask for.
                unsafe { $e }
            }
        )* }
    };
}
operations! {
    multiply_f32 = |a, b| vreinterpretq_u8_f32(vmulq_f32(vreinterpretq_f32_u8(a), vreinterpretq_f32_u8(b)));
    multiply_f64 = |a, b| vreinterpretq_u8_f64(vmulq_f64(vreinterpretq_f64_u8(a), vreinterpretq_f64_u8(b)));
    add_i32 = |a, b| vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    up_16 = |a| vreinterpretq_u8_u32(vshlq_n_u32::<16>(vreinterpretq_u32_u8(a)));
    down_16 = |a| vreinterpretq_u8_u32(vshrq_n_u32::<16>(vreinterpretq_u32_u8(a)));
    // Lanes 0 to 3, and 4 to 7.
    low_i16 = |a| vreinterpretq_u8_u32(vmovl_u16(vget_low_u16(vreinterpretq_u16_u8(a))));
    high_i16 = |a| vreinterpretq_u8_u32(vmovl_high_u16(vreinterpretq_u16_u8(a)));
}

impl Neon {
    /// The f16 in the low 64 bits.
    #[inline(always)]
    fn widen_low_f16(self, halves: V) -> V {
        let wide;
        // SAFETY: `self` proves NEON; the instruction reads and writes nothing but the registers named; it may
        // raise flags in FPSR, so `preserves_flags` is not claimed.
        unsafe {
            asm!("fcvtl {0:v}.4s, {1:v}.4h", out(vreg) wide, in(vreg) halves, options(pure, nomem, nostack));
        }
        wide
    }

    /// The f16 in the high 64 bits.
    #[inline(always)]
    fn widen_high_f16(self, halves: V) -> V {
        let wide;
        // SAFETY: as in `widen_low_f16`.
        unsafe {
            asm!("fcvtl2 {0:v}.4s, {1:v}.8h", out(vreg) wide, in(vreg) halves, options(pure, nomem, nostack));
        }
        wide
    }

    /// Rounds as the thread does: to nearest.
    #[inline(always)]
    fn narrow_f16(self, low: V, high: V) -> V {
        let mut halves: V;
        // SAFETY: as in `widen_low_f16`. The first result is written when `high` is still to be read, hence `out`, not
        // `lateout`.
        unsafe {
            asm!(
                "fcvtn {0:v}.4h, {1:v}.4s",
                "fcvtn2 {0:v}.8h, {2:v}.4s",
                out(vreg) halves, in(vreg) low, in(vreg) high,
                options(pure, nomem, nostack),
            );
        }
        halves
    }
}

/// How a register of lanes is multiplied.
pub(crate) trait Lanes: Arithmetic<Lane: Layout> {
    /// In every lane.
    fn splat(isa: Neon, factor: Self::Factor) -> V;
    fn times(isa: Neon, lanes: V, factor: V) -> V;
}

impl Lanes for F32 {
    #[inline(always)]
    fn splat(isa: Neon, factor: f32) -> V {
        isa.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Neon, lanes: V, factor: V) -> V {
        isa.multiply_f32(lanes, factor)
    }
}

impl Lanes for F64 {
    #[inline(always)]
    fn splat(isa: Neon, factor: f64) -> V {
        isa.splat_i64(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Neon, lanes: V, factor: V) -> V {
        isa.multiply_f64(lanes, factor)
    }
}

impl Lanes for F16 {
    #[inline(always)]
    fn splat(isa: Neon, factor: f32) -> V {
        isa.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Neon, lanes: V, factor: V) -> V {
        let low = isa.multiply_f32(isa.widen_low_f16(lanes), factor);
        isa.narrow_f16(low, isa.multiply_f32(isa.widen_high_f16(lanes), factor))
    }
}

impl Lanes for Bf16 {
    #[inline(always)]
    fn splat(isa: Neon, factor: f32) -> V {
        isa.splat_i32(factor.to_bits().cast_signed())
    }

    #[inline(always)]
    fn times(isa: Neon, lanes: V, factor: V) -> V {
        let low = isa.multiply_f32(isa.up_16(isa.low_i16(lanes)), factor);
        let high = isa.multiply_f32(isa.up_16(isa.high_i16(lanes)), factor);
        isa.high_u32(round_bf16(isa, low), round_bf16(isa, high))
    }
}

/// f32 to bf16 in the upper halves; what is in the lower ones is to be left out. A NaN stays, as it is quiet already.
#[inline(always)]
fn round_bf16(isa: Neon, wide: V) -> V {
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

impl<F: Lanes> Multiply<F> for Neon {
    type With = With;
    type Seen = [V; 2];

    #[inline(always)]
    fn with(self, non_finite: &Test, factor: F::Factor) -> With {
        With { factor: F::splat(self, factor), non_finite: F::Lane::constants(self, non_finite.pair()) }
    }

    #[inline(always)]
    fn unseen(self) -> [V; 2] {
        Blocks::<F::Lane>::unseen::<Ones, false>(self)
    }

    #[inline(always)]
    fn multiply(self, [mut a, mut b]: [V; 2], block: &mut Block<F::Lane>, with: With) -> [V; 2] {
        let bytes = F::Lane::bytes_mut(block);
        for at in (0..bytes.len()).step_by(PAIR) {
            let (even, odd) = (self.load(bytes, at), self.load(bytes, at + 16));
            a = self.look::<F::Lane, Ones>(a, even, with.non_finite);
            b = self.look::<F::Lane, Ones>(b, odd, with.non_finite);
            self.put(bytes, at, F::times(self, even, with.factor));
            self.put(bytes, at + 16, F::times(self, odd, with.factor));
            // No instruction. It keeps the compiler from working on all registers of a block at once, of which it has too few
            // for bf16.
            compiler_fence(Ordering::SeqCst);
        }
        [a, b]
    }

    #[inline(always)]
    fn hit(self, seen: [V; 2], with: With) -> bool {
        Blocks::<F::Lane>::hit::<Ones, false>(self, seen, with.non_finite)
    }
}
