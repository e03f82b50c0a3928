//! NEON: 16 bytes a register, on every AArch64 CPU.
//!
//! Unzipping takes the top or bottom halves of the lanes of two registers in order, so nothing has to be sorted.

mod replace;
mod scale;

use core::arch::aarch64::*;

use crate::isa::{Blocks, Isa, Kernel, MaskBlock};
use crate::lane::{Block, Lane};
use crate::rule::{Op, Operation, Pair, Test};

mod layout;

/// Proves that the target has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    pub(crate) fn detect() -> Option<Self> {
        cfg!(target_feature = "neon").then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn detected() -> Option<Self> {
        Self::detect()
    }
}

impl Isa for Neon {
    /// The target has NEON, or there is no token. Not inlined, so that mask and bound stay run-time values: known constants
    /// make LLVM invert each comparison.
    #[target_feature(enable = "neon")]
    #[inline(never)]
    unsafe fn vectorize<K: Kernel<Self>>(x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output {
        K::run(Self(()), x, test, out)
    }
}

type V = uint8x16_t;

/// Names intrinsics without memory operands as methods of the token. Registers are `uint8x16_t`; casts are free.
macro_rules! operations {
    ($($name:ident = |$($a:ident),*| $e:expr;)*) => {
        impl Neon { $(
            #[inline(always)]
            fn $name(self, $($a: V),*) -> V {
                // SAFETY: `self` proves NEON, which is all that these intrinsics ask for.
                unsafe { $e }
            }
        )* }
    };
}
operations! {
    and = |a, b| vandq_u8(a, b);
    or = |a, b| vorrq_u8(a, b);
    // `b` without the bits of `a`.
    not_and = |a, b| vbicq_u8(b, a);
    add_i8 = |a, b| vaddq_u8(a, b);
    subtract_i8 = |a, b| vsubq_u8(a, b);
    subtract_i16 = |a, b| vreinterpretq_u8_u16(vsubq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    subtract_i32 = |a, b| vreinterpretq_u8_u32(vsubq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    subtract_i64 = |a, b| vreinterpretq_u8_u64(vsubq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
    min_i8 = |a, b| vreinterpretq_u8_s8(vminq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
    max_u8 = |a, b| vmaxq_u8(a, b);
    max_u16 = |a, b| vreinterpretq_u8_u16(vmaxq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    equal_i8 = |a, b| vceqq_u8(a, b);
    equal_i16 = |a, b| vreinterpretq_u8_u16(vceqq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    equal_i32 = |a, b| vreinterpretq_u8_u32(vceqq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    equal_i64 = |a, b| vreinterpretq_u8_u64(vceqq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
    greater_i8 = |a, b| vcgtq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b));
    greater_i16 = |a, b| vreinterpretq_u8_u16(vcgtq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)));
    greater_i32 = |a, b| vreinterpretq_u8_u32(vcgtq_s32(vreinterpretq_s32_u8(a), vreinterpretq_s32_u8(b)));
    greater_i64 = |a, b| vreinterpretq_u8_u64(vcgtq_s64(vreinterpretq_s64_u8(a), vreinterpretq_s64_u8(b)));
    // The low, or the high, half of each lane of `a` and then of `b`.
    low_u16 = |a, b| vuzp1q_u8(a, b);
    low_u32 = |a, b| vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    low_u64 = |a, b| vreinterpretq_u8_u32(vuzp1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    high_u32 = |a, b| vreinterpretq_u8_u16(vuzp2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    high_u64 = |a, b| vreinterpretq_u8_u32(vuzp2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    // Sums of neighbours of `a` and then of `b`.
    pair_sums = |a, b| vpaddq_u8(a, b);
}

impl Neon {
    /// The 16 bytes at `offset`.
    #[inline(always)]
    fn load(self, bytes: &[u8], offset: usize) -> V {
        let bytes: &[u8; 16] = bytes[offset..].first_chunk().unwrap();
        // SAFETY: `self` proves NEON; `bytes` is 16 readable bytes, and a load of bytes asks for no alignment.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    /// Writes 16 results, given as bytes of 0 or 1.
    #[inline(always)]
    fn write(self, results: V, out: &mut MaskBlock, offset: usize) {
        let out: &mut [_; 16] = out[offset..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves NEON; `out` is 16 writable bytes, and a store of bytes asks for no alignment.
        unsafe { vst1q_u8(out.as_mut_ptr().cast(), results) }
    }

    #[inline(always)]
    fn splat_i8(self, a: i8) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u8_s8(vdupq_n_s8(a)) }
    }

    #[inline(always)]
    fn splat_i16(self, a: i16) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u8_s16(vdupq_n_s16(a)) }
    }

    #[inline(always)]
    fn splat_i32(self, a: i32) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u8_s32(vdupq_n_s32(a)) }
    }

    #[inline(always)]
    fn splat_i64(self, a: i64) -> V {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u8_s64(vdupq_n_s64(a)) }
    }

    /// The largest byte.
    #[inline(always)]
    fn largest(self, a: V) -> u8 {
        // SAFETY: `self` proves NEON.
        unsafe { vmaxvq_u8(a) }
    }

    #[inline(always)]
    fn sum_of_u8(self, a: V) -> usize {
        // SAFETY: `self` proves NEON.
        usize::from(unsafe { vaddlvq_u8(a) })
    }

    /// The low 64 bits.
    #[inline(always)]
    fn low_bits(self, a: V) -> u64 {
        // SAFETY: `self` proves NEON.
        unsafe { vgetq_lane_u64::<0>(vreinterpretq_u64_u8(a)) }
    }
}

/// Mask and bound in every lane of a register, the mask once more as `tops` shows it, and 1 in every byte.
#[derive(Clone, Copy)]
pub(crate) struct Constants {
    mask: V,
    bound: V,
    top: V,
    one: V,
}

/// How the lanes of one width are loaded and compared.
///
/// A block comes in `PARTS` parts, its elements in order.
pub(crate) trait Layout: Lane {
    const PARTS: usize;

    fn constants(isa: Neon, pair: Pair<Self>) -> Constants;

    /// The top 16 bits of each lane of a part; 8-bit lanes as they are.
    fn tops(isa: Neon, bytes: &[u8], part: usize) -> V;

    /// Compares whole lanes of a part: -1 where `Equal` or `Greater` holds, else 0, as wide as the tops.
    fn verdicts<O: Op>(isa: Neon, bytes: &[u8], part: usize, with: Constants) -> V;

    /// Compares the lanes of a register: -1 where `Equal` or `Greater` holds, else 0.
    fn compare<O: Op>(isa: Neon, lanes: V, with: Constants) -> V;

    /// [`Layout::compare`] for the register at an offset.
    #[inline(always)]
    fn verdict<O: Op>(isa: Neon, bytes: &[u8], at: usize, with: Constants) -> V {
        Self::compare::<O>(isa, isa.and(isa.load(bytes, at), with.mask), with)
    }

    /// Lane by lane.
    fn subtract(isa: Neon, a: V, b: V) -> V;

    #[inline(always)]
    fn max_tops(isa: Neon, a: V, b: V) -> V {
        isa.max_u16(a, b)
    }

    #[inline(always)]
    fn equal_tops(isa: Neon, a: V, b: V) -> V {
        isa.equal_i16(a, b)
    }

    /// What [`Blocks::fold`] gathers of a part.
    #[inline(always)]
    fn gather<O: Op, const NEGATE: bool>(isa: Neon, all: V, bytes: &[u8], part: usize, with: Constants) -> V {
        match (O::OP, NEGATE) {
            (Operation::Ones, _) => Self::max_tops(isa, all, isa.and(Self::tops(isa, bytes, part), with.top)),
            (_, true) => isa.and(all, Self::verdicts::<O>(isa, bytes, part, with)),
            (_, false) => isa.or(all, Self::verdicts::<O>(isa, bytes, part, with)),
        }
    }

    /// -1 for each element of a part where the operation holds, else 0.
    #[inline(always)]
    fn results<O: Op>(isa: Neon, bytes: &[u8], part: usize, with: Constants) -> V {
        match O::OP {
            Operation::Ones => {
                Self::equal_tops(isa, isa.and(Self::tops(isa, bytes, part), with.top), with.top)
            }
            _ => Self::verdicts::<O>(isa, bytes, part, with),
        }
    }

    /// Verdicts as bytes, for elements `16 * quarter ..`.
    #[inline(always)]
    fn packed<O: Op>(isa: Neon, bytes: &[u8], quarter: usize, with: Constants) -> V {
        isa.low_u16(
            Self::results::<O>(isa, bytes, 2 * quarter, with),
            Self::results::<O>(isa, bytes, 2 * quarter + 1, with),
        )
    }
}

/// Bytes of two registers, each of which has a register of its own to gather in. They are not indexed: where the loop over a
/// block is not unrolled, as with lanes of 64 bits, an array would be kept in memory.
const PAIR: usize = 32;

impl<L: Layout> Blocks<L> for Neon {
    const SCREENS_BITS: bool = size_of::<L>() <= 2;

    type Constants = Constants;
    type Seen = [V; 2];
    type Counts = [V; 2];

    #[inline(always)]
    fn constants(self, pair: Pair<L>) -> Constants {
        L::constants(self, pair)
    }

    #[inline(always)]
    fn store<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Constants, out: &mut MaskBlock) {
        let bytes = L::bytes(block);
        for quarter in 0..4 {
            let verdicts = L::packed::<O>(self, bytes, quarter, with);
            let results = if NEGATE { self.add_i8(verdicts, with.one) } else { self.and(verdicts, with.one) };
            self.write(results, out, 16 * quarter);
        }
    }

    #[inline(always)]
    fn bits<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Constants) -> u64 {
        let bytes = L::bytes(block);
        let weights = self.load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128], 0);
        // Three rounds of sums bring the eight bits of a byte together.
        let low = self.pair_sums(
            self.and(L::packed::<O>(self, bytes, 0, with), weights),
            self.and(L::packed::<O>(self, bytes, 1, with), weights),
        );
        let high = self.pair_sums(
            self.and(L::packed::<O>(self, bytes, 2, with), weights),
            self.and(L::packed::<O>(self, bytes, 3, with), weights),
        );
        let sums = self.pair_sums(low, high);
        let bits = self.low_bits(self.pair_sums(sums, sums));
        if NEGATE { !bits } else { bits }
    }

    #[inline(always)]
    fn unseen<O: Op, const NEGATE: bool>(self) -> [V; 2] {
        [self.splat_i8(if NEGATE { -1 } else { 0 }); 2]
    }

    /// `Ones` keeps the largest masked top, or the bits that all elements have; the others gather verdicts.
    #[inline(always)]
    fn fold<O: Op, const NEGATE: bool>(
        self,
        [mut a, mut b]: [V; 2],
        block: &Block<L>,
        with: Constants,
    ) -> [V; 2] {
        let bytes = L::bytes(block);
        if O::OP == Operation::Least {
            for at in (0..bytes.len()).step_by(PAIR) {
                a = self.min_i8(a, self.load(bytes, at));
                b = self.min_i8(b, self.load(bytes, at + 16));
            }
            return [a, b];
        }
        if let (Operation::Ones, true) = (O::OP, NEGATE) {
            for at in (0..bytes.len()).step_by(PAIR) {
                a = self.and(a, self.load(bytes, at));
                b = self.and(b, self.load(bytes, at + 16));
            }
            return [a, b];
        }
        for part in (0..L::PARTS).step_by(2) {
            a = L::gather::<O, NEGATE>(self, a, bytes, part, with);
            b = L::gather::<O, NEGATE>(self, b, bytes, part + 1, with);
        }
        [a, b]
    }

    #[inline(always)]
    fn hit<O: Op, const NEGATE: bool>(self, [a, b]: [V; 2], with: Constants) -> bool {
        let signs = match (O::OP, NEGATE) {
            (Operation::Least, _) => self.equal_i8(self.min_i8(a, b), with.bound),
            (Operation::Ones, true) => self.not_and(self.and(a, b), with.mask),
            (Operation::Ones, false) => L::equal_tops(self, L::max_tops(self, a, b), with.top),
            (_, true) => self.not_and(self.and(a, b), self.splat_i8(-1)),
            (_, false) => self.or(a, b),
        };
        self.largest(signs) != 0
    }

    #[inline(always)]
    fn all_hit<O: Op>(self, blocks: &[Block<L>], with: Constants) -> bool {
        let mut common = [self.splat_i8(-1); 2];
        for block in blocks {
            let bytes = L::bytes(block);
            for i in 0..bytes.len() / 16 {
                common[i % 2] = self.and(common[i % 2], self.load(bytes, 16 * i));
            }
        }
        let [a, b] = common;
        let verdicts = L::compare::<O>(self, self.and(self.and(a, b), with.mask), with);
        self.largest(self.not_and(verdicts, self.splat_i8(-1))) == 0
    }

    #[inline(always)]
    fn uncounted(self) -> [V; 2] {
        [self.splat_i8(0); 2]
    }

    /// A verdict is -1 where there is a hit, in every lane.
    #[inline(always)]
    fn count<O: Op>(self, [mut a, mut b]: [V; 2], block: &Block<L>, with: Constants) -> [V; 2] {
        let bytes = L::bytes(block);
        for at in (0..bytes.len()).step_by(PAIR) {
            a = L::subtract(self, a, L::verdict::<O>(self, bytes, at, with));
            b = L::subtract(self, b, L::verdict::<O>(self, bytes, at + 16, with));
        }
        [a, b]
    }

    /// No lane is above 128, so that of each lane all but the lowest byte is zero.
    #[inline(always)]
    fn total(self, [a, b]: [V; 2]) -> usize {
        self.sum_of_u8(a) + self.sum_of_u8(b)
    }
}
