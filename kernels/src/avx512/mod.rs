//! AVX-512 (F, BW, VL and DQ): 64 bytes a register, comparisons into mask registers.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

#[cfg(any(feature = "replace", feature = "stats"))]
mod blend;
mod layout;
mod registers;
#[cfg(feature = "scale")]
mod scale;
#[cfg(feature = "stats")]
mod stats;

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use core::hint::black_box;
use core::mem::MaybeUninit;

use crate::cpuid::has_f16c;
use crate::registers::{Registers, ones};
use crate::rule::{Comparison, Operation, Screen};
use crate::simd::{Block, Line, Loop, Simd, Slots, lines, op};

cpufeatures::new!(
    cpu, "avx512f", "avx512bw", "avx512vl", "avx512dq", "fma", "avx2", "popcnt", "bmi1", "bmi2"
);

/// Proves that the CPU has AVX-512 F, BW, VL and DQ, FMA, F16C, AVX2, POPCNT, BMI1 and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn detect() -> Option<Self> {
        (cpu::get() && has_f16c()).then_some(Self(()))
    }
}

type V = __m512i;

/// The registers of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct With {
    mask: V,
    bound: V,
    /// [`Registers::top`]
    top: V,
    /// The answer for an element that is not a hit, in every byte.
    usual: V,
    /// The answer for a hit, in every byte.
    other: V,
    /// 1 in every byte.
    ones: V,
}

// SAFETY of all blocks below, unless they say more: `self` proves the features that the intrinsics
// ask for. Loads and stores ask for no alignment; each reads or writes one array, as long as a
// register.
impl Avx512 {
    /// The unsigned maximum.
    #[inline(always)]
    fn max_unsigned<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_max_epu8(a, b),
                2 => _mm512_max_epu16(a, b),
                4 => _mm512_max_epu32(a, b),
                _ => _mm512_max_epu64(a, b),
            }
        }
    }

    /// The unsigned comparison.
    #[inline(always)]
    fn at_least<const W: usize>(self, a: V, b: V) -> bool {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_cmpge_epu8_mask(a, b) != 0,
                2 => _mm512_cmpge_epu16_mask(a, b) != 0,
                4 => _mm512_cmpge_epu32_mask(a, b) != 0,
                _ => _mm512_cmpge_epu64_mask(a, b) != 0,
            }
        }
    }

    #[inline(always)]
    fn unequal<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_cmpneq_epi8_mask(a, b),
                2 => _mm512_cmpneq_epi16_mask(a, b).into(),
                4 => _mm512_cmpneq_epi32_mask(a, b).into(),
                _ => _mm512_cmpneq_epi64_mask(a, b).into(),
            }
        }
    }

    /// The lanes that a screen compares.
    #[inline(always)]
    fn masked<const FLIP: bool>(self, lanes: V, mask: V) -> V {
        // SAFETY: see above.
        if FLIP { unsafe { _mm512_xor_si512(lanes, mask) } } else { self.and(lanes, mask) }
    }

    /// [`Registers::compare`] with the registers of a comparison.
    #[inline(always)]
    fn hits<const W: usize, const OP: u8>(self, lanes: V, with: With) -> u64 {
        self.compare::<W, OP>(lanes, with.mask, with.bound)
    }

    /// [`Avx512::hits`] of either comparison.
    #[inline(always)]
    fn hits_of<const W: usize>(self, lanes: V, comparison: &Comparison, with: With) -> u64 {
        match comparison.operation() {
            Operation::Greater => self.hits::<W, { op::GREATER }>(lanes, with),
            Operation::Ones | Operation::Equal => self.hits::<W, { op::EQUAL }>(lanes, with),
        }
    }

    /// Loads at most 64 bytes, with zeros behind them.
    #[inline(always)]
    fn load_few(self, bytes: &[u8]) -> V {
        let keep = u64::MAX.unbounded_shr(64 - bytes.len() as u32);
        // SAFETY: see above; only bytes whose bits are set are read: the first `bytes.len()`.
        unsafe { _mm512_maskz_loadu_epi8(keep, bytes.as_ptr().cast()) }
    }

    /// Writes the answers for the lanes of a register: `64 / W` bytes, or fewer if `out` is
    /// shorter.
    #[inline(always)]
    fn put<const W: usize>(self, hits: u64, with: With, out: &mut [MaybeUninit<bool>]) {
        let keep = u64::MAX.unbounded_shr(64 - out.len() as u32);
        let to = out.as_mut_ptr().cast();
        // SAFETY: see above; only bytes whose bits are set are written: the first `out.len()`.
        unsafe {
            if W == 1 {
                let answers = _mm512_mask_blend_epi8(hits, with.usual, with.other);
                _mm512_mask_storeu_epi8(to, keep, answers);
            } else {
                let (usual, other) =
                    (_mm512_castsi512_si256(with.usual), _mm512_castsi512_si256(with.other));
                let answers = _mm256_mask_blend_epi8(hits as u32, usual, other);
                _mm256_mask_storeu_epi8(to, keep as u32, answers);
            }
        }
    }

    #[inline(always)]
    fn write_line(self, lanes: V, line: &mut Line) {
        // SAFETY: see above; `line` has 64 bytes.
        unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), lanes) }
    }

    /// Writes 64 bytes.
    #[inline(always)]
    fn write_slots(self, answers: V, out: &mut Slots) {
        // SAFETY: see above; `out` has 64 bytes.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), answers) }
    }

    /// The mask of a block by `EQUAL` or `GREATER`. Each register is stored at once, so no store
    /// waits for the other registers.
    #[inline(always)]
    fn store_compared<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: With,
        out: &mut Slots,
    ) {
        for (line, slots) in block.iter().zip(out.chunks_exact_mut(64 / W)) {
            let hits = self.hits::<W, OP>(self.load(line, 0), with);
            let to = slots.as_mut_ptr();
            // SAFETY: see above; `slots` has `64 / W` bytes.
            unsafe {
                match W {
                    1 => _mm512_storeu_si512(
                        to.cast(),
                        _mm512_mask_blend_epi8(hits, with.usual, with.other),
                    ),
                    2 => {
                        let (usual, other) = (
                            _mm512_castsi512_si256(with.usual),
                            _mm512_castsi512_si256(with.other),
                        );
                        _mm256_storeu_si256(
                            to.cast(),
                            _mm256_mask_blend_epi8(hits as u32, usual, other),
                        );
                    }
                    4 => _mm_storeu_si128(
                        to.cast(),
                        _mm_mask_blend_epi8(
                            hits as u16,
                            _mm512_castsi512_si128(with.usual),
                            _mm512_castsi512_si128(with.other),
                        ),
                    ),
                    _ => _mm_storel_epi64(
                        to.cast(),
                        _mm_mask_blend_epi8(
                            hits as u16,
                            _mm512_castsi512_si128(with.usual),
                            _mm512_castsi512_si128(with.other),
                        ),
                    ),
                }
            }
        }
    }
}

/// Stores the bits of a line.
#[inline(always)]
fn put<const W: usize>(hits: u64, to: &mut [u8]) {
    to.copy_from_slice(&hits.to_le_bytes()[..8 / W]);
}

impl Simd for Avx512 {
    /// `detect` asks for these features, and for FMA and F16C, which the compiler takes AVX-512 F
    /// to imply.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,popcnt,bmi1,bmi2")]
    #[inline(never)]
    unsafe fn vectorize<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        L::vector(Self(()), x, comparison, out)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,popcnt,bmi1,bmi2")]
    #[inline]
    unsafe fn call<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // SAFETY: the caller guarantees it.
        unsafe { Self::vectorize::<L>(x, comparison, out) }
    }

    type With = With;

    #[inline(always)]
    fn with<const W: usize>(self, comparison: &Comparison) -> With {
        let [usual, other] = comparison.answers();
        With {
            mask: self.splat::<W>(comparison.mask()),
            bound: self.splat::<W>(comparison.bound()),
            top: self.top::<W>(comparison),
            usual: self.splat::<1>(usual),
            other: self.splat::<1>(other),
            ones: self.splat::<1>(ones(comparison)),
        }
    }

    const STORES_NEGATED: bool = true;

    const MASK_SCREEN_FROM: usize = 8192;

    #[inline(always)]
    fn store<const W: usize, const OP: u8>(self, block: &Block<W>, with: With, out: &mut Slots) {
        // SAFETY: see above.
        unsafe {
            match OP {
                // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                op::ONES => self.write_slots(
                    _mm512_subs_epu8(with.ones, self.missing_bits(block, with.top)),
                    out,
                ),
                op::ONES_NOT => self.write_slots(
                    _mm512_min_epu8(with.ones, self.missing_bits(block, with.top)),
                    out,
                ),
                _ => self.store_compared::<W, OP>(block, with, out),
            }
        }
    }

    #[inline(always)]
    fn fill(self, answer: u64, out: &mut Slots) {
        self.write_slots(self.splat::<1>(answer), out);
    }

    #[inline(always)]
    fn store_few<const W: usize>(
        self,
        x: &[u8],
        comparison: &Comparison,
        out: &mut [MaybeUninit<bool>],
    ) -> bool {
        let with = self.with::<W>(comparison);
        let (lines, few) = lines(x);
        let (slots, last) = out.split_at_mut((lines.len() * (64 / W)).min(out.len()));
        for (line, slots) in lines.iter().zip(slots.chunks_exact_mut(64 / W)) {
            self.put::<W>(self.hits_of::<W>(self.load(line, 0), comparison, with), with, slots);
        }
        if !last.is_empty() {
            self.put::<W>(self.hits_of::<W>(self.load_few(few), comparison, with), with, last);
        }
        true
    }

    const BITS_COMPARED: bool = true;

    #[inline(always)]
    fn word<const W: usize, const OP: u8>(self, lines: &[Line], with: With) -> u64 {
        let hits = |line| self.hits::<W, OP>(self.load(line, 0), with);
        lines.iter().rev().fold(0, |word, line| word.unbounded_shl(64 / W as u32) | hits(line))
    }

    #[inline(always)]
    fn put_bits<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: With,
        usual: u64,
        word: &mut [u8; 8],
    ) {
        for (line, bits) in block.iter().zip(word.chunks_exact_mut(8 / W)) {
            let lanes = self.load(line, 0);
            let hits = match OP {
                op::ONES_NOT => self.unequal::<W>(self.and(lanes, with.mask), with.bound),
                _ => self.hits::<W, OP>(lanes, with),
            };
            let hits = if W == 1 { hits ^ usual } else { hits };
            put::<W>(hits, bits);
        }
        // Only for rules that no format has. Hidden, or the loop would be compiled twice.
        if W > 1 && black_box(usual) != 0 {
            *word = (!u64::from_le_bytes(*word)).to_le_bytes();
        }
    }

    #[inline(always)]
    fn bits_few<const W: usize>(self, x: &[u8], comparison: &Comparison) -> u64 {
        let with = self.with::<W>(comparison);
        let mut bits = 0;
        for (i, few) in x.chunks(64).enumerate() {
            bits |= self.hits_of::<W>(self.load_few(few), comparison, with) << (i * (64 / W));
        }
        (bits ^ comparison.usual_bits()) & !u64::MAX.unbounded_shl((x.len() / W) as u32)
    }

    #[inline(always)]
    fn find<const W: usize>(self, line: &Line, comparison: &Comparison, with: With) -> usize {
        let hits = self.hits_of::<W>(self.load(line, 0), comparison, with);
        let hits = hits ^ (comparison.usual_bits() >> (64 - 64 / W));
        hits.trailing_zeros() as usize
    }

    #[inline(always)]
    fn padded(self, few: &[u8]) -> Line {
        let mut line = [0; 64];
        self.write_line(self.load_few(few), &mut line);
        line
    }

    type Screen = [V; 2];

    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> [V; 2] {
        match screen {
            Screen::None => [self.splat::<1>(0); 2],
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
        [a, b]: [V; 2],
        [even, odd]: &[Line; 2],
        [mask, _]: [V; 2],
    ) -> [V; 2] {
        let (even, odd) = (self.load(even, 0), self.load(odd, 0));
        [
            self.max_unsigned::<W>(a, self.masked::<FLIP>(even, mask)),
            self.max_unsigned::<W>(b, self.masked::<FLIP>(odd, mask)),
        ]
    }

    #[inline(always)]
    fn any_hit<const W: usize>(self, [a, b]: [V; 2], [_, least]: [V; 2]) -> bool {
        self.at_least::<W>(self.max_unsigned::<W>(a, b), least)
    }
}
