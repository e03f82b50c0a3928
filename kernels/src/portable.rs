//! The portable path: plain loops over blocks, for the compiler to vectorise. It serves where no hand-written file
//! exists, wasm among them. With the feature `portable` it stands beside the others, on x86 with AVX2 by pulp.

mod replace;
mod scale;

use crate::isa::{Blocks, Isa, Kernel, MaskBlock};
use crate::lane::{Block, Lane};
use crate::rule::{Op, Pair, Test, holds};

/// Runs everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable(());

impl Portable {
    pub(crate) fn detect() -> Option<Self> {
        Some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn detected() -> Option<Self> {
        Self::detect()
    }
}

impl Isa for Portable {
    /// On x86 with AVX2 where the CPU has it, by what pulp detects; elsewhere with what the target has. Not inlined: every unit
    /// of code would have loops of its own.
    #[inline(never)]
    unsafe fn vectorize<K: Kernel<Self>>(x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output {
        // Not `pulp::Arch`, which has a case, and so all loops once more, for each feature of pulp that any other crate turns on.
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return pulp::Simd::vectorize(simd, Run::<K> { x, test, out });
        }
        K::run(Self(()), x, test, out)
    }
}

/// The arguments of a loop, for pulp.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
struct Run<'a, 'o, K: Kernel<Portable>> {
    x: &'a [u8],
    test: &'a Test,
    out: K::Out<'o>,
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl<K: Kernel<Portable>> pulp::WithSimd for Run<'_, '_, K> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> K::Output {
        K::run(Portable(()), self.x, self.test, self.out)
    }
}

#[inline(always)]
fn hit<L: Lane, O: Op, const NEGATE: bool>(raw: L::Raw, pair: Pair<L>) -> bool {
    holds(O::OP, pair, L::read(raw)) != NEGATE
}

impl<L: Lane> Blocks<L> for Portable {
    const SCREENS_BITS: bool = false;

    type Constants = Pair<L>;
    type Seen = bool;
    type Counts = usize;

    #[inline(always)]
    fn constants(self, pair: Pair<L>) -> Pair<L> {
        pair
    }

    #[inline(always)]
    fn store<O: Op, const NEGATE: bool>(self, block: &Block<L>, pair: Pair<L>, out: &mut MaskBlock) {
        for (out, &raw) in out.iter_mut().zip(block) {
            out.write(hit::<L, O, NEGATE>(raw, pair));
        }
    }

    #[inline(always)]
    fn bits<O: Op, const NEGATE: bool>(self, block: &Block<L>, pair: Pair<L>) -> u64 {
        let mut bytes = [0; 64];
        for (byte, &raw) in bytes.iter_mut().zip(block) {
            *byte = u8::from(hit::<L, O, NEGATE>(raw, pair));
        }
        // The product has bit 0 of byte `i` at bit `56 + i`, and no two of its terms meet there.
        let mut packed = [0; 8];
        for (out, eight) in packed.iter_mut().zip(bytes.as_chunks().0) {
            *out = (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
        }
        u64::from_le_bytes(packed)
    }

    #[inline(always)]
    fn unseen<O: Op, const NEGATE: bool>(self) -> bool {
        false
    }

    #[inline(always)]
    fn fold<O: Op, const NEGATE: bool>(self, seen: bool, block: &Block<L>, pair: Pair<L>) -> bool {
        block.iter().fold(seen, |seen, &raw| seen | hit::<L, O, NEGATE>(raw, pair))
    }

    #[inline(always)]
    fn hit<O: Op, const NEGATE: bool>(self, seen: bool, _: Pair<L>) -> bool {
        seen
    }

    #[inline(always)]
    fn all_hit<O: Op>(self, blocks: &[Block<L>], pair: Pair<L>) -> bool {
        let common = blocks.as_flattened().iter().fold(pair.mask, |common, &raw| common.and(L::read(raw)));
        holds(O::OP, pair, common)
    }

    #[inline(always)]
    fn uncounted(self) -> usize {
        0
    }

    #[inline(always)]
    fn count<O: Op>(self, counts: usize, block: &Block<L>, pair: Pair<L>) -> usize {
        let hits = block.iter().fold(0u8, |hits, &raw| hits + u8::from(hit::<L, O, false>(raw, pair)));
        counts + usize::from(hits)
    }

    #[inline(always)]
    fn total(self, counts: usize) -> usize {
        counts
    }
}
