//! Packs the lanes of each width. Unzipping takes the top or bottom halves of the lanes of two
//! registers in order, so no permutation is needed.

use core::arch::aarch64::*;
use core::arch::asm;

use super::{Neon, V};
use crate::isa::{Isa, With, op};
use crate::lines::Line;

// SAFETY of all blocks below: `self` proves NEON, which is all that the intrinsics ask for.
impl Neon {
    /// -1 or 0 for each of 16 elements of a block, in bytes.
    #[inline(always)]
    pub(super) fn packed<const W: usize, const OP: u8>(
        self,
        bytes: &[u8],
        quarter: usize,
        with: &With<V>,
    ) -> V {
        if W == 1 && (OP == op::ONES || OP == op::NOT_ONES) {
            return self.equal::<1>(self.and(self.load(bytes, 16 * quarter), with.top), with.top);
        }
        if W == 1 {
            return self.hits_at::<W, OP>(bytes, 16 * quarter, with);
        }
        let low = self.results::<W, OP>(bytes, 2 * quarter, with);
        let high = self.results::<W, OP>(bytes, 2 * quarter + 1, with);
        self.narrow(low, high)
    }

    /// The low byte of each 16-bit lane of `a` and then of `b`.
    #[inline(always)]
    pub(super) fn narrow(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { vuzp1q_u8(a, b) }
    }

    /// The hits of the 16 bytes at `at`.
    #[inline(always)]
    fn hits_at<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: &With<V>) -> V {
        self.hits::<W, OP>(self.load(bytes, at), with)
    }

    /// -1 or 0 for each of 8 elements, in lanes of 16 bits. `ONES` compares only the top 16 bits.
    #[inline(always)]
    fn results<const W: usize, const OP: u8>(
        self,
        bytes: &[u8],
        eighth: usize,
        with: &With<V>,
    ) -> V {
        if OP == op::ONES || OP == op::NOT_ONES {
            let masked = self.and(self.tops::<W>(bytes, eighth), with.top);
            return self.equal::<2>(masked, with.top);
        }
        let at = 8 * W * eighth;
        match W {
            2 => self.hits_at::<W, OP>(bytes, at, with),
            4 => {
                let (low, high) = (
                    self.hits_at::<W, OP>(bytes, at, with),
                    self.hits_at::<W, OP>(bytes, at + 16, with),
                );
                self.low_halves::<4>(low, high)
            }
            _ => {
                let [a, b, c, d] = [
                    self.hits_at::<W, OP>(bytes, at, with),
                    self.hits_at::<W, OP>(bytes, at + 16, with),
                    self.hits_at::<W, OP>(bytes, at + 32, with),
                    self.hits_at::<W, OP>(bytes, at + 48, with),
                ];
                self.low_halves::<4>(self.low_halves::<8>(a, b), self.low_halves::<8>(c, d))
            }
        }
    }

    /// The top 16 bits of each of 8 elements. For elements of one byte, all of 16 elements.
    #[inline(always)]
    fn tops<const W: usize>(self, bytes: &[u8], part: usize) -> V {
        match W {
            1 | 2 => self.load(bytes, 16 * part),
            4 => {
                let at = 32 * part;
                self.high_halves::<4>(self.load(bytes, at), self.load(bytes, at + 16))
            }
            _ => {
                let at = 64 * part;
                let low = self.high_halves::<8>(self.load(bytes, at), self.load(bytes, at + 16));
                let high =
                    self.high_halves::<8>(self.load(bytes, at + 32), self.load(bytes, at + 48));
                self.high_halves::<4>(low, high)
            }
        }
    }

    /// The low half of each lane of `a` and then of `b`.
    #[inline(always)]
    pub(super) fn low_halves<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                4 => vreinterpretq_u8_u16(vuzp1q_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                _ => vreinterpretq_u8_u32(vuzp1q_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
            }
        }
    }

    /// The high half of each lane of `a` and then of `b`.
    #[inline(always)]
    fn high_halves<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                4 => vreinterpretq_u8_u16(vuzp2q_u16(
                    vreinterpretq_u16_u8(a),
                    vreinterpretq_u16_u8(b),
                )),
                _ => vreinterpretq_u8_u32(vuzp2q_u32(
                    vreinterpretq_u32_u8(a),
                    vreinterpretq_u32_u8(b),
                )),
            }
        }
    }

    /// The greatest tops of a line in each lane, masked and, with `FLIP`, xored with `flip`.
    /// Computed as a tree, so that only one maximum waits for the lines before.
    #[inline(always)]
    pub(super) fn greatest<const W: usize, const FLIP: bool>(
        self,
        line: &Line,
        mask: V,
        flip: V,
    ) -> V {
        let tops = |part| {
            let masked = self.and(self.tops::<W>(line, part), mask);
            if FLIP { self.xor(masked, flip) } else { masked }
        };
        match W {
            1 | 2 => {
                let low = self.max::<W>(tops(0), tops(1));
                self.max::<W>(low, self.max::<W>(tops(2), tops(3)))
            }
            4 => self.max::<W>(tops(0), tops(1)),
            _ => tops(0),
        }
    }

    /// Bit `i` for byte `i`. Each byte is -1 or 0. Three rounds of additions collect the eight bits
    /// of a byte.
    #[inline(always)]
    pub(super) fn signs(self, [a, b, c, d]: [V; 4]) -> u64 {
        let weights = self.load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128], 0);
        let low = self.pair_sums(self.and(a, weights), self.and(b, weights));
        let high = self.pair_sums(self.and(c, weights), self.and(d, weights));
        let sums = self.pair_sums(low, high);
        // SAFETY: see above.
        unsafe { vgetq_lane_u64::<0>(vreinterpretq_u64_u8(self.pair_sums(sums, sums))) }
    }

    /// The sums of adjacent bytes of `a`, then of `b`. In assembly, since LLVM replaces the
    /// intrinsic with three instructions where it sees that the bytes have no bit in common.
    #[inline(always)]
    fn pair_sums(self, a: V, b: V) -> V {
        let sums;
        // SAFETY: `self` proves NEON; the instruction reads and writes nothing except the registers
        // named.
        unsafe {
            asm!(
                "addp {0:v}.16b, {1:v}.16b, {2:v}.16b",
                lateout(vreg) sums, in(vreg) a, in(vreg) b,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    }
}
