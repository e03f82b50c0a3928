//! Selecting lanes anew, and copying.

use super::Portable;
use crate::isa::Blocks;
use crate::lane::{Block, Lane};
use crate::replace::{Select, Swap};
use crate::rule::{Op, Pair};

impl<L: Lane> Select<L> for Portable {
    type Swap = Swap<L>;

    #[inline(always)]
    fn swap(self, swap: Swap<L>) -> Swap<L> {
        swap
    }

    #[inline(always)]
    fn select<O: Op>(self, block: &mut Block<L>, with: Swap<L>) -> usize {
        let mut found = 0;
        for raw in block {
            let (lane, special) = with.select(O::OP, L::read(*raw));
            *raw = lane.raw();
            found += usize::from(special);
        }
        found
    }

    #[inline(always)]
    fn copy<O: Op>(self, seen: bool, block: &Block<L>, out: &mut Block<L>, with: Pair<L>) -> bool {
        *out = *block;
        self.fold::<O, false>(seen, block, with)
    }
}
