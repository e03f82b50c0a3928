//! Order of lanes.

use core::arch::aarch64::*;

use super::{Neon, V};
use crate::registers::Registers;
use crate::registers::stats::{Compare, Order, powers};
use crate::simd::op;

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
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vmaxq_u8(a, b),
                2 => vreinterpretq_u8_u16(vmaxq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vmaxq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
                _ => {
                    let other = vcgtq_u64(vreinterpretq_u64_u8(b), vreinterpretq_u64_u8(a));
                    vbslq_u8(vreinterpretq_u8_u64(other), b, a)
                }
            }
        }
    }

    #[inline(always)]
    fn higher_signed<const W: usize>(self, a: V, b: V) -> V {
        let hits = self.greater::<W>(a, b);
        // SAFETY: see above.
        unsafe { vbslq_u8(hits, a, b) }
    }

    #[inline(always)]
    fn lower<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vminq_u8(a, b),
                2 => vreinterpretq_u8_u16(vminq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vminq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
                _ => {
                    let other = vcgtq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                    vbslq_u8(vreinterpretq_u8_u64(other), b, a)
                }
            }
        }
    }

    #[inline(always)]
    fn all<const W: usize>(self) -> V {
        self.splat::<8>(u64::MAX)
    }

    #[inline(always)]
    fn both(self, a: V, b: V) -> V {
        self.and(a, b)
    }

    #[inline(always)]
    fn is_all<const W: usize>(self, hits: V) -> bool {
        self.same(hits, self.all::<W>())
    }

    #[inline(always)]
    fn still_some<const W: usize>(self, hits: V, lanes: V, mask: V) -> V {
        let none = self.equal::<W>(self.and(lanes, mask), self.splat::<8>(0));
        // SAFETY: see above.
        unsafe { vbicq_u8(hits, none) }
    }

    #[inline(always)]
    fn lowest<const W: usize>(self, low: V, rank: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe {
            let rank_or_ones = vorrq_u8(rank, hits);
            match W {
                8 => vbslq_u8(vbicq_u8(self.greater::<8>(low, rank), hits), rank, low),
                _ => self.lower::<W>(low, rank_or_ones),
            }
        }
    }

    #[inline(always)]
    fn highest<const W: usize>(self, high: V, rank: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                8 => vbslq_u8(vbicq_u8(self.greater::<8>(rank, high), hits), rank, high),
                _ => self.higher::<W>(high, vbicq_u8(rank, hits)),
            }
        }
    }

    #[inline(always)]
    fn rank<const W: usize>(self, lanes: V, magnitude: V, order: Order<V>) -> V {
        let minus = self.compare::<W, { op::EQUAL }>(lanes, order.sign, order.negative);
        self.sub::<W>(self.xor(self.xor(magnitude, order.flip), minus), minus)
    }

    #[inline(always)]
    fn same(self, a: V, b: V) -> bool {
        // SAFETY: see above.
        unsafe { vmaxvq_u8(veorq_u8(a, b)) == 0 }
    }

    #[inline(always)]
    fn hits<const W: usize>(self, bits: u64) -> V {
        let powers = self.load(const { &powers::<W, 16>() }, 0);
        let lanes = match W {
            // SAFETY: see above.
            1 => unsafe { vcombine_u8(vdup_n_u8(bits as u8), vdup_n_u8((bits >> 8) as u8)) },
            _ => self.splat::<W>(bits),
        };
        self.equal::<W>(self.and(lanes, powers), powers)
    }
}
