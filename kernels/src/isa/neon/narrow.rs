//! Narrows the lanes of each width to bytes. Unzipping takes the top or bottom halves of the lanes
//! of two registers in order, so no permutation is needed.

use core::arch::aarch64::*;
use core::arch::asm;

use super::{Neon, V, of_u16s, u16s};
use crate::isa::{Isa, Register, With, op};
use crate::lines::Line;

impl Neon {
    /// -1 or 0 for each of 16 elements of a block, in bytes.
    #[inline(always)]
    pub(super) fn hit_bytes<const W: usize, const OP: u8>(
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

    /// The even bytes of `a` and then of `b`: hits in lanes half as wide.
    #[inline(always)]
    pub(super) fn narrow(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vuzp1q_u8(a, b) }
    }

    /// The hits of four registers, in lanes a quarter as wide.
    #[inline(always)]
    pub(super) fn narrow_four(self, [a, b, c, d]: [V; 4]) -> V {
        self.narrow(self.narrow(a, b), self.narrow(c, d))
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
        let hits = |i: usize| self.hits_at::<W, OP>(bytes, 8 * W * eighth + 16 * i, with);
        match W {
            2 => hits(0),
            4 => self.narrow(hits(0), hits(1)),
            _ => self.narrow_four([hits(0), hits(1), hits(2), hits(3)]),
        }
    }

    /// The top 16 bits of each of 8 elements. For elements of one byte, all of 16 elements.
    #[inline(always)]
    fn tops<const W: usize>(self, bytes: &[u8], part: usize) -> V {
        let load = |i: usize| self.load(bytes, 8 * W.max(2) * part + 16 * i);
        match W {
            1 | 2 => load(0),
            4 => self.tops_of(load(0), load(1)),
            _ => self.tops_of(self.tops_of(load(0), load(1)), self.tops_of(load(2), load(3))),
        }
    }

    /// The odd 16-bit lanes of `a` and then of `b`: the high halves of 32-bit lanes.
    #[inline(always)]
    fn tops_of(self, a: V, b: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { of_u16s(vuzp2q_u16(u16s(a), u16s(b))) }
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
        self.low(self.pair_sums(sums, sums))
    }

    /// The sums of adjacent bytes of `a`, then of `b`. In assembly, since LLVM replaces the
    /// intrinsic with three instructions where it sees that the bytes have no bit in common.
    #[inline(always)]
    fn pair_sums(self, a: V, b: V) -> V {
        let sums;
        // SAFETY: `self` proves NEON. The instruction reads and writes only the registers named.
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
