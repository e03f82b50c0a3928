//! Chooses between lanes, and orders them.

use core::arch::aarch64::{
    vreinterpretq_u8_s8 as of_i8s, vreinterpretq_u8_s16 as of_i16s,
    vreinterpretq_u8_s32 as of_i32s, *,
};

use super::{Neon, V, i8s, i16s, i32s, of_u16s, of_u32s, of_u64s, u16s, u32s, u64s};
use crate::isa::Isa;
use crate::isa::lanes::Blend;
#[cfg(feature = "stats")]
use crate::isa::lanes::{Extremes, powers};

impl Blend for Neon {
    #[inline(always)]
    fn store(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 16] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves NEON. The store takes 16 bytes at any address.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), v) }
    }

    /// Uses lanes as wide as an element: for lanes of bytes, LLVM would make four instructions.
    #[inline(always)]
    fn blend<const W: usize>(self, a: V, b: V, hits: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe {
            match W {
                1 => vbslq_u8(hits, b, a),
                2 => of_u16s(vbslq_u16(u16s(hits), u16s(b), u16s(a))),
                4 => of_u32s(vbslq_u32(u32s(hits), u32s(b), u32s(a))),
                _ => of_u64s(vbslq_u64(u64s(hits), u64s(b), u64s(a))),
            }
        }
    }

    #[inline(always)]
    fn sort<const W: usize>(self, a: V, b: V) -> [V; 2] {
        // SAFETY: `self` proves NEON.
        unsafe {
            match W {
                1 => {
                    let (a, b) = (i8s(a), i8s(b));
                    [of_i8s(vminq_s8(a, b)), of_i8s(vmaxq_s8(a, b))]
                }
                2 => {
                    let (a, b) = (i16s(a), i16s(b));
                    [of_i16s(vminq_s16(a, b)), of_i16s(vmaxq_s16(a, b))]
                }
                4 => {
                    let (a, b) = (i32s(a), i32s(b));
                    [of_i32s(vminq_s32(a, b)), of_i32s(vmaxq_s32(a, b))]
                }
                _ => {
                    let above = self.greater::<8>(a, b);
                    [self.blend::<8>(a, b, above), self.blend::<8>(b, a, above)]
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
            // SAFETY: `self` proves NEON.
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
        // SAFETY: `self` proves NEON.
        unsafe {
            match N {
                1 => vextq_u8::<1>(v, v),
                2 => vextq_u8::<2>(v, v),
                4 => vextq_u8::<4>(v, v),
                _ => vextq_u8::<8>(v, v),
            }
        }
    }
}
