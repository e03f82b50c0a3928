//! AVX-512 (F and BW): 64 bytes a register, comparisons into mask registers.
//!
//! `Ones` goes the way of `avx2.rs`: tops blended, packed, sorted; a search looks at whole lanes. The other operations compare whole lanes and
//! join the mask registers.

mod replace;
mod scale;

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use core::sync::atomic::{AtomicBool, Ordering};

use crate::isa::{Blocks, Isa, Kernel, MaskBlock};
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Op, Operation, Pair, Test, screens};

mod layout;

cpufeatures::new!(cpu, "avx512f", "avx512bw", "fma", "avx2", "popcnt", "bmi1", "bmi2");

/// Proves that the CPU has AVX-512 F and BW, AVX2, POPCNT, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
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

impl Isa for Avx512 {
    /// `detect` asks for these six features. The compiler takes AVX-512 F to imply FMA, which is asked for too, and F16C, which
    /// `cpufeatures` cannot ask for and no CPU with AVX-512 F lacks.
    #[target_feature(enable = "avx512f,avx512bw,avx2,popcnt,bmi1,bmi2")]
    unsafe fn vectorize<K: Kernel<Self>>(x: &[u8], test: &Test, out: K::Out<'_>) -> K::Output {
        K::run(Self(()), x, test, out)
    }
}

type V = __m512i;

/// Names intrinsics without memory operands as methods of the token.
macro_rules! operations {
    ($($name:ident = $intrinsic:ident $(::<$imm:literal>)? ($($a:ident: $t:ty),*) -> $r:ty;)*) => {
        impl Avx512 { $(
            #[inline(always)]
            fn $name(self, $($a: $t),*) -> $r {
                // SAFETY: `self` proves AVX-512 F and BW, which is all that these intrinsics ask for.
                unsafe { $intrinsic $(::<$imm>)? ($($a),*) }
            }
        )* }
    };
}
operations! {
    and = _mm512_and_si512(a: V, b: V) -> V;
    not_and = _mm512_andnot_si512(a: V, b: V) -> V;
    min_u8 = _mm512_min_epu8(a: V, b: V) -> V;
    max_u8 = _mm512_max_epu8(a: V, b: V) -> V;
    max_u16 = _mm512_max_epu16(a: V, b: V) -> V;
    saturating_subtract_u8 = _mm512_subs_epu8(a: V, b: V) -> V;
    min_i8 = _mm512_min_epi8(a: V, b: V) -> V;
    // Adds 1 where the mask is set; `b` is -1.
    count_i8 = _mm512_mask_sub_epi8(a: V, mask: u64, same: V, b: V) -> V;
    count_i16 = _mm512_mask_sub_epi16(a: V, mask: u32, same: V, b: V) -> V;
    count_i32 = _mm512_mask_sub_epi32(a: V, mask: u16, same: V, b: V) -> V;
    count_i64 = _mm512_mask_sub_epi64(a: V, mask: u8, same: V, b: V) -> V;
    add_i8 = _mm512_add_epi8(a: V, b: V) -> V;
    // The sums of eight bytes each of `|a - b|`.
    byte_sums = _mm512_sad_epu8(a: V, b: V) -> V;
    sum_of_i64 = _mm512_reduce_add_epi64(a: V) -> i64;
    equal_i8 = _mm512_cmpeq_epi8_mask(a: V, b: V) -> u64;
    equal_i16 = _mm512_cmpeq_epi16_mask(a: V, b: V) -> u32;
    equal_i32 = _mm512_cmpeq_epi32_mask(a: V, b: V) -> u16;
    equal_i64 = _mm512_cmpeq_epi64_mask(a: V, b: V) -> u8;
    greater_i8 = _mm512_cmpgt_epi8_mask(a: V, b: V) -> u64;
    unequal_i8 = _mm512_cmpneq_epi8_mask(a: V, b: V) -> u64;
    at_most_i8 = _mm512_cmple_epi8_mask(a: V, b: V) -> u64;
    greater_i16 = _mm512_cmpgt_epi16_mask(a: V, b: V) -> u32;
    unequal_i16 = _mm512_cmpneq_epi16_mask(a: V, b: V) -> u32;
    at_most_i16 = _mm512_cmple_epi16_mask(a: V, b: V) -> u32;
    greater_i32 = _mm512_cmpgt_epi32_mask(a: V, b: V) -> u16;
    unequal_i32 = _mm512_cmpneq_epi32_mask(a: V, b: V) -> u16;
    at_most_i32 = _mm512_cmple_epi32_mask(a: V, b: V) -> u16;
    greater_i64 = _mm512_cmpgt_epi64_mask(a: V, b: V) -> u8;
    unequal_i64 = _mm512_cmpneq_epi64_mask(a: V, b: V) -> u8;
    at_most_i64 = _mm512_cmple_epi64_mask(a: V, b: V) -> u8;
    join_8 = _mm512_kunpackb(high: u16, low: u16) -> u16;
    join_16 = _mm512_kunpackw(high: u32, low: u32) -> u32;
    join_32 = _mm512_kunpackd(high: u64, low: u64) -> u64;
    set_bytes = _mm512_test_epi8_mask(a: V, b: V) -> u64;
    zero_bytes = _mm512_testn_epi8_mask(a: V, b: V) -> u64;
    splat_i8 = _mm512_set1_epi8(a: i8) -> V;
    splat_i16 = _mm512_set1_epi16(a: i16) -> V;
    splat_i32 = _mm512_set1_epi32(a: i32) -> V;
    splat_i64 = _mm512_set1_epi64(a: i64) -> V;
    // Bits of `a` where those of `mask` are set, else of `b`.
    select = _mm512_ternarylogic_epi32::<0b1100_1010>(mask: V, a: V, b: V) -> V;
    // `a` where the mask is set, else zero.
    keep_bytes = _mm512_maskz_mov_epi8(mask: u64, a: V) -> V;
    pack_u16 = _mm512_packus_epi16(a: V, b: V) -> V;
    shuffle = _mm512_shuffle_epi8(a: V, b: V) -> V;
    permute_i64 = _mm512_permutexvar_epi64(index: V, a: V) -> V;
    permute_i32 = _mm512_permutexvar_epi32(index: V, a: V) -> V;
    permute_i16 = _mm512_permutexvar_epi16(index: V, a: V) -> V;
    down_16 = _mm512_srli_epi32::<16>(a: V) -> V;
    down_16_of_64 = _mm512_srli_epi64::<16>(a: V) -> V;
    down_32 = _mm512_srli_epi64::<32>(a: V) -> V;
    down_48 = _mm512_srli_epi64::<48>(a: V) -> V;
    broadcast = _mm512_broadcast_i32x4(a: __m128i) -> V;
}

impl Avx512 {
    /// The 64 bytes at `offset`.
    #[inline(always)]
    fn load(self, bytes: &[u8], offset: usize) -> V {
        let bytes: &[u8; 64] = bytes[offset..].first_chunk().unwrap();
        // SAFETY: `self` proves AVX-512 F; `bytes` is 64 readable bytes, and the load asks for no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    /// Writes 64 results, given as bytes of 0 or 1.
    #[inline(always)]
    fn write(self, results: V, out: &mut MaskBlock) {
        // SAFETY: `self` proves AVX-512 F; `out` is 64 writable bytes, and the store asks for no alignment.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), results) }
    }

    /// The same 16 bytes in each quarter.
    #[inline(always)]
    fn quarters(self, bytes: [i8; 16]) -> V {
        // SAFETY: `bytes` is 16 readable bytes; the load asks for no alignment and for SSE2, which AVX-512 implies.
        self.broadcast(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    /// Small numbers as 16-bit lanes.
    #[inline(always)]
    fn lanes_i16(self, lanes: [i16; 32]) -> V {
        // SAFETY: `self` proves AVX-512 F; `lanes` is 64 readable bytes, and the load asks for no alignment.
        unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
    }

    /// Small numbers as 32-bit lanes.
    #[inline(always)]
    fn lanes_i32(self, lanes: [i32; 16]) -> V {
        // SAFETY: `self` proves AVX-512 F; `lanes` is 64 readable bytes, and the load asks for no alignment.
        unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
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
pub(crate) trait Layout: Lane {
    fn constants(isa: Avx512, pair: Pair<Self>) -> Constants;

    /// The top 16 bits of each lane of a part; 8-bit lanes as they are.
    fn tops(isa: Avx512, bytes: &[u8], part: usize) -> V;

    /// Adds 1 to the lanes whose bits are set.
    fn count(isa: Avx512, counts: V, hits: u64) -> V;

    /// Compares the whole lanes of one register; the result is in the low bits.
    fn compare<O: Op, const NEGATE: bool>(isa: Avx512, lanes: V, with: Constants) -> u64;

    #[inline(always)]
    fn max_tops(isa: Avx512, a: V, b: V) -> V {
        isa.max_u16(a, b)
    }

    #[inline(always)]
    fn equal_tops(isa: Avx512, a: V, b: V) -> bool {
        isa.equal_i16(a, b) != 0
    }

    /// One byte an element: the bits of the mask that it lacks, so that zero is a hit of `Ones`.
    #[inline(always)]
    fn lacking(isa: Avx512, bytes: &[u8], with: Constants) -> V {
        // Missing bits are below bit 15, so saturation keeps what is not zero from becoming zero.
        let packed = isa.pack_u16(
            isa.not_and(Self::tops(isa, bytes, 0), with.top),
            isa.not_and(Self::tops(isa, bytes, 1), with.top),
        );
        Self::restore(isa, packed)
    }

    /// Sorts the elements of two packed parts.
    fn restore(isa: Avx512, packed: V) -> V;

    /// The results for register `i` of a block.
    #[inline(always)]
    fn register<O: Op, const NEGATE: bool>(isa: Avx512, bytes: &[u8], i: usize, with: Constants) -> u64 {
        Self::compare::<O, NEGATE>(isa, isa.and(isa.load(bytes, 64 * i), with.mask), with)
    }

    /// The results of `Equal` or `Greater` for a block as bits.
    #[inline(always)]
    fn bits<O: Op, const NEGATE: bool>(isa: Avx512, bytes: &[u8], with: Constants) -> u64 {
        let registers = bytes.len() / 64;
        let mut all = 0;
        for i in 0..registers {
            all |= Self::register::<O, NEGATE>(isa, bytes, i, with) << (i * BLOCK / registers);
        }
        all
    }

    /// The results of `Equal` or `Greater` for a block as bytes.
    #[inline(always)]
    fn results<O: Op, const NEGATE: bool>(isa: Avx512, bytes: &[u8], with: Constants) -> V {
        isa.keep_bytes(Self::bits::<O, NEGATE>(isa, bytes, with), with.one)
    }
}

/// `Ones` keeps the largest masked tops or the bits that all elements have; the others gather bits.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    tops: [V; 2],
    bits: u64,
}

impl<L: Layout> Blocks<L> for Avx512 {
    const SCREENS_BITS: bool = true;

    /// The shifts and shuffles of `Ones` for 64-bit lanes take longer than reading them.
    #[inline(always)]
    fn screens_masks<O: Op, const NEGATE: bool>() -> bool {
        match size_of::<L>() {
            1 => false,
            8 => true,
            _ => screens::<O, NEGATE>(),
        }
    }

    type Constants = Constants;
    type Seen = Seen;
    type Counts = [V; 2];

    #[inline(always)]
    fn constants(self, pair: Pair<L>) -> Constants {
        L::constants(self, pair)
    }

    #[inline(always)]
    fn store<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Constants, out: &mut MaskBlock) {
        let bytes = L::bytes(block);
        let results = match (O::OP, NEGATE) {
            (Operation::Ones, true) => self.min_u8(L::lacking(self, bytes, with), with.one),
            // Saturates: 1 - 0 is 1, 1 - anything else is 0.
            (Operation::Ones, false) => self.saturating_subtract_u8(with.one, L::lacking(self, bytes, with)),
            _ => L::results::<O, NEGATE>(self, bytes, with),
        };
        self.write(results, out);
    }

    #[inline(always)]
    fn bits<O: Op, const NEGATE: bool>(self, block: &Block<L>, with: Constants) -> u64 {
        let bytes = L::bytes(block);
        if O::OP != Operation::Ones {
            return L::bits::<O, NEGATE>(self, bytes, with);
        }
        let lacking = L::lacking(self, bytes, with);
        if NEGATE { self.set_bytes(lacking, lacking) } else { self.zero_bytes(lacking, lacking) }
    }

    #[inline(always)]
    fn unseen<O: Op, const NEGATE: bool>(self) -> Seen {
        Seen { tops: [self.splat_i8(if NEGATE { -1 } else { 0 }); 2], bits: 0 }
    }

    #[inline(always)]
    fn fold<O: Op, const NEGATE: bool>(self, mut seen: Seen, block: &Block<L>, with: Constants) -> Seen {
        let bytes = L::bytes(block);
        match (O::OP, NEGATE) {
            (Operation::Least, _) => {
                for i in 0..bytes.len() / 64 {
                    seen.tops[i % 2] = self.min_i8(seen.tops[i % 2], self.load(bytes, 64 * i));
                }
            }
            (Operation::Ones, true) => {
                for i in 0..bytes.len() / 64 {
                    seen.tops[i % 2] = self.and(seen.tops[i % 2], self.load(bytes, 64 * i));
                }
            }
            (Operation::Ones, false) => {
                for i in 0..bytes.len() / 64 {
                    let tops = self.and(self.load(bytes, 64 * i), with.mask);
                    seen.tops[i % 2] = L::max_tops(self, seen.tops[i % 2], tops);
                }
            }
            _ => seen.bits |= L::bits::<O, NEGATE>(self, bytes, with),
        }
        seen
    }

    #[inline(always)]
    fn hit<O: Op, const NEGATE: bool>(self, seen: Seen, with: Constants) -> bool {
        let [a, b] = seen.tops;
        match (O::OP, NEGATE) {
            (Operation::Least, _) => self.equal_i8(self.min_i8(a, b), with.bound) != 0,
            (Operation::Ones, true) => {
                // A bit of the mask that some element lacks.
                let lacking = self.not_and(self.and(a, b), with.mask);
                self.zero_bytes(lacking, lacking) != u64::MAX
            }
            (Operation::Ones, false) => L::equal_tops(self, L::max_tops(self, a, b), with.top),
            _ => seen.bits != 0,
        }
    }

    #[inline(always)]
    fn all_hit<O: Op>(self, blocks: &[Block<L>], with: Constants) -> bool {
        let mut common = [self.splat_i8(-1); 2];
        for block in blocks {
            let bytes = L::bytes(block);
            for i in 0..bytes.len() / 64 {
                common[i % 2] = self.and(common[i % 2], self.load(bytes, 64 * i));
            }
        }
        let [a, b] = common;
        L::compare::<O, true>(self, self.and(self.and(a, b), with.mask), with) == 0
    }

    #[inline(always)]
    fn uncounted(self) -> [V; 2] {
        [self.splat_i8(0); 2]
    }

    #[inline(always)]
    fn count<O: Op>(self, mut counts: [V; 2], block: &Block<L>, with: Constants) -> [V; 2] {
        let bytes = L::bytes(block);
        for i in 0..bytes.len() / 64 {
            counts[i % 2] = L::count(self, counts[i % 2], L::register::<O, false>(self, bytes, i, with));
        }
        counts
    }

    /// No lane is above 64, so that of each lane all but the lowest byte is zero, also in the sum of both.
    #[inline(always)]
    fn total(self, [a, b]: [V; 2]) -> usize {
        self.sum_of_i64(self.byte_sums(self.add_i8(a, b), self.splat_i8(0))) as usize
    }
}
