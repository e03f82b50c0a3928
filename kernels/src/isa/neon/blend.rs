//! Chooses between lanes, and orders them.

use core::arch::aarch64::*;

use super::{Neon, V};
#[cfg(feature = "stats")]
use crate::isa::Isa;
use crate::isa::lanes::Blend;
#[cfg(feature = "stats")]
use crate::isa::lanes::{Extremes, powers};

// SAFETY of all blocks below: `self` proves NEON, which is all that the intrinsics ask for.
impl Blend for Neon {
    #[inline(always)]
    fn store(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 16] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: see above; `bytes` are as long as a register.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), v) }
    }

    /// Uses lanes as wide as an element: for lanes of bytes, LLVM would make four instructions.
    #[inline(always)]
    fn blend<const W: usize>(self, a: V, b: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vbslq_u8(hits, b, a),
                2 => {
                    let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                    vreinterpretq_u8_u16(vbslq_u16(vreinterpretq_u16_u8(hits), b, a))
                }
                4 => {
                    let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                    vreinterpretq_u8_u32(vbslq_u32(vreinterpretq_u32_u8(hits), b, a))
                }
                _ => {
                    let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                    vreinterpretq_u8_u64(vbslq_u64(vreinterpretq_u64_u8(hits), b, a))
                }
            }
        }
    }
}

#[cfg(feature = "stats")]
impl Extremes for Neon {
    #[inline(always)]
    fn lanes_of<const W: usize>(self, bits: u64) -> V {
        let powers = self.load(const { &powers::<W, 16>() }, 0);
        let lanes = match W {
            // SAFETY: see above.
            1 => unsafe { vcombine_u8(vdup_n_u8(bits as u8), vdup_n_u8((bits >> 8) as u8)) },
            _ => self.splat::<W>(bits),
        };
        self.equal::<W>(self.and(lanes, powers), powers)
    }

    #[inline(always)]
    fn signed<const W: usize>(self, x: V, m: V) -> V {
        let minus = self.greater::<W>(self.splat::<8>(0), x);
        self.sub::<W>(self.xor(m, minus), minus)
    }

    #[inline(always)]
    fn moved<const N: usize>(self, v: V) -> V {
        // SAFETY: see above.
        unsafe {
            match N {
                1 => vextq_u8::<1>(v, v),
                2 => vextq_u8::<2>(v, v),
                4 => vextq_u8::<4>(v, v),
                _ => vextq_u8::<8>(v, v),
            }
        }
    }

    #[inline(always)]
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b))),
                2 => vreinterpretq_u8_s16(vmaxq_s16(
                    vreinterpretq_s16_u8(a),
                    vreinterpretq_s16_u8(b),
                )),
                4 => vreinterpretq_u8_s32(vmaxq_s32(
                    vreinterpretq_s32_u8(a),
                    vreinterpretq_s32_u8(b),
                )),
                _ => self.blend::<8>(a, b, self.greater::<8>(b, a)),
            }
        }
    }

    #[inline(always)]
    fn lower<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vreinterpretq_u8_s8(vminq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b))),
                2 => vreinterpretq_u8_s16(vminq_s16(
                    vreinterpretq_s16_u8(a),
                    vreinterpretq_s16_u8(b),
                )),
                4 => vreinterpretq_u8_s32(vminq_s32(
                    vreinterpretq_s32_u8(a),
                    vreinterpretq_s32_u8(b),
                )),
                _ => self.blend::<8>(a, b, self.greater::<8>(a, b)),
            }
        }
    }
}
