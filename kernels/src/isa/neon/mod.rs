//! NEON: registers of 16 bytes, on every AArch64 CPU.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

mod blend;
mod pack;
mod scale;

use core::arch::aarch64::*;
use core::mem::MaybeUninit;

use crate::isa::{Isa, Register, With, op};
use crate::lines::{Block, Line, Places, places};
use crate::mask_out::spread_eight;
use crate::question::{Compiled, On};
use crate::rule::Screen;

/// Proves that the target has NEON: this module is compiled for no other target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

/// Before the backends of all targets in the list of backends.
pub(crate) type ByHand<Others> = (Neon, Others);

/// The registers that every CPU of the target has.
pub(crate) type Here = Neon;

impl Compiled for Neon {
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

// SAFETY of all blocks below, unless they say more: `self` proves NEON, which is all that the
// intrinsics ask for. Loads and stores ask for no alignment; each reads or writes one array, as
// long as a register.
impl Isa for Neon {
    type V = V;
    /// -1 in every lane that is a hit, else 0.
    type Hits = V;
    const BYTES: usize = 16;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 16] = bytes[at..].first_chunk().unwrap();
        // SAFETY: see above.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vdupq_n_u8(bits as u8),
                2 => vreinterpretq_u8_u16(vdupq_n_u16(bits as u16)),
                4 => vreinterpretq_u8_u32(vdupq_n_u32(bits as u32)),
                _ => vreinterpretq_u8_u64(vdupq_n_u64(bits)),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { vandq_u8(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { veorq_u8(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vceqq_u8(a, b),
                2 => vreinterpretq_u8_u16(vceqq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vceqq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
                _ => vreinterpretq_u8_u64(vceqq_u64(
                    vreinterpretq_u64_u8(a),
                    vreinterpretq_u64_u8(b),
                )),
            }
        }
    }

    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vcgtq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)),
                2 => vreinterpretq_u8_u16(vcgtq_s16(
                    vreinterpretq_s16_u8(a),
                    vreinterpretq_s16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vcgtq_s32(
                    vreinterpretq_s32_u8(a),
                    vreinterpretq_s32_u8(b),
                )),
                _ => vreinterpretq_u8_u64(vcgtq_s64(
                    vreinterpretq_s64_u8(a),
                    vreinterpretq_s64_u8(b),
                )),
            }
        }
    }

    #[inline(always)]
    fn tilt<const W: usize>(self, masked: V, x: V, tilt: V) -> V {
        let negative = self.greater::<W>(self.splat::<1>(0), x);
        self.sub::<W>(masked, self.and(negative, tilt))
    }

    const COUNTERS_FROM: usize = 512;

    /// Subtracts -1, so `one` is not needed.
    #[inline(always)]
    fn add<const W: usize>(self, counts: V, hits: V, _: V) -> V {
        self.sub::<W>(counts, hits)
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        // SAFETY: see above.
        unsafe { vaddlvq_u16(vpadalq_u8(vpaddlq_u8(a), b)) as usize }
    }

    const GROUPS: bool = true;

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
        self.any(hits)
    }

    #[inline(always)]
    fn line_bits<const W: usize, const OP: u8>(self, line: &Line, with: &With<V>) -> u64 {
        let at = |at| self.hits::<W, OP>(self.load(line, at), with);
        let hits = [at(0), at(16), at(32), at(48)];
        let zero = self.splat::<1>(0);
        match W {
            1 => self.signs(hits),
            2 => {
                let [a, b, c, d] = hits;
                self.signs([self.narrow(a, b), self.narrow(c, d), zero, zero])
            }
            4 => {
                let [a, b, c, d] = hits;
                let (low, high) = (self.low_halves::<4>(a, b), self.low_halves::<4>(c, d));
                self.signs([self.narrow(low, high), zero, zero, zero])
            }
            _ => {
                let [a, b, c, d] = hits;
                let (low, high) = (self.low_halves::<8>(a, b), self.low_halves::<8>(c, d));
                let halves = self.low_halves::<4>(low, high);
                self.signs([self.narrow(halves, zero), zero, zero, zero])
            }
        }
    }

    const BITS_BY_LINES: usize = 0;
    const ALIKE: bool = false;

    #[inline(always)]
    fn pack<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: &With<V>,
        out: &mut [u8; 8],
    ) {
        let bytes = block.as_flattened();
        let quarter = |quarter| self.packed::<W, OP>(bytes, quarter, with);
        let mut word = self.signs([quarter(0), quarter(1), quarter(2), quarter(3)]);
        if OP == op::ONES {
            // All ones for the opposite of a rule for ones.
            // SAFETY: see above.
            word ^= unsafe { vgetq_lane_u64::<0>(vreinterpretq_u64_u8(with.opposite)) };
        }
        *out = word.to_le_bytes();
    }

    const MASKS_ALIKE: bool = false;
    const GROUP_OF_8: usize = 4;

    #[inline(always)]
    fn answer_group<const W: usize, const OP: u8>(
        self,
        lines: &[Line],
        with: &With<V>,
        out: &mut Places,
    ) {
        let bytes = lines.as_flattened();
        for (quarter, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let hits = self.packed::<W, OP>(bytes, quarter, with);
            self.write(if OP == op::NOT_ONES { self.not(hits) } else { hits }, with, out);
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
        match W {
            1 => {
                let out = places::<64>(out, at);
                for (quarter, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                    self.write(self.packed::<W, OP>(line, quarter, with), with, out);
                }
            }
            2 => {
                let out = places::<32>(out, at);
                for (quarter, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                    self.write(self.packed::<W, OP>(line, quarter, with), with, out);
                }
            }
            4 => self.write(self.packed::<W, OP>(line, 0, with), with, places(out, at)),
            _ => spread_eight(self.line_bits::<8, OP>(line, with), places(out, at)),
        }
    }

    #[inline(always)]
    fn fill(self, answer: V, out: &mut [MaybeUninit<bool>; 64]) {
        for out in out.as_chunks_mut::<16>().0 {
            // SAFETY: see above; `out` has 16 bytes.
            unsafe { vst1q_u8(out.as_mut_ptr().cast(), answer) }
        }
    }
}

impl Register for Neon {
    const HERE: Self = Self(());

    #[inline(always)]
    fn pair(self, low: u64, high: u64) -> V {
        // SAFETY: see above.
        unsafe { vcombine_u8(vcreate_u8(low), vcreate_u8(high)) }
    }

    #[inline(always)]
    fn either(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { vorrq_u8(a, b) }
    }

    #[inline(always)]
    fn within(self, hits: V, lanes: V) -> V {
        self.and(hits, lanes)
    }

    #[inline(always)]
    fn is_any(self, hits: V) -> bool {
        self.any(hits)
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
        // SAFETY: see above.
        unsafe { vgetq_lane_u64::<0>(vreinterpretq_u64_u8(v)) }
    }

    #[inline(always)]
    fn write(self, ones: V, out: &mut [MaybeUninit<bool>; 16]) {
        // SAFETY: see above; `out` has 16 bytes.
        unsafe { vst1q_u8(out.as_mut_ptr().cast(), ones) }
    }
}

impl Neon {
    /// The low byte of each lane, in the low bytes. The bytes above them repeat these.
    #[inline(always)]
    fn bytes_of_lanes<const W: usize>(self, hits: V) -> V {
        match W {
            1 => hits,
            2 => self.narrow(hits, hits),
            4 => self.bytes_of_lanes::<2>(self.low_halves::<4>(hits, hits)),
            _ => self.bytes_of_lanes::<4>(self.low_halves::<8>(hits, hits)),
        }
    }

    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vsubq_u8(a, b),
                2 => vreinterpretq_u8_u16(vsubq_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                4 => vreinterpretq_u8_u32(vsubq_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
                _ => vreinterpretq_u8_u64(vsubq_u64(
                    vreinterpretq_u64_u8(a),
                    vreinterpretq_u64_u8(b),
                )),
            }
        }
    }

    #[inline(always)]
    fn not(self, v: V) -> V {
        // SAFETY: see above.
        unsafe { vmvnq_u8(v) }
    }

    /// Whether any byte is not zero.
    #[inline(always)]
    fn any(self, v: V) -> bool {
        // SAFETY: see above.
        unsafe { vmaxvq_u8(v) != 0 }
    }

    /// The larger of `a` and `b` in each lane: of bytes, or of the tops of wider elements.
    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b))),
                _ => vreinterpretq_u8_s16(vmaxq_s16(
                    vreinterpretq_s16_u8(a),
                    vreinterpretq_s16_u8(b),
                )),
            }
        }
    }

    /// Writes 1 or 0 for bytes of -1 or 0.
    #[inline(always)]
    fn write(self, answers: V, with: &With<V>, out: &mut [MaybeUninit<bool>; 16]) {
        // SAFETY: see above; `out` has 16 bytes.
        unsafe { vst1q_u8(out.as_mut_ptr().cast(), self.and(answers, with.one_byte)) }
    }
}
