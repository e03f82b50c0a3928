//! Multiplying a register of elements. f16 is converted by instructions of the base architecture, for which
//! Rust 1.89 has no intrinsics.

use core::arch::aarch64::*;
use core::arch::asm;

use super::{Neon, V};
use crate::scale::format;

// SAFETY of all blocks below, unless they say more: `self` proves NEON, which is all that the intrinsics ask for.
impl Neon {
    #[inline(always)]
    pub(super) fn times<const F: u8>(self, lanes: V, factor: V) -> V {
        // SAFETY: see above.
        unsafe {
            match F {
                format::F64 => {
                    let product = vmulq_f64(vreinterpretq_f64_u8(lanes), vreinterpretq_f64_u8(factor));
                    vreinterpretq_u8_f64(product)
                }
                format::F32 => self.times_f32(lanes, factor),
                format::F16 => {
                    let low = self.times_f32(self.widen_low_f16(lanes), factor);
                    let high = self.times_f32(self.widen_high_f16(lanes), factor);
                    self.narrow_f16(low, high)
                }
                _ => {
                    let low = vmovl_u16(vget_low_u16(vreinterpretq_u16_u8(lanes)));
                    let high = vmovl_high_u16(vreinterpretq_u16_u8(lanes));
                    let low = self.times_f32(vreinterpretq_u8_u32(vshlq_n_u32::<16>(low)), factor);
                    let high = self.times_f32(vreinterpretq_u8_u32(vshlq_n_u32::<16>(high)), factor);
                    self.high_halves::<4>(self.round_bf16(low), self.round_bf16(high))
                }
            }
        }
    }

    #[inline(always)]
    fn times_f32(self, lanes: V, factor: V) -> V {
        // SAFETY: see above.
        unsafe { vreinterpretq_u8_f32(vmulq_f32(vreinterpretq_f32_u8(lanes), vreinterpretq_f32_u8(factor))) }
    }

    /// The f16 in the low 64 bits.
    #[inline(always)]
    fn widen_low_f16(self, halves: V) -> V {
        let wide;
        // SAFETY: `self` proves NEON; the instruction reads and writes nothing except the registers named; it may
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
        // SAFETY: as in `widen_low_f16`. The first result is written when `high` is still to be read, hence `out`,
        // not `lateout`.
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

    /// f32 to bf16 in the upper halves; what is in the lower ones is to be left out. A NaN stays, as it is quiet
    /// already.
    #[inline(always)]
    fn round_bf16(self, wide: V) -> V {
        let magnitude = self.and(wide, self.splat::<4>(0x7FFF_FFFF));
        let nan = self.greater::<4>(magnitude, self.splat::<4>(0x7F80_0000));
        // SAFETY: see above.
        unsafe {
            let (nan, bits) = (vreinterpretq_u32_u8(nan), vreinterpretq_u32_u8(wide));
            let last = vandq_u32(vshrq_n_u32::<16>(bits), vdupq_n_u32(1));
            let up = vaddq_u32(last, vdupq_n_u32(0x7FFF));
            vreinterpretq_u8_u32(vaddq_u32(bits, vbicq_u32(up, nan)))
        }
    }
}
