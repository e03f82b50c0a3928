//! AVX2: 32 bytes a register.
//!
//! Lanes wider than 8 bits end as one 16-bit verdict an element, and these as bytes. On the way the elements of a part get
//! out of order: packing works on 128-bit halves, and tops, like verdicts of 64-bit lanes, are blended from several
//! registers, which costs less than packing. `Layout::restore` sorts them in the end.

mod replace;
mod scale;

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use core::sync::atomic::{AtomicBool, Ordering};

use crate::isa::{Blocks, Isa, Kernel, MaskBlock};
use crate::lane::{Block, Lane};
use crate::rule::{Op, Operation, Pair, Test};

mod layout;

cpufeatures::new!(cpu, "avx2", "popcnt", "bmi1", "bmi2");

/// Proves that the CPU has AVX2, POPCNT, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        let found = cpu::get();
        if found {
            FOUND.store(true, Ordering::Relaxed);
        }
        found.then_some(Self(()))
    }

    /// As `detect`, for a CPU on which `detect` has found it; a load and no call.
    #[inline(always)]
    pub(crate) fn detected() -> Option<Self> {
        FOUND.load(Ordering::Relaxed).then_some(Self(()))
    }
}

/// Set by `detect` alone, and only if the CPU has the features.
static FOUND: AtomicBool = AtomicBool::new(false);

impl Isa for Avx2 {
    /// `detect` asks for these four features.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
    unsafe fn vectorize<K: Kernel<Self>>(x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output {
        K::run(Self(()), x, test, out)
    }
}

type V = __m256i;

/// Names intrinsics without memory operands as methods of the token.
macro_rules! operations {
    ($($name:ident = $intrinsic:ident $(::<$imm:literal>)? ($($a:ident: $t:ty),*) -> $r:ty;)*) => {
        impl Avx2 { $(
            #[inline(always)]
            fn $name(self, $($a: $t),*) -> $r {
                // SAFETY: `self` proves AVX2, which is all that these intrinsics ask for.
                unsafe { $intrinsic $(::<$imm>)? ($($a),*) }
            }
        )* }
    };
}
operations! {
    and = _mm256_and_si256(a: V, b: V) -> V;
    or = _mm256_or_si256(a: V, b: V) -> V;
    not_and = _mm256_andnot_si256(a: V, b: V) -> V;
    min_u8 = _mm256_min_epu8(a: V, b: V) -> V;
    min_i8 = _mm256_min_epi8(a: V, b: V) -> V;
    max_u8 = _mm256_max_epu8(a: V, b: V) -> V;
    max_u16 = _mm256_max_epu16(a: V, b: V) -> V;
    add_i8 = _mm256_add_epi8(a: V, b: V) -> V;
    saturating_subtract_u8 = _mm256_subs_epu8(a: V, b: V) -> V;
    subtract_i8 = _mm256_sub_epi8(a: V, b: V) -> V;
    subtract_i16 = _mm256_sub_epi16(a: V, b: V) -> V;
    subtract_i32 = _mm256_sub_epi32(a: V, b: V) -> V;
    subtract_i64 = _mm256_sub_epi64(a: V, b: V) -> V;
    // The sums of eight bytes each of `|a - b|`.
    byte_sums = _mm256_sad_epu8(a: V, b: V) -> V;
    equal_i8 = _mm256_cmpeq_epi8(a: V, b: V) -> V;
    equal_i16 = _mm256_cmpeq_epi16(a: V, b: V) -> V;
    equal_i32 = _mm256_cmpeq_epi32(a: V, b: V) -> V;
    equal_i64 = _mm256_cmpeq_epi64(a: V, b: V) -> V;
    greater_i8 = _mm256_cmpgt_epi8(a: V, b: V) -> V;
    greater_i16 = _mm256_cmpgt_epi16(a: V, b: V) -> V;
    greater_i32 = _mm256_cmpgt_epi32(a: V, b: V) -> V;
    greater_i64 = _mm256_cmpgt_epi64(a: V, b: V) -> V;
    splat_i8 = _mm256_set1_epi8(a: i8) -> V;
    splat_i16 = _mm256_set1_epi16(a: i16) -> V;
    splat_i32 = _mm256_set1_epi32(a: i32) -> V;
    splat_i64 = _mm256_set1_epi64x(a: i64) -> V;
    zero = _mm256_setzero_si256() -> V;
    // Odd 16-bit lanes from `b`; lanes 1 of 4; lanes 2 and 3 of 4.
    blend_odd = _mm256_blend_epi16::<0b1010_1010>(a: V, b: V) -> V;
    blend_second = _mm256_blend_epi16::<0b0010_0010>(a: V, b: V) -> V;
    blend_upper = _mm256_blend_epi16::<0b1100_1100>(a: V, b: V) -> V;
    blend_fourth = _mm256_blend_epi16::<0b1000_1000>(a: V, b: V) -> V;
    pack_i16 = _mm256_packs_epi16(a: V, b: V) -> V;
    pack_u16 = _mm256_packus_epi16(a: V, b: V) -> V;
    pack_i32 = _mm256_packs_epi32(a: V, b: V) -> V;
    shuffle = _mm256_shuffle_epi8(a: V, b: V) -> V;
    // Undoes the interleaving of a pack: 64-bit parts 0 2 1 3.
    unpack_halves = _mm256_permute4x64_epi64::<0b11_01_10_00>(a: V) -> V;
    permute_i32 = _mm256_permutevar8x32_epi32(a: V, index: V) -> V;
    signs = _mm256_movemask_epi8(a: V) -> i32;
    // Whether `a & b` is zero; whether `!a & b` is.
    disjoint = _mm256_testz_si256(a: V, b: V) -> i32;
    covers = _mm256_testc_si256(a: V, b: V) -> i32;
}

impl Avx2 {
    /// The 32 bytes at `offset`.
    #[inline(always)]
    fn load(self, bytes: &[u8], offset: usize) -> V {
        let bytes: &[u8; 32] = bytes[offset..].first_chunk().unwrap();
        // SAFETY: `self` proves AVX2; `bytes` is 32 readable bytes, and the load asks for no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    /// Writes 32 results, given as bytes of 0 or 1.
    #[inline(always)]
    fn write(self, results: V, out: &mut MaskBlock, offset: usize) {
        let out: &mut [_; 32] = out[offset..].first_chunk_mut().unwrap();
        // SAFETY: `self` proves AVX2; `out` is 32 writable bytes, and the store asks for no alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), results) }
    }

    #[inline(always)]
    fn sum_of_i64(self, a: V) -> usize {
        let mut lanes = [0u64; 4];
        // SAFETY: `self` proves AVX2; `lanes` is 32 writable bytes, and the store asks for no alignment.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), a) }
        lanes.iter().sum::<u64>() as usize
    }

    #[inline(always)]
    fn lanes_i32(self, lanes: [i32; 8]) -> V {
        // SAFETY: `self` proves AVX2; `lanes` is 32 readable bytes, and the load asks for no alignment.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn bytes16(self, bytes: [i8; 16]) -> V {
        // SAFETY: `self` proves AVX2; `bytes` is 16 readable bytes, and the load asks for no alignment.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
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
/// A block comes in `PARTS` parts.
pub(crate) trait Layout: Lane {
    const PARTS: usize;

    /// Whether a search gains from `tops`. The blends save a maximum each, but loads across cache lines cost more.
    const BLEND_TO_SEARCH: bool;

    fn constants(isa: Avx2, pair: Pair<Self>) -> Constants;

    /// The top 16 bits of each lane of a part; 8-bit lanes as they are.
    fn tops(isa: Avx2, bytes: &[u8], part: usize) -> V;

    /// Compares whole lanes of a part: -1 where `Equal` or `Greater` holds, else 0, as wide as the tops.
    fn verdicts<O: Op>(isa: Avx2, bytes: &[u8], part: usize, with: Constants) -> V;

    /// Compares the lanes of a register: -1 where `Equal` or `Greater` holds, else 0.
    fn compare<O: Op>(isa: Avx2, lanes: V, with: Constants) -> V;

    /// [`Layout::compare`] for the register at an offset.
    #[inline(always)]
    fn verdict<O: Op>(isa: Avx2, bytes: &[u8], at: usize, with: Constants) -> V {
        Self::compare::<O>(isa, isa.and(isa.load(bytes, at), with.mask), with)
    }

    /// Lane by lane.
    fn subtract(isa: Avx2, a: V, b: V) -> V;

    #[inline(always)]
    fn max_tops(isa: Avx2, a: V, b: V) -> V {
        isa.max_u16(a, b)
    }

    #[inline(always)]
    fn equal_tops(isa: Avx2, a: V, b: V) -> V {
        isa.equal_i16(a, b)
    }

    /// One byte an element for 32 elements: `Ones` gives the bits of the mask that are missing, so zero is a hit;
    /// the other operations give verdicts.
    #[inline(always)]
    fn packed<O: Op>(isa: Avx2, bytes: &[u8], half: usize, with: Constants) -> V {
        let (a, b) = (2 * half, 2 * half + 1);
        let packed = match O::OP {
            // Missing bits are below bit 15, so saturation keeps what is not zero from becoming zero.
            Operation::Ones => isa.pack_u16(
                isa.not_and(Self::tops(isa, bytes, a), with.top),
                isa.not_and(Self::tops(isa, bytes, b), with.top),
            ),
            _ => isa
                .pack_i16(Self::verdicts::<O>(isa, bytes, a, with), Self::verdicts::<O>(isa, bytes, b, with)),
        };
        Self::restore::<O>(isa, packed)
    }

    /// Sorts the elements of two packed parts.
    fn restore<O: Op>(isa: Avx2, packed: V) -> V;
}

impl<L: Layout> Blocks<L> for Avx2 {
    const SCREENS_BITS: bool = true;

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
        for half in 0..2 {
            let packed = L::packed::<O>(self, bytes, half, with);
            let results = match (O::OP, NEGATE) {
                (Operation::Ones, true) => self.min_u8(packed, with.one),
                // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                (Operation::Ones, false) => self.saturating_subtract_u8(with.one, packed),
                (_, true) => self.add_i8(packed, with.one),
                (_, false) => self.and(packed, with.one),
            };
            self.write(results, out, 32 * half);
        }
    }

    #[inline(always)]
    fn bits<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Constants) -> u64 {
        let bytes = L::bytes(block);
        let mut halves = [0; 2];
        for (half, bits) in halves.iter_mut().enumerate() {
            let packed = L::packed::<O>(self, bytes, half, with);
            let verdicts = match O::OP {
                Operation::Ones => self.equal_i8(packed, self.zero()),
                _ => packed,
            };
            *bits = u64::from(self.signs(verdicts).cast_unsigned());
        }
        let bits = halves[0] | halves[1] << 32;
        if NEGATE { !bits } else { bits }
    }

    #[inline(always)]
    fn unseen<O: Op, const NEGATE: bool>(self) -> [V; 2] {
        [self.splat_i8(if NEGATE { -1 } else { 0 }); 2]
    }

    /// `Ones` keeps the largest masked top, or the bits that all elements have; the others gather verdicts.
    #[inline(always)]
    fn fold<O: Op, const NEGATE: bool>(self, mut seen: [V; 2], block: &Block<L>, with: Constants) -> [V; 2] {
        let bytes = L::bytes(block);
        if O::OP == Operation::Least {
            for i in 0..bytes.len() / 32 {
                seen[i % 2] = self.min_i8(seen[i % 2], self.load(bytes, 32 * i));
            }
            return seen;
        }
        if let (Operation::Ones, true) = (O::OP, NEGATE) {
            for i in 0..bytes.len() / 32 {
                seen[i % 2] = self.and(seen[i % 2], self.load(bytes, 32 * i));
            }
            return seen;
        }
        if O::OP == Operation::Ones && !L::BLEND_TO_SEARCH {
            for i in 0..bytes.len() / 32 {
                let tops = self.and(self.load(bytes, 32 * i), with.mask);
                seen[i % 2] = L::max_tops(self, seen[i % 2], tops);
            }
            return seen;
        }
        for part in 0..L::PARTS {
            let all = &mut seen[part % 2];
            *all = match (O::OP, NEGATE) {
                (Operation::Ones, _) => {
                    L::max_tops(self, *all, self.and(L::tops(self, bytes, part), with.top))
                }
                (_, true) => self.and(*all, L::verdicts::<O>(self, bytes, part, with)),
                (_, false) => self.or(*all, L::verdicts::<O>(self, bytes, part, with)),
            };
        }
        seen
    }

    #[inline(always)]
    fn hit<O: Op, const NEGATE: bool>(self, [a, b]: [V; 2], with: Constants) -> bool {
        match (O::OP, NEGATE) {
            (Operation::Least, _) => self.signs(self.equal_i8(self.min_i8(a, b), with.bound)) != 0,
            (Operation::Ones, true) => self.covers(self.and(a, b), with.mask) == 0,
            (Operation::Ones, false) => {
                let ones = L::equal_tops(self, L::max_tops(self, a, b), with.top);
                self.disjoint(ones, ones) == 0
            }
            (_, true) => self.covers(self.and(a, b), self.splat_i8(-1)) == 0,
            (_, false) => self.disjoint(self.or(a, b), self.or(a, b)) == 0,
        }
    }

    #[inline(always)]
    fn all_hit<O: Op>(self, blocks: &[Block<L>], with: Constants) -> bool {
        let mut common = [self.splat_i8(-1); 2];
        for block in blocks {
            let bytes = L::bytes(block);
            for i in 0..bytes.len() / 32 {
                common[i % 2] = self.and(common[i % 2], self.load(bytes, 32 * i));
            }
        }
        let [a, b] = common;
        let verdicts = L::compare::<O>(self, self.and(self.and(a, b), with.mask), with);
        self.covers(verdicts, self.splat_i8(-1)) != 0
    }

    #[inline(always)]
    fn uncounted(self) -> [V; 2] {
        [self.zero(); 2]
    }

    /// A verdict is -1 where there is a hit, in every lane.
    #[inline(always)]
    fn count<O: Op>(self, mut counts: [V; 2], block: &Block<L>, with: Constants) -> [V; 2] {
        let bytes = L::bytes(block);
        for i in 0..bytes.len() / 32 {
            counts[i % 2] = L::subtract(self, counts[i % 2], L::verdict::<O>(self, bytes, 32 * i, with));
        }
        counts
    }

    /// No lane is above 64, so that of each lane all but the lowest byte is zero, also in the sum of both.
    #[inline(always)]
    fn total(self, [a, b]: [V; 2]) -> usize {
        self.sum_of_i64(self.byte_sums(self.add_i8(a, b), self.zero()))
    }
}
