//! AVX-512 (F, BW, VL and DQ): registers of 64 bytes. A comparison makes a mask register.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

mod blend;
mod narrow;
mod scale;

use core::arch::asm;
use core::mem::MaybeUninit;

use crate::isa::x86::avx2::Avx2;
use crate::isa::x86::intrinsics::*;
use crate::isa::x86::screen::{greatest, limits};
use crate::isa::{Isa, With, op};
use crate::lines::{Line, Places, places};
use crate::question::{Compiled, On};
use crate::rule::Screen;

cpufeatures::new!(cpu, "avx512f", "avx512bw", "avx512vl", "avx512dq", "fma");

/// Proves that the CPU has AVX-512 F, BW, VL and DQ, FMA, F16C, AVX2, POPCNT, BMI1 and BMI2. Only
/// `answer` makes a token. To call `answer` is unsafe on a CPU without these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

// SAFETY: `detect` asks for all features that `answer` enables: those of AVX2 by `Avx2::detect`.
unsafe impl Compiled for Avx512 {
    const NAME: &'static str = "avx512";
    const SKIPS_FROM: usize = 8192;

    fn detect() -> bool {
        Avx2::detect() && cpu::get()
    }

    // `detect` asks for these features, and for FMA and F16C, which the compiler takes AVX-512 F to
    // imply.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,popcnt,bmi1,bmi2")]
    unsafe fn answer<Q: On<Self>, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer {
        Q::vector::<W>(Avx512(()), x, asked, out)
    }
}

type V = __m512i;

/// Adds in the lanes of a mask. The compiler would reorder additions made with the intrinsic, and
/// then use two instructions for every second one. It leaves assembly as it is.
macro_rules! masked_add {
    ($($name:ident $mnemonic:literal $mask:ty;)*) => { $(
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn $name(mut counts: V, hits: $mask, one: V) -> V {
            // SAFETY: the instruction needs AVX-512 F and BW, which this function has. It reads and
            // writes registers only. The class `kreg` has no k0, which would mean "no mask".
            unsafe {
                asm!(
                    concat!($mnemonic, " {counts}{{{hits}}}, {counts}, {one}"),
                    counts = inout(zmm_reg) counts, hits = in(kreg) hits, one = in(zmm_reg) one,
                    options(pure, nomem, nostack, preserves_flags),
                )
            }
            counts
        }
    )* };
}
masked_add! {
    masked_add_8 "vpaddb" u64;
    masked_add_16 "vpaddw" u32;
    masked_add_32 "vpaddd" u16;
    masked_add_64 "vpaddq" u8;
}

impl Isa for Avx512 {
    type V = V;
    /// Bit `i` for lane `i`.
    type Hits = u64;
    const BYTES: usize = 64;
    const MASK_REGISTERS: bool = true;
    const COUNTERS_FROM: usize = 1024;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &Line = bytes[at..].first_chunk().unwrap();
        // SAFETY: `self` proves AVX-512 F. The load takes 64 bytes at any address.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match W {
                1 => _mm512_set1_epi8(bits as i8),
                2 => _mm512_set1_epi16(bits as i16),
                4 => _mm512_set1_epi32(bits as i32),
                _ => _mm512_set1_epi64(bits as i64),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match W {
                1 => _mm512_cmpeq_epi8_mask(a, b),
                2 => _mm512_cmpeq_epi16_mask(a, b).into(),
                4 => _mm512_cmpeq_epi32_mask(a, b).into(),
                _ => _mm512_cmpeq_epi64_mask(a, b).into(),
            }
        }
    }

    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match W {
                1 => _mm512_cmpgt_epi8_mask(a, b),
                2 => _mm512_cmpgt_epi16_mask(a, b).into(),
                4 => _mm512_cmpgt_epi32_mask(a, b).into(),
                _ => _mm512_cmpgt_epi64_mask(a, b).into(),
            }
        }
    }

    #[inline(always)]
    fn tilt<const W: usize>(self, masked: V, x: V, tilt: V) -> V {
        self.minus::<W>(x, masked, tilt, masked)
    }

    #[inline(always)]
    fn add<const W: usize>(self, counts: V, hits: u64, one: V) -> V {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            match W {
                1 => masked_add_8(counts, hits, one),
                2 => masked_add_16(counts, hits as u32, one),
                4 => masked_add_32(counts, hits as u16, one),
                _ => masked_add_64(counts, hits as u8, one),
            }
        }
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        // SAFETY: `self` proves AVX-512 F and BW.
        unsafe {
            let sums = _mm512_sad_epu8(_mm512_add_epi8(a, b), _mm512_setzero_si512());
            _mm512_reduce_add_epi64(sums) as usize
        }
    }

    #[inline(always)]
    fn screen<const W: usize>(self, screen: Screen) -> [V; 3] {
        limits::<_, W>(self, screen)
    }

    #[inline(always)]
    fn may_hit<'x, const W: usize, const FLIP: bool>(
        self,
        lines: impl IntoIterator<Item = &'x Line>,
        [mask, flip, limit]: [V; 3],
    ) -> bool {
        let greatest = greatest::<_, W, FLIP>(self, lines, mask, flip);
        if W == 8 {
            // Compares the upper halves under a mask: a comparison and a negation would take two
            // steps.
            // SAFETY: `self` proves AVX-512 F and BW.
            return unsafe { _mm512_mask_cmple_epi32_mask(0xAAAA, limit, greatest) } != 0;
        }
        self.greater::<W>(greatest, limit) != 0
    }

    #[inline(always)]
    fn line_bits<const W: usize, const OP: u8>(self, line: &Line, with: &With<V>) -> u64 {
        self.hits::<W, OP>(self.load(line, 0), with)
    }

    #[inline(always)]
    fn answer_group<const W: usize, const OP: u8>(
        self,
        lines: &[Line],
        with: &With<V>,
        out: &mut Places,
    ) {
        if OP == op::ONES || OP == op::NOT_ONES {
            for (block, out) in lines.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
                let one = with.one_byte;
                // SAFETY: `self` proves AVX-512 F and BW.
                let answers = unsafe {
                    match OP {
                        // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                        op::ONES => _mm512_subs_epu8(one, self.missing::<W>(block, with.top)),
                        _ => _mm512_min_epu8(one, self.missing::<W>(block, with.top)),
                    }
                };
                self.fill(answers, out);
            }
        } else {
            // Stores each register without waiting for the others.
            for (i, line) in lines.iter().enumerate() {
                self.answer_line::<W, OP>(line, with, out, i * (64 / W));
            }
        }
    }

    #[inline(always)]
    fn answer_line<const W: usize, const OP: u8>(
        self,
        line: &Line,
        with: &With<V>,
        out: &mut Places,
        at: usize,
    ) {
        let (answers, one) = (self.line_bits::<W, OP>(line, with), with.one_byte);
        // SAFETY: `self` proves AVX-512 F, BW and VL. Each store takes the bytes of its places, at
        // any address.
        unsafe {
            match W {
                1 => _mm512_storeu_si512(
                    places::<64>(out, at).as_mut_ptr().cast(),
                    _mm512_maskz_mov_epi8(answers, one),
                ),
                2 => _mm256_storeu_si256(
                    places::<32>(out, at).as_mut_ptr().cast(),
                    _mm256_maskz_mov_epi8(answers as u32, _mm512_castsi512_si256(one)),
                ),
                4 => _mm_storeu_si128(
                    places::<16>(out, at).as_mut_ptr().cast(),
                    _mm_maskz_mov_epi8(answers as u16, _mm512_castsi512_si128(one)),
                ),
                _ => _mm_storel_epi64(
                    places::<8>(out, at).as_mut_ptr().cast(),
                    _mm_maskz_mov_epi8(answers as u16, _mm512_castsi512_si128(one)),
                ),
            }
        }
    }

    #[inline(always)]
    fn fill(self, answer: V, out: &mut [MaybeUninit<bool>; 64]) {
        // SAFETY: `self` proves AVX-512 F. The store takes 64 bytes at any address.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), answer) }
    }
}

impl Avx512 {
    /// `a - b` in the lanes where the sign bit of `x` is set, else `other`.
    #[inline(always)]
    fn minus<const W: usize>(self, x: V, a: V, b: V, other: V) -> V {
        // SAFETY: `self` proves AVX-512 F, BW and DQ.
        unsafe {
            match W {
                1 => _mm512_mask_sub_epi8(other, _mm512_movepi8_mask(x), a, b),
                2 => _mm512_mask_sub_epi16(other, _mm512_movepi16_mask(x), a, b),
                4 => _mm512_mask_sub_epi32(other, _mm512_movepi32_mask(x), a, b),
                _ => _mm512_mask_sub_epi64(other, _mm512_movepi64_mask(x), a, b),
            }
        }
    }
}
