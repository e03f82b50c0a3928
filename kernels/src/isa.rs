//! What an instruction set must offer. `drive.rs` builds every sink from it.

use core::mem::MaybeUninit;

use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Op, Pair, Test, screens};
use crate::stream::Stream;

/// A token that proves that the CPU can run the instructions behind it.
pub(crate) trait Isa: Stream {
    /// Runs a kernel where the compiler may use those instructions. Without a token, so that loops of all instruction sets
    /// are functions of one type.
    ///
    /// # Safety
    /// The CPU must have the instructions that a token of this type proves.
    unsafe fn vectorize<K: Kernel<Self>>(x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output;

    /// As `vectorize`, by a token.
    #[inline(always)]
    fn run<K: Kernel<Self>>(self, x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output {
        // SAFETY: `self` is a token.
        unsafe { Self::vectorize::<K>(x, test, out) }
    }
}

/// A loop to be compiled for one instruction set. The arguments fit into registers.
pub(crate) trait Kernel<I> {
    type Out<'o>;
    type Output;
    /// Must be `#[inline(always)]`, as must be everything it calls.
    fn run(isa: I, x: &[u8], test: &Test, out: Self::Out<'_>) -> Self::Output;
}

/// 64 results in memory. Whoever writes them writes all of them.
pub(crate) type MaskBlock = [MaybeUninit<bool>; BLOCK];

/// Bytes of input that one `Blocks::Counts` may count: 256 registers of 16 bytes on two counters.
pub(crate) const RUN: usize = 4096;

/// The operations on blocks of 64 lanes. `NEGATE` asks where the comparison does not hold.
pub(crate) trait Blocks<L: Lane>: Isa {
    /// Whether packed bits gain from a look for hits first.
    const SCREENS_BITS: bool;

    /// Whether masks gain from it too. `Ones` is compared as fast as it is screened, and so are narrow lanes.
    #[inline(always)]
    fn screens_masks<O: Op, const NEGATE: bool>() -> bool {
        screens::<O, NEGATE>() && size_of::<L>() > 1
    }

    /// Mask and bound as the comparisons want them.
    type Constants: Copy;

    /// What `fold` gathers.
    type Seen: Copy;

    /// Hits, counted lane by lane.
    type Counts: Copy;

    /// To be called once, outside the loop.
    fn constants(self, pair: Pair<L>) -> Self::Constants;

    /// Writes 64 results.
    fn store<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Self::Constants, out: &mut MaskBlock);

    /// 64 results, bit `i` for element `i`.
    fn bits<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Self::Constants) -> u64;

    /// Nothing seen yet.
    fn unseen<O: Op, const NEGATE: bool>(self) -> Self::Seen;

    /// Notes whether the block holds a hit: less work than `bits`.
    fn fold<O: Op, const NEGATE: bool>(
        self,
        seen: Self::Seen,
        block: &Block<L>,
        with: Self::Constants,
    ) -> Self::Seen;

    /// Whether a hit was among the blocks folded in.
    fn hit<O: Op, const NEGATE: bool>(self, seen: Self::Seen, with: Self::Constants) -> bool;

    /// Whether all elements of some blocks are hits, told from the bits that all of them have. `O` must hold for every element
    /// that has more bits than one it holds for: `Ones` does, and `Greater` with a mask that leaves the sign out (it has a
    /// screen then); `Equal` does not. Never true if one is no hit, and not always if all are.
    fn all_hit<O: Op>(self, blocks: &[Block<L>], with: Self::Constants) -> bool;

    /// Nothing counted yet.
    fn uncounted(self) -> Self::Counts;

    /// Adds the hits of a block. The counter of a lane may be a byte: it must not be used for more than [`RUN`] bytes.
    fn count<O: Op>(self, counts: Self::Counts, block: &Block<L>, with: Self::Constants) -> Self::Counts;

    /// The sum of all counters.
    fn total(self, counts: Self::Counts) -> usize;
}
