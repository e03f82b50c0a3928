//! Multiplies a register of elements. f16 is converted by instructions of the base architecture,
//! for which Rust 1.89 has no intrinsics.

use core::arch::aarch64::*;
use core::arch::asm;

use super::{Neon, V};
use crate::isa::lanes::Products;
use crate::soft_float::format;

// SAFETY of all blocks below, unless they say more: `self` proves NEON, which is all that the
// intrinsics ask for.
impl Products for Neon {
    #[inline(always)]
    fn times<const F: usize>(self, lanes: V, factor: V) -> V {
        // SAFETY: see above.
        unsafe {
            match F {
                format::F64 => {
                    let product =
                        vmulq_f64(vreinterpretq_f64_u8(lanes), vreinterpretq_f64_u8(factor));
                    vreinterpretq_u8_f64(product)
                }
                format::F32 => self.times_f32(lanes, factor),
                format::F16 => {
                    let low = self.times_f32(self.widen_low_f16(lanes), factor);
                    let high = self.times_f32(self.widen_high_f16(lanes), factor);
                    self.narrow_f16(low, high)
                }
                _ => {
                    let (halves, zero) = (vreinterpretq_u16_u8(lanes), vdupq_n_u16(0));
                    let low =
                        self.times_f32(vreinterpretq_u8_u16(vzip1q_u16(zero, halves)), factor);
                    let high =
                        self.times_f32(vreinterpretq_u8_u16(vzip2q_u16(zero, halves)), factor);
                    self.narrow_bf16(low, high)
                }
            }
        }
    }

    /// Zeros in the low bits of a NaN, which are cut off: see [`Neon::narrow_bf16`].
    #[inline(always)]
    fn factor_of_bf16(factor: f32) -> u32 {
        let bits = factor.to_bits();
        if factor.is_nan() { bits & !0xFFFF | 0x40_0000 } else { bits }
    }
}

impl Neon {
    #[inline(always)]
    fn times_f32(self, lanes: V, factor: V) -> V {
        // SAFETY: see above.
        unsafe {
            vreinterpretq_u8_f32(vmulq_f32(
                vreinterpretq_f32_u8(lanes),
                vreinterpretq_f32_u8(factor),
            ))
        }
    }

    /// The f16 in the low 64 bits.
    #[inline(always)]
    fn widen_low_f16(self, halves: V) -> V {
        let wide;
        // SAFETY: `self` proves NEON; the instruction reads and writes nothing except the registers
        // named; it may raise flags in FPSR, so `preserves_flags` is not claimed.
        unsafe {
            asm!(
                "fcvtl {0:v}.4s, {1:v}.4h",
                out(vreg) wide,
                in(vreg) halves,
                options(pure, nomem, nostack),
            );
        }
        wide
    }

    /// The f16 in the high 64 bits.
    #[inline(always)]
    fn widen_high_f16(self, halves: V) -> V {
        let wide;
        // SAFETY: as in `widen_low_f16`.
        unsafe {
            asm!(
                "fcvtl2 {0:v}.4s, {1:v}.8h",
                out(vreg) wide,
                in(vreg) halves,
                options(pure, nomem, nostack),
            );
        }
        wide
    }

    /// Rounds in the mode of the thread, which is to nearest.
    #[inline(always)]
    fn narrow_f16(self, low: V, high: V) -> V {
        let halves;
        // SAFETY: as in `widen_low_f16`. The first result is written when `high` is still to be
        // read, hence `out`, not `lateout`.
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

    /// The upper halves of rounded numbers. Rounding adds 0x7FFF and the last bit of the upper
    /// half. A NaN has a lower half of zeros here, so nothing carries and the NaN does not change.
    /// (A NaN element was widened from bf16; for the factor see [`Products::factor_of_bf16`].)
    #[inline(always)]
    fn narrow_bf16(self, low: V, high: V) -> V {
        // SAFETY: see above.
        unsafe {
            let (low, high) = (vreinterpretq_u32_u8(low), vreinterpretq_u32_u8(high));
            let low = vsraq_n_u32::<31>(low, vshlq_n_u32::<15>(low));
            let high = vsraq_n_u32::<31>(high, vshlq_n_u32::<15>(high));
            let half = vdupq_n_u32(0x7FFF);
            vreinterpretq_u8_u16(vaddhn_high_u32(vaddhn_u32(low, half), high, half))
        }
    }
}
