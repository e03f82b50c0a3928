//! NEON: registers of 16 bytes, on every AArch64 CPU.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

mod blend;
mod narrow;
mod scale;

// A register seen as lanes of another type, and back.
use core::arch::aarch64::{
    vreinterpretq_s8_u8 as i8s, vreinterpretq_s16_u8 as i16s, vreinterpretq_s32_u8 as i32s,
    vreinterpretq_s64_u8 as i64s, vreinterpretq_u8_u16 as of_u16s, vreinterpretq_u8_u32 as of_u32s,
    vreinterpretq_u8_u64 as of_u64s, vreinterpretq_u16_u8 as u16s, vreinterpretq_u32_u8 as u32s,
    vreinterpretq_u64_u8 as u64s, *,
};
use core::mem::MaybeUninit;

use crate::isa::lanes::Blend;
use crate::isa::{Isa, Register, With, op};
use crate::lines::{Block, Line, Places, places};
use crate::mask_out::spread_eight;
use crate::question::{Compiled, On};
use crate::rule::Screen;

/// Proves that the target has NEON: this module is compiled for no other target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

/// A list of backends that begins with those by hand.
pub(crate) type ByHand<Others> = (Neon, Others);

/// The registers that every CPU of the target has.
pub(crate) type Here = Neon;

// SAFETY: the target has NEON, or this module would not be compiled.
unsafe impl Compiled for Neon {
    const NAME: &'static str = "neon";
    const SKIPS_FROM: usize = 2048;

    fn detect() -> bool {
        true
    }

    unsafe fn answer<Q: On<Self>, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer {
        Q::vector::<W>(Neon(()), x, asked, out)
    }
}

type V = uint8x16_t;

impl Isa for Neon {
    type V = V;
    /// -1 in every lane that is a hit, else 0.
    type Hits = V;
    const BYTES: usize = 16;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 16] = bytes[at..].first_chunk().unwrap();
        // SAFETY: `self` proves NEON. The load takes 16 bytes at any address.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: `self` proves NEON.
        unsafe {
            match W {
                1 => vdupq_n_u8(bits as u8),
                2 => of_u16s(vdupq_n_u16(bits as u16)),
                4 => of_u32s(vdupq_n_u32(bits as u32)),
                _ => of_u64s(vdupq_n_u64(bits)),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vandq_u8(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { veorq_u8(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe {
            match W {
                1 => vceqq_u8(a, b),
                2 => of_u16s(vceqq_u16(u16s(a), u16s(b))),
                4 => of_u32s(vceqq_u32(u32s(a), u32s(b))),
                _ => of_u64s(vceqq_u64(u64s(a), u64s(b))),
            }
        }
    }

    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe {
            match W {
                1 => vcgtq_s8(i8s(a), i8s(b)),
                2 => of_u16s(vcgtq_s16(i16s(a), i16s(b))),
                4 => of_u32s(vcgtq_s32(i32s(a), i32s(b))),
                _ => of_u64s(vcgtq_s64(i64s(a), i64s(b))),
            }
        }
    }

    #[inline(always)]
    fn tilt<const W: usize>(self, masked: V, x: V, tilt: V) -> V {
        let negative = self.greater::<W>(self.splat::<1>(0), x);
        self.sub::<W>(masked, self.and(negative, tilt))
    }

    /// Subtracts -1, so `one` is not needed.
    #[inline(always)]
    fn add<const W: usize>(self, counts: V, hits: V, _: V) -> V {
        self.sub::<W>(counts, hits)
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        // SAFETY: `self` proves NEON.
        unsafe { vaddlvq_u16(vpadalq_u8(vpaddlq_u8(a), b)) as usize }
    }

    /// For elements of more than one byte, only the top 16 bits are compared. An element may be
    /// above the limit if its top is at least the top of `limit + 1`.
    #[inline(always)]
    fn screen<const W: usize>(self, Screen { mask, flip, limit }: Screen) -> [V; 3] {
        let (flip, limit) = (flip as u64, limit as u64);
        let below = (8 * W).saturating_sub(16);
        let limit = if W == 1 { limit } else { limit.wrapping_add(1) >> below };
        let lanes = |bits: u64| match W {
            1 => self.splat::<1>(bits),
            _ => self.splat::<2>(bits),
        };
        [lanes(mask >> below), lanes(flip), lanes(limit)]
    }

    #[inline(always)]
    fn may_hit<'x, const W: usize, const FLIP: bool>(
        self,
        lines: impl IntoIterator<Item = &'x Line>,
        [mask, flip, limit]: [V; 3],
    ) -> bool {
        let mut most = None;
        for line in lines {
            let here = self.greatest::<W, FLIP>(line, mask, flip);
            most = Some(match most {
                None => here,
                Some(most) => self.max::<W>(most, here),
            });
        }
        let Some(most) = most else { return false };
        let hits = match W {
            1 => self.greater::<1>(most, limit),
            // At least: not below.
            _ => self.not(self.greater::<2>(limit, most)),
        };
        self.is_any(hits)
    }

    #[inline(always)]
    fn line_bits<const W: usize, const OP: u8>(self, line: &Line, with: &With<V>) -> u64 {
        let at = |at| self.hits::<W, OP>(self.load(line, at), with);
        let ([a, b, c, d], zero) = ([at(0), at(16), at(32), at(48)], self.splat::<1>(0));
        match W {
            1 => self.signs([a, b, c, d]),
            2 => self.signs([self.narrow(a, b), self.narrow(c, d), zero, zero]),
            4 => self.signs([self.narrow_four([a, b, c, d]), zero, zero, zero]),
            _ => {
                let halves = self.narrow_four([a, b, c, d]);
                self.signs([self.narrow(halves, zero), zero, zero, zero])
            }
        }
    }

    #[inline(always)]
    fn pack<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: &With<V>,
        out: &mut [u8; 8],
    ) {
        let bytes = block.as_flattened();
        let quarter = |quarter| self.hit_bytes::<W, OP>(bytes, quarter, with);
        let word = self.signs([quarter(0), quarter(1), quarter(2), quarter(3)]);
        // A rule for ones may be the opposite of its hits.
        *out = (if OP == op::ONES { word ^ with.opposite } else { word }).to_le_bytes();
    }

    #[inline(always)]
    fn answer_group<const W: usize, const OP: u8>(
        self,
        lines: &[Line],
        with: &With<V>,
        out: &mut Places,
    ) {
        let bytes = lines.as_flattened();
        for (quarter, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let hits = self.hit_bytes::<W, OP>(bytes, quarter, with);
            let answers = if OP == op::NOT_ONES { self.not(hits) } else { hits };
            self.write(self.and(answers, with.one_byte), out);
        }
    }

    #[inline(always)]
    fn answer_line<const W: usize, const OP: u8>(
        self,
        line: &Line,
        with: &With<V>,
        out: &mut Places,
        at: usize,
    ) {
        let write = |quarter, out: &mut [MaybeUninit<bool>; 16]| {
            let hits = self.hit_bytes::<W, OP>(line, quarter, with);
            self.write(self.and(hits, with.one_byte), out);
        };
        match W {
            1 => {
                let quarters = places::<64>(out, at).as_chunks_mut().0;
                quarters.iter_mut().enumerate().for_each(|(i, out)| write(i, out));
            }
            2 => {
                let halves = places::<32>(out, at).as_chunks_mut().0;
                halves.iter_mut().enumerate().for_each(|(i, out)| write(i, out));
            }
            4 => write(0, places(out, at)),
            _ => spread_eight(self.line_bits::<8, OP>(line, with), places(out, at)),
        }
    }

    #[inline(always)]
    fn fill(self, answer: V, out: &mut [MaybeUninit<bool>; 64]) {
        for quarter in out.as_chunks_mut().0 {
            self.write(answer, quarter);
        }
    }
}

impl Register for Neon {
    const HERE: Self = Self(());

    #[inline(always)]
    fn pair(self, low: u64, high: u64) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) }
    }

    #[inline(always)]
    fn either(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vorrq_u8(a, b) }
    }

    #[inline(always)]
    fn is_any(self, hits: V) -> bool {
        // SAFETY: `self` proves NEON.
        unsafe { vmaxvq_u8(hits) != 0 }
    }

    #[inline(always)]
    fn lane_bits<const W: usize>(self, hits: V) -> u64 {
        let zero = self.splat::<1>(0);
        self.signs([self.bytes_of_lanes::<W>(hits), zero, zero, zero]) & ((1 << (16 / W)) - 1)
    }

    #[inline(always)]
    fn ones<const W: usize>(self, hits: V) -> V {
        self.and(self.bytes_of_lanes::<W>(hits), self.splat::<1>(1))
    }

    #[inline(always)]
    fn low(self, v: V) -> u64 {
        // SAFETY: `self` proves NEON.
        unsafe { vgetq_lane_u64::<0>(u64s(v)) }
    }

    #[inline(always)]
    fn write(self, ones: V, out: &mut [MaybeUninit<bool>; 16]) {
        // SAFETY: `self` proves NEON. The store takes 16 bytes at any address.
        unsafe { vst1q_u8(out.as_mut_ptr().cast(), ones) }
    }
}

impl Neon {
    /// The low byte of each lane, in the low bytes. The bytes above them repeat these.
    #[inline(always)]
    fn bytes_of_lanes<const W: usize>(self, hits: V) -> V {
        let mut bytes = hits;
        for _ in 0..W.ilog2() {
            bytes = self.narrow(bytes, bytes);
        }
        bytes
    }

    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe {
            match W {
                1 => vsubq_u8(a, b),
                2 => of_u16s(vsubq_u16(u16s(a), u16s(b))),
                4 => of_u32s(vsubq_u32(u32s(a), u32s(b))),
                _ => of_u64s(vsubq_u64(u64s(a), u64s(b))),
            }
        }
    }

    #[inline(always)]
    fn not(self, v: V) -> V {
        self.xor(v, self.splat::<1>(0xFF))
    }

    /// The higher of `a` and `b` in each lane: of bytes, or of the tops of wider elements.
    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        if W == 1 { self.sort::<1>(a, b)[1] } else { self.sort::<2>(a, b)[1] }
    }
}
