//! Multiplies a register of elements. f16 is converted by instructions of the base architecture,
//! for which Rust 1.89 has no intrinsics.

use core::arch::aarch64::*;
use core::arch::asm;

use super::{Neon, V, of_u16s, u16s, u32s};
use crate::isa::lanes::Products;
use crate::soft_float::format;

impl Products for Neon {
    #[inline(always)]
    fn times<const F: usize>(self, lanes: V, factor: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe {
            match F {
                format::F64 => {
                    let product =
                        vmulq_f64(vreinterpretq_f64_u8(lanes), vreinterpretq_f64_u8(factor));
                    vreinterpretq_u8_f64(product)
                }
                format::F32 => times_f32(lanes, factor),
                format::F16 => {
                    let [low, high] = self.widen_f16(lanes);
                    self.narrow_f16(times_f32(low, factor), times_f32(high, factor))
                }
                _ => {
                    let (halves, zero) = (u16s(lanes), vdupq_n_u16(0));
                    let low = of_u16s(vzip1q_u16(zero, halves));
                    let high = of_u16s(vzip2q_u16(zero, halves));
                    narrow_bf16(times_f32(low, factor), times_f32(high, factor))
                }
            }
        }
    }

    /// Zeros in the low bits of a NaN, which are cut off: see [`narrow_bf16`].
    #[inline(always)]
    fn factor_of_bf16(factor: f32) -> u32 {
        let bits = factor.to_bits();
        if factor.is_nan() { bits & !0xFFFF | 0x40_0000 } else { bits }
    }
}

impl Neon {
    /// The f16 in the low and in the high 64 bits.
    #[inline(always)]
    fn widen_f16(self, halves: V) -> [V; 2] {
        let (low, high);
        // SAFETY: `self` proves NEON. The instructions read and write only the registers named.
        // They may raise flags in FPSR, so `preserves_flags` is not claimed. The first result is
        // written when `halves` is still to be read, hence `out`, not `lateout`.
        unsafe {
            asm!(
                "fcvtl {0:v}.4s, {2:v}.4h",
                "fcvtl2 {1:v}.4s, {2:v}.8h",
                out(vreg) low, lateout(vreg) high, in(vreg) halves,
                options(pure, nomem, nostack),
            );
        }
        [low, high]
    }

    /// Rounds in the mode of the thread, which is to nearest.
    #[inline(always)]
    fn narrow_f16(self, low: V, high: V) -> V {
        let halves;
        // SAFETY: `self` proves NEON. The instructions read and write only the registers named.
        // They may raise flags in FPSR. The first result is written when `high` is still to be
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
}

#[inline]
#[target_feature(enable = "neon")]
fn times_f32(lanes: V, factor: V) -> V {
    vreinterpretq_u8_f32(vmulq_f32(vreinterpretq_f32_u8(lanes), vreinterpretq_f32_u8(factor)))
}

/// The upper halves of rounded numbers. Rounding adds 0x7FFF and the last bit of the upper half. A
/// NaN has a lower half of zeros here, so nothing carries and the NaN does not change. (A NaN
/// element was widened from bf16; for the factor see [`Products::factor_of_bf16`].)
#[inline]
#[target_feature(enable = "neon")]
fn narrow_bf16(low: V, high: V) -> V {
    let (low, high) = (u32s(low), u32s(high));
    let low = vsraq_n_u32::<31>(low, vshlq_n_u32::<15>(low));
    let high = vsraq_n_u32::<31>(high, vshlq_n_u32::<15>(high));
    let half = vdupq_n_u32(0x7FFF);
    of_u16s(vaddhn_high_u32(vaddhn_u32(low, half), high, half))
}
