//! AVX2: registers of 32 bytes. A comparison makes lanes of all ones or zeros.
#![expect(unsafe_code, reason = "intrinsics, which a token of this module allows")]

mod blend;
mod narrow;
mod scale;

use core::mem::MaybeUninit;

use narrow::in_order;

use crate::isa::x86::cpuid::has_f16c;
use crate::isa::x86::intrinsics::*;
use crate::isa::x86::screen::{greatest, limits};
use crate::isa::{Isa, With, op};
use crate::lines::{Block, Line, Places, places};
use crate::mask_out::spread_eight;
use crate::question::{Compiled, On};
use crate::rule::Screen;

cpufeatures::new!(cpu, "avx2", "popcnt", "bmi1", "bmi2");

/// Proves that the CPU has AVX2, F16C, POPCNT, BMI1 and BMI2. Only `answer` makes a token. To call
/// `answer` is unsafe on a CPU without these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

// SAFETY: `detect` asks for all features that `answer` enables.
unsafe impl Compiled for Avx2 {
    const NAME: &'static str = "avx2";
    const SKIPS_FROM: usize = 2048;

    // Not inlined: it is called for AVX-512 too, and each of them for a name and without a name.
    #[inline(never)]
    fn detect() -> bool {
        cpu::get() && has_f16c()
    }

    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,f16c")]
    unsafe fn answer<Q: On<Self>, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer {
        Q::vector::<W>(Avx2(()), x, asked, out)
    }
}

type V = __m256i;

impl Isa for Avx2 {
    type V = V;
    /// -1 in every lane that is a hit, else 0.
    type Hits = V;
    const BYTES: usize = 32;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 32] = bytes[at..].first_chunk().unwrap();
        // SAFETY: `self` proves AVX2. The load takes 32 bytes at any address.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: `self` proves AVX2.
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
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves AVX2.
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
        // SAFETY: `self` proves AVX2.
        unsafe {
            match W {
                1 => _mm256_cmpgt_epi8(a, b),
                2 => _mm256_cmpgt_epi16(a, b),
                4 => _mm256_cmpgt_epi32(a, b),
                _ => _mm256_cmpgt_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn tilt<const W: usize>(self, masked: V, x: V, tilt: V) -> V {
        let negative = self.greater::<W>(self.splat::<1>(0), x);
        self.sub::<W>(masked, self.and(negative, tilt))
    }

    /// Subtracts -1, so `one` is not needed.
    #[inline(always)]
    fn add<const W: usize>(self, counts: V, hits: V, _: V) -> V {
        self.sub::<W>(counts, hits)
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        let mut lanes = [0u64; 4];
        // SAFETY: `self` proves AVX2. The store takes 32 bytes at any address.
        unsafe {
            let sums = _mm256_sad_epu8(_mm256_add_epi8(a, b), _mm256_setzero_si256());
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums);
        }
        lanes.iter().sum::<u64>() as usize
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
        match W {
            8 => self.signs::<4>(self.greater::<4>(limit, greatest)) & 0xAA != 0xAA,
            _ => self.signs::<1>(self.greater::<W>(greatest, limit)) != 0,
        }
    }

    #[inline(always)]
    fn line_bits<const W: usize, const OP: u8>(self, line: &Line, with: &With<V>) -> u64 {
        let a = self.hits::<W, OP>(self.load(line, 0), with);
        let b = self.hits::<W, OP>(self.load(line, 32), with);
        match W {
            2 => self.signs::<1>(self.narrow(a, b)),
            _ => self.signs::<W>(a) | self.signs::<W>(b) << (32 / W),
        }
    }

    #[inline(always)]
    fn pack<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: &With<V>,
        out: &mut [u8; 8],
    ) {
        let bytes = block.as_flattened();
        for (half, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let bits = if OP == op::ONES {
                let missing = self.missing::<W>(bytes, half, with.top);
                let bits = self.signs::<1>(self.equal::<1>(missing, self.splat::<1>(0)));
                // Inverts a number, since the vector ports are what this loop waits for.
                bits ^ with.opposite
            } else {
                self.signs::<1>(self.hit_bytes::<W, OP>(bytes, half, with))
            };
            *out = (bits as u32).to_le_bytes();
        }
    }

    #[inline(always)]
    fn answer_group<const W: usize, const OP: u8>(
        self,
        lines: &[Line],
        with: &With<V>,
        out: &mut Places,
    ) {
        let bytes = lines.as_flattened();
        for (i, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let one = with.one_byte;
            // SAFETY: `self` proves AVX2.
            let answers = unsafe {
                match OP {
                    // Saturates: 1 - 0 is 1, 1 - anything else is 0.
                    op::ONES => _mm256_subs_epu8(one, self.missing::<W>(bytes, i, with.top)),
                    op::NOT_ONES => _mm256_min_epu8(one, self.missing::<W>(bytes, i, with.top)),
                    _ => self.and(self.hit_bytes::<W, OP>(bytes, i, with), one),
                }
            };
            self.write(answers, out);
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
        if W == 8 {
            return spread_eight(self.line_bits::<8, OP>(line, with), places(out, at));
        }
        let a = self.hits::<W, OP>(self.load(line, 0), with);
        let b = self.hits::<W, OP>(self.load(line, 32), with);
        let one = with.one_byte;
        match W {
            1 => {
                let halves = places::<64>(out, at).as_chunks_mut().0;
                self.write(self.and(a, one), &mut halves[0]);
                self.write(self.and(b, one), &mut halves[1]);
            }
            2 => self.write(self.and(self.narrow(a, b), one), places(out, at)),
            // SAFETY: `self` proves AVX2. The store takes 16 bytes at any address.
            _ => unsafe {
                let narrow = _mm256_packs_epi32(a, b);
                let narrow = in_order::<4>(_mm256_packs_epi16(narrow, narrow));
                let answers = _mm256_castsi256_si128(self.and(narrow, one));
                _mm_storeu_si128(places::<16>(out, at).as_mut_ptr().cast(), answers);
            },
        }
    }

    #[inline(always)]
    fn fill(self, answer: V, out: &mut [MaybeUninit<bool>; 64]) {
        for half in out.as_chunks_mut().0 {
            self.write(answer, half);
        }
    }
}

impl Avx2 {
    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe {
            match W {
                1 => _mm256_sub_epi8(a, b),
                2 => _mm256_sub_epi16(a, b),
                4 => _mm256_sub_epi32(a, b),
                _ => _mm256_sub_epi64(a, b),
            }
        }
    }

    /// Bit `i` is the sign of lane `i`. There is no instruction for `W` of 2.
    #[inline(always)]
    fn signs<const W: usize>(self, v: V) -> u64 {
        // SAFETY: `self` proves AVX2.
        let bits = unsafe {
            match W {
                1 => _mm256_movemask_epi8(v),
                4 => _mm256_movemask_ps(_mm256_castsi256_ps(v)),
                _ => _mm256_movemask_pd(_mm256_castsi256_pd(v)),
            }
        };
        bits.cast_unsigned().into()
    }

    /// The hits of `a` and then of `b`, from lanes of 2 bytes into bytes.
    #[inline(always)]
    fn narrow(self, a: V, b: V) -> V {
        // SAFETY: `self` proves AVX2.
        unsafe { in_order::<2>(_mm256_packs_epi16(a, b)) }
    }

    #[inline(always)]
    fn write(self, answers: V, out: &mut [MaybeUninit<bool>; 32]) {
        // SAFETY: `self` proves AVX2. The store takes 32 bytes at any address.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), answers) }
    }
}
