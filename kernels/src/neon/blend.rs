//! Choosing between lanes.

use core::arch::aarch64::*;

use super::{Neon, V};
use crate::registers::Blend;

impl Blend for Neon {
    /// In lanes with the width of an element: for lanes of bytes, LLVM would make four
    /// instructions.
    #[inline(always)]
    fn blend<const W: usize>(self, a: V, b: V, hits: V) -> V {
        // SAFETY: `self` proves NEON.
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
