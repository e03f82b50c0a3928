//! Order of lanes.

use core::arch::aarch64::*;

use super::{Neon, V};
use crate::registers::Registers;
use crate::registers::stats::Compare;

// SAFETY of all blocks below: `self` proves NEON, which is all that the intrinsics ask for.
impl Compare for Neon {
    const WIDE: bool = false;

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { veorq_u8(a, b) }
    }

    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // The difference that counts hits: a hit is -1.
        self.add::<W>(a, b, a)
    }

    #[inline(always)]
    fn min<const W: usize>(self, a: V, b: V) -> V {
        self.choose::<W>(a, b, self.greater::<W>(a, b))
    }

    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        self.choose::<W>(b, a, self.greater::<W>(a, b))
    }

    #[inline(always)]
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vmaxq_u8(a, b),
                2 => vreinterpretq_u8_u16(vmaxq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                _ => vreinterpretq_u8_u32(vmaxq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
            }
        }
    }

    #[inline(always)]
    fn choose<const W: usize>(self, a: V, b: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe { vbslq_u8(hits, b, a) }
    }

    #[inline(always)]
    fn negate<const W: usize>(self, lanes: V, hits: V) -> V {
        self.sub::<W>(self.xor(lanes, hits), hits)
    }

    #[inline(always)]
    fn same(self, a: V, b: V) -> bool {
        // SAFETY: see above.
        unsafe { vmaxvq_u8(veorq_u8(a, b)) == 0 }
    }
}
