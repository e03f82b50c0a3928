//! Selecting lanes anew, and copying.

use core::arch::aarch64::*;

use super::{Constants, Layout, Neon, PAIR, V};
use crate::lane::Block;
use crate::replace::{Select, Swap};
use crate::rule::{Equal, Op, Operation, Pair};

impl Neon {
    /// Writes 16 bytes at `offset`.
    #[inline(always)]
    pub(super) fn put(self, bytes: &mut [u8], offset: usize, register: V) {
        let bytes: &mut [u8; 16] = bytes[offset..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves NEON; `bytes` is 16 writable bytes, and a store of bytes asks for no alignment.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), register) }
    }

    /// The bytes of `b` where those of `verdicts` are -1, else those of `a`.
    #[inline(always)]
    fn blend(self, a: V, b: V, verdicts: V) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vbslq_u8(verdicts, b, a) }
    }

    /// The sum of all bytes, which is less than 256.
    #[inline(always)]
    fn sum(self, a: V) -> u8 {
        // SAFETY: `self` proves NEON.
        unsafe { vaddvq_u8(a) }
    }

    /// What `Blocks::fold` gathers, for whole lanes of a register.
    #[inline(always)]
    pub(super) fn look<L: Layout, O: Op>(self, seen: V, lanes: V, with: Constants) -> V {
        let masked = self.and(lanes, with.mask);
        match O::OP {
            Operation::Ones => L::max_tops(self, seen, masked),
            _ => self.or(seen, L::compare::<O>(self, masked, with)),
        }
    }
}

/// A code in every lane.
#[inline(always)]
fn splat<L: Layout>(isa: Neon, lane: L) -> Constants {
    L::constants(isa, Pair { mask: L::truncate(u64::MAX), bound: lane, one: 1 })
}

/// Each code in every lane of a register.
#[derive(Clone, Copy)]
pub(crate) struct Registers {
    special: Constants,
    nan: V,
    infinities: [(Constants, V); 2],
}

impl<L: Layout> Select<L> for Neon {
    type Swap = Registers;

    #[inline(always)]
    fn swap(self, swap: Swap<L>) -> Registers {
        let [(pos_inf, for_pos), (neg_inf, for_neg)] = swap.infinities;
        Registers {
            special: L::constants(self, swap.special),
            nan: splat(self, swap.nan).bound,
            infinities: [
                (splat(self, pos_inf), splat(self, for_pos).bound),
                (splat(self, neg_inf), splat(self, for_neg).bound),
            ],
        }
    }

    #[inline(always)]
    fn select<O: Op>(self, block: &mut Block<L>, with: Registers) -> usize {
        let bytes = L::bytes_mut(block);
        let mut found = 0;
        for at in (0..bytes.len()).step_by(16) {
            let lanes = self.load(bytes, at);
            let special = L::compare::<O>(self, self.and(lanes, with.special.mask), with.special);
            let mut value = with.nan;
            for (code, instead) in with.infinities {
                value = self.blend(value, instead, L::compare::<Equal>(self, lanes, code));
            }
            self.put(bytes, at, self.blend(lanes, value, special));
            found += usize::from(self.sum(self.and(special, with.special.one)));
        }
        found / size_of::<L>()
    }

    #[inline(always)]
    fn copy<O: Op>(
        self,
        [mut a, mut b]: [V; 2],
        block: &Block<L>,
        out: &mut Block<L>,
        with: Constants,
    ) -> [V; 2] {
        let (bytes, out) = (L::bytes(block), L::bytes_mut(out));
        for at in (0..bytes.len()).step_by(PAIR) {
            let (even, odd) = (self.load(bytes, at), self.load(bytes, at + 16));
            self.put(out, at, even);
            self.put(out, at + 16, odd);
            a = self.look::<L, O>(a, even, with);
            b = self.look::<L, O>(b, odd, with);
        }
        [a, b]
    }
}
