//! AVX2: 32 bytes a register, comparisons into lanes of all ones.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

#[cfg(any(feature = "replace", feature = "stats"))]
mod blend;
mod layout;
#[cfg(feature = "scale")]
mod scale;
#[cfg(feature = "stats")]
mod stats;

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::cpuid::has_f16c;
#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
use crate::registers::Write;
use crate::registers::{Registers, ones};
use crate::rule::{Comparison, Operation, Screen};
use crate::scalar;
use crate::simd::{Block, Line, Loop, Simd, Slots, op};

cpufeatures::new!(cpu, "avx2", "popcnt", "bmi1", "bmi2");

/// Proves that the CPU has AVX2, F16C, POPCNT, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        (cpu::get() && has_f16c()).then_some(Self(()))
    }
}

type V = __m256i;

/// `EQUAL` or `GREATER`, decided at run time. Slower than the operations of [`op`], and half of the
/// code.
const EITHER: u8 = u8::MAX;

/// The registers of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct With {
    mask: V,
    bound: V,
    /// [`Registers::top`]
    top: V,
    /// All ones if the comparison is `GREATER`, for `EITHER`.
    greater: V,
    /// 1 in every byte.
    ones: V,
}

// SAFETY of all blocks below, unless they say more: `self` proves the features that the intrinsics
// ask for. Loads and stores ask for no alignment; each reads or writes one array, as long as a
// register.
impl Registers for Avx2 {
    type V = V;
    /// -1 in every lane that is a hit, else 0.
    type Hits = V;
    const BYTES: usize = 32;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 32] = bytes[at..].first_chunk().unwrap();
        // SAFETY: see above.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_set1_epi8(bits as i8),
                2 => _mm256_set1_epi16(bits as i16),
                4 => _mm256_set1_epi32(bits as i32),
                _ => _mm256_set1_epi64x(bits as i64),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_cmpeq_epi8(a, b),
                2 => _mm256_cmpeq_epi16(a, b),
                4 => _mm256_cmpeq_epi32(a, b),
                _ => _mm256_cmpeq_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_cmpgt_epi8(a, b),
                2 => _mm256_cmpgt_epi16(a, b),
                4 => _mm256_cmpgt_epi32(a, b),
                _ => _mm256_cmpgt_epi64(a, b),
            }
        }
    }

    /// Subtracts -1, so `one` is not needed.
    #[inline(always)]
    fn add<const W: usize>(self, counts: V, hits: V, _: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_sub_epi8(counts, hits),
                2 => _mm256_sub_epi16(counts, hits),
                4 => _mm256_sub_epi32(counts, hits),
                _ => _mm256_sub_epi64(counts, hits),
            }
        }
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        let mut lanes = [0u64; 4];
        // SAFETY: see above; `lanes` has 32 bytes.
        unsafe {
            let sums = _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums);
        }
        lanes.iter().sum::<u64>() as usize
    }
}

#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
impl Write for Avx2 {
    #[inline(always)]
    fn write(self, v: V, bytes: &mut [u8], at: usize) {
        let bytes: &mut [u8; 32] = bytes[at..].first_chunk_mut().unwrap();
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), v) }
    }
}

impl Avx2 {
    /// The unsigned maximum. AVX2 has no maximum of 64-bit lanes, so their halves are compared.
    #[inline(always)]
    fn max_unsigned<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_max_epu8(a, b),
                2 => _mm256_max_epu16(a, b),
                _ => _mm256_max_epu32(a, b),
            }
        }
    }

    /// The lanes that a screen compares.
    #[inline(always)]
    fn masked<const FLIP: bool>(self, lanes: V, mask: V) -> V {
        // SAFETY: see above.
        if FLIP { unsafe { _mm256_xor_si256(lanes, mask) } } else { self.and(lanes, mask) }
    }

    /// -1 in each lane at `at` for which the comparison holds.
    #[inline(always)]
    fn hits<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: With) -> V {
        let lanes = self.load(bytes, at);
        if OP == EITHER {
            let equal = self.compare::<W, { op::EQUAL }>(lanes, with.mask, with.bound);
            let greater = self.compare::<W, { op::GREATER }>(lanes, with.mask, with.bound);
            return self.choose_bytes(equal, greater, with.greater);
        }
        self.compare::<W, OP>(lanes, with.mask, with.bound)
    }

    /// Each byte from `b` where `hits` is -1, and from `a` elsewhere.
    #[inline(always)]
    fn choose_bytes(self, a: V, b: V, hits: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_blendv_epi8(a, b, hits) }
    }

    /// The sign of every byte.
    #[inline(always)]
    fn signs(self, v: V) -> u64 {
        // SAFETY: see above.
        u64::from(unsafe { _mm256_movemask_epi8(v) }.cast_unsigned())
    }
}

impl Simd for Avx2 {
    /// `detect` asks for these five features.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,f16c")]
    #[inline(never)]
    unsafe fn vectorize<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        L::vector(Self(()), x, comparison, out)
    }

    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,f16c")]
    #[inline]
    unsafe fn call<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // SAFETY: the caller guarantees it.
        unsafe { Self::vectorize::<L>(x, comparison, out) }
    }

    type With = With;

    #[inline(always)]
    fn with<const W: usize>(self, comparison: &Comparison) -> With {
        With {
            mask: self.splat::<W>(comparison.mask()),
            bound: self.splat::<W>(comparison.bound()),
            top: self.top::<W>(comparison),
            greater: self.splat::<8>(if comparison.operation() == Operation::Greater {
                u64::MAX
            } else {
                0
            }),
            ones: self.splat::<1>(ones(comparison)),
        }
    }

    const STORES_NEGATED: bool = false;

    #[inline(always)]
    fn store<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        let bytes = block.as_flattened();
        for half in 0..2 {
            let packed = self.packed::<W, OP>(bytes, half, with);
            let to: &mut [MaybeUninit<bool>; 32] = &mut out.as_chunks_mut().0[half];
            // SAFETY: see above; `to` has 32 bytes.
            unsafe {
                let answers = match OP {
                    // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                    op::ONES => _mm256_subs_epu8(with.ones, packed),
                    op::ONES_NOT => _mm256_min_epu8(packed, with.ones),
                    // -1 + 1 is 0, 0 + 1 is 1.
                    op::EQUAL_NOT => _mm256_add_epi8(packed, with.ones),
                    _ => self.and(packed, with.ones),
                };
                _mm256_storeu_si256(to.as_mut_ptr().cast(), answers);
            }
        }
    }

    #[inline(always)]
    fn fill(self, answer: u64, out: &mut Slots) {
        let answers = self.splat::<1>(answer);
        for half in out.as_chunks_mut::<32>().0 {
            // SAFETY: see above; `half` has 32 bytes.
            unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), answers) }
        }
    }

    #[inline(always)]
    fn store_few<const W: usize>(
        self,
        x: &[u8],
        comparison: &Comparison,
        out: &mut [MaybeUninit<bool>],
    ) -> bool {
        let few = x.len() <= 8 * W;
        if few {
            scalar::mask::<W>(x, comparison, out);
        }
        few
    }

    #[inline(always)]
    fn word<const W: usize, const OP: u8>(self, lines: &[Line], with: With) -> u64 {
        let (bytes, mut bits) = (lines.as_flattened(), 0);
        for half in 0..bytes.len() / (32 * W) {
            let packed = self.packed::<W, OP>(bytes, half, with);
            let hits =
                if OP == op::ONES { self.equal::<1>(packed, self.splat::<1>(0)) } else { packed };
            bits |= self.signs(hits) << (32 * half);
        }
        bits
    }

    #[inline(always)]
    fn bits_few<const W: usize>(self, x: &[u8], comparison: &Comparison) -> u64 {
        if x.len() <= 8 * W {
            return scalar::bits_few::<W>(x, comparison);
        }
        let (with, mut short) = (self.with::<W>(comparison), [0; 32]);
        let filled = if x.len() < 32 {
            short[..x.len()].copy_from_slice(x);
            &short
        } else {
            x
        };
        let mut bits = 0;
        for from in (0..filled.len()).step_by(32) {
            // The last piece overlaps the one before.
            let from = from.min(filled.len() - 32);
            if let Some(piece) = filled.get(from..).and_then(<[u8]>::first_chunk) {
                bits |= self.lane_bits::<W>(piece, with) << (from / W);
            }
        }
        (bits ^ comparison.usual_bits()) & !u64::MAX.unbounded_shl((x.len() / W) as u32)
    }

    #[inline(always)]
    fn find<const W: usize>(self, line: &Line, comparison: &Comparison, with: With) -> usize {
        let usual = comparison.usual_bits() as u32;
        // A branch for each half: the compiler would join the bits of both by packing.
        for half in 0..2 {
            let hits = match comparison.operation() {
                Operation::Greater => self.hits::<W, { op::GREATER }>(line, 32 * half, with),
                Operation::Ones | Operation::Equal => {
                    self.hits::<W, { op::EQUAL }>(line, 32 * half, with)
                }
            };
            let bytes = self.signs(hits) as u32 ^ usual;
            if bytes != 0 {
                return (32 * half + bytes.trailing_zeros() as usize) / W;
            }
        }
        64
    }

    type Screen = [V; 2];

    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> [V; 2] {
        match screen {
            Screen::None => [self.splat::<1>(0); 2],
            // Compares 32-bit lanes. The mask keeps only bits in the upper half of each element, so
            // all lower lanes are zero. Zero is below every bound except 0, and with a bound of 0
            // nothing is skipped.
            Screen::Masked { mask, least } if W == 8 => {
                [self.splat::<8>(mask >> 32 << 32), self.splat::<4>(least >> 32)]
            }
            Screen::Masked { mask, least } => [self.splat::<W>(mask), self.splat::<W>(least)],
            Screen::Flipped { flip } => [self.splat::<W>(flip), self.splat::<1>(0xFF)],
        }
    }

    type Accumulator = [V; 2];

    #[inline(always)]
    fn accumulator(self) -> [V; 2] {
        [self.splat::<1>(0); 2]
    }

    #[inline(always)]
    fn accumulate<const W: usize, const FLIP: bool>(
        self,
        [mut a, mut b]: [V; 2],
        lines: &[Line; 2],
        [mask, _]: [V; 2],
    ) -> [V; 2] {
        let bytes = lines.as_flattened();
        a = self.max_unsigned::<W>(a, self.masked::<FLIP>(self.load(bytes, 0), mask));
        b = self.max_unsigned::<W>(b, self.masked::<FLIP>(self.load(bytes, 32), mask));
        a = self.max_unsigned::<W>(a, self.masked::<FLIP>(self.load(bytes, 64), mask));
        b = self.max_unsigned::<W>(b, self.masked::<FLIP>(self.load(bytes, 96), mask));
        [a, b]
    }

    #[inline(always)]
    fn any_hit<const W: usize>(self, [a, b]: [V; 2], [_, least]: [V; 2]) -> bool {
        let largest = self.max_unsigned::<W>(a, b);
        let lanes = if W == 8 {
            self.equal::<4>(self.max_unsigned::<4>(largest, least), largest)
        } else {
            self.equal::<W>(self.max_unsigned::<W>(largest, least), largest)
        };
        // SAFETY: see above.
        unsafe { _mm256_testz_si256(lanes, lanes) == 0 }
    }
}
