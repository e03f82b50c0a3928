//! Selecting lanes anew, and copying.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx512, Constants, Layout, Seen, V};
use crate::lane::{Block, Lane};
use crate::replace::{Select, Swap};
use crate::rule::{Equal, Op, Operation, Pair};

impl Avx512 {
    /// Writes 64 bytes at `offset`.
    #[inline(always)]
    pub(super) fn put(self, bytes: &mut [u8], offset: usize, register: V) {
        let bytes: &mut [u8; 64] = bytes[offset..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves AVX-512 F; `bytes` is 64 writable bytes, and the store asks for no alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) }
    }

    /// Lane `i` of `b` where bit `i` of `mask` is set, else that of `a`.
    #[inline(always)]
    fn blend<L: Lane>(self, a: V, b: V, mask: u64) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match size_of::<L>() {
                1 => _mm512_mask_blend_epi8(mask, a, b),
                2 => _mm512_mask_blend_epi16(mask as u32, a, b),
                4 => _mm512_mask_blend_epi32(mask as u16, a, b),
                _ => _mm512_mask_blend_epi64(mask as u8, a, b),
            }
        }
    }

    /// What `Blocks::fold` gathers of register `i` of a block.
    #[inline(always)]
    pub(super) fn look<L: Layout, O: Op>(self, mut seen: Seen, i: usize, lanes: V, with: Constants) -> Seen {
        let masked = self.and(lanes, with.mask);
        match O::OP {
            Operation::Ones => seen.tops[i % 2] = L::max_tops(self, seen.tops[i % 2], masked),
            _ => seen.bits |= L::compare::<O, false>(self, masked, with),
        }
        seen
    }
}

/// A code in every lane.
#[inline(always)]
fn splat<L: Layout>(isa: Avx512, lane: L) -> Constants {
    L::constants(isa, Pair { mask: L::truncate(u64::MAX), bound: lane, one: 0 })
}

/// Each code in every lane of a register.
#[derive(Clone, Copy)]
pub(crate) struct Registers {
    special: Constants,
    nan: V,
    infinities: [(Constants, V); 2],
}

impl<L: Layout> Select<L> for Avx512 {
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
        for at in (0..bytes.len()).step_by(64) {
            let lanes = self.load(bytes, at);
            let special = L::compare::<O, false>(self, self.and(lanes, with.special.mask), with.special);
            let mut value = with.nan;
            for (code, instead) in with.infinities {
                value = self.blend::<L>(value, instead, L::compare::<Equal, false>(self, lanes, code));
            }
            self.put(bytes, at, self.blend::<L>(lanes, value, special));
            found += special.count_ones();
        }
        found as usize
    }

    #[inline(always)]
    fn copy<O: Op>(self, mut seen: Seen, block: &Block<L>, out: &mut Block<L>, with: Constants) -> Seen {
        let (bytes, out) = (L::bytes(block), L::bytes_mut(out));
        for i in 0..bytes.len() / 64 {
            let lanes = self.load(bytes, 64 * i);
            self.put(out, 64 * i, lanes);
            seen = self.look::<L, O>(seen, i, lanes, with);
        }
        seen
    }
}
