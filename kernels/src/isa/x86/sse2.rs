//! SSE2: registers of 16 bytes, on every x86-64 CPU. Answers inputs of fewer than 64 bytes on all
//! of them, and longer ones where the CPU lacks AVX2. A comparison makes lanes of all ones or
//! zeros.
#![expect(unsafe_code, reason = "intrinsics that the target has")]

use core::mem::MaybeUninit;

use crate::isa::x86::intrinsics::*;
use crate::isa::{Isa, Register, With};
use crate::lines::{Line, Places, places};
use crate::mask_out::spread_bytes;
use crate::question::{Compiled, On};
use crate::rule::Screen;

/// Proves that the target has SSE2: this module is compiled for no other target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sse2(());

// SAFETY: the target has SSE2, or this module would not be compiled.
unsafe impl Compiled for Sse2 {
    const NAME: &'static str = "sse2";

    fn detect() -> bool {
        true
    }

    unsafe fn answer<Q: On<Self>, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer {
        Q::vector::<W>(Sse2(()), x, asked, out)
    }
}

type V = __m128i;

impl Isa for Sse2 {
    type V = V;
    /// -1 in every lane that is a hit, else 0.
    type Hits = V;
    const BYTES: usize = 16;
    /// Few CPUs with SSE2 lack AVX2, so its code is small.
    const GROUPS: bool = false;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 16] = bytes[at..].first_chunk().unwrap();
        // SAFETY: `self` proves SSE2. The load takes 16 bytes at any address.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe {
            match W {
                1 => _mm_set1_epi8(bits as i8),
                2 => _mm_set1_epi16(bits as i16),
                4 => _mm_set1_epi32(bits as i32),
                _ => _mm_set1_epi64x(bits as i64),
            }
        }
    }

    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe { _mm_and_si128(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe { _mm_xor_si128(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe {
            match W {
                1 => _mm_cmpeq_epi8(a, b),
                2 => _mm_cmpeq_epi16(a, b),
                4 => _mm_cmpeq_epi32(a, b),
                _ => {
                    // Both halves are equal.
                    let halves = _mm_cmpeq_epi32(a, b);
                    self.and(halves, _mm_shuffle_epi32::<0b10_11_00_01>(halves))
                }
            }
        }
    }

    #[inline(always)]
    fn greater<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe {
            match W {
                1 => _mm_cmpgt_epi8(a, b),
                2 => _mm_cmpgt_epi16(a, b),
                4 => _mm_cmpgt_epi32(a, b),
                _ => {
                    // The sign of b if both signs differ, else of b - a, in both halves of a lane.
                    let same = _mm_andnot_si128(self.xor(a, b), _mm_sub_epi64(b, a));
                    let sign = self.either(_mm_andnot_si128(a, b), same);
                    _mm_shuffle_epi32::<0b11_11_01_01>(_mm_srai_epi32::<31>(sign))
                }
            }
        }
    }

    #[inline(always)]
    fn tilt<const W: usize>(self, masked: V, x: V, tilt: V) -> V {
        self.sub::<W>(masked, self.and(self.greater::<W>(self.splat::<1>(0), x), tilt))
    }

    /// Subtracts -1, so `one` is not needed.
    #[inline(always)]
    fn add<const W: usize>(self, counts: V, hits: V, _: V) -> V {
        self.sub::<W>(counts, hits)
    }

    #[inline(always)]
    fn sum(self, [a, b]: [V; 2]) -> usize {
        // SAFETY: `self` proves SSE2.
        unsafe {
            // The sum of two counters may exceed a byte.
            let zero = _mm_setzero_si128();
            let sums = _mm_add_epi64(_mm_sad_epu8(a, zero), _mm_sad_epu8(b, zero));
            (self.low(sums) + self.low(_mm_unpackhi_epi64(sums, sums))) as usize
        }
    }

    /// SSE2 cannot compare 8 bytes at once, so both halves of an element are compared. An element
    /// may be above the limit if its upper half is at least the upper half of `limit + 1`. The
    /// lower half gets the greatest integer as its limit, so it never passes.
    #[inline(always)]
    fn screen<const W: usize>(self, Screen { mask, flip, mut limit }: Screen) -> [V; 3] {
        if W == 8 {
            let upper = ((limit + 1) >> 32) - 1;
            limit = upper << 32 | 0x7FFF_FFFF;
        }
        [mask, flip as u64, limit as u64].map(|bits| self.splat::<W>(bits))
    }

    /// SSE2 has a maximum for lanes of 16 bits only.
    #[inline(always)]
    fn may_hit<'x, const W: usize, const FLIP: bool>(
        self,
        lines: impl IntoIterator<Item = &'x Line>,
        [mask, flip, limit]: [V; 3],
    ) -> bool {
        let mut any = self.splat::<1>(0);
        for line in lines {
            for at in [0, 16, 32, 48] {
                let mut lanes = self.and(self.load(line, at), mask);
                if FLIP {
                    lanes = self.xor(lanes, flip);
                }
                let above = match W {
                    8 => self.greater::<4>(lanes, limit),
                    _ => self.greater::<W>(lanes, limit),
                };
                any = self.either(any, above);
            }
        }
        self.is_any(any)
    }

    #[inline(always)]
    fn line_bits<const W: usize, const OP: u8>(self, line: &Line, with: &With<V>) -> u64 {
        let [a, b, c, d] = self.line_hits::<W, OP>(line, with);
        let bits = |low, high| self.lane_bits::<1>(low) | self.lane_bits::<1>(high) << 16;
        match W {
            1 => bits(a, b) | bits(c, d) << 32,
            2 => bits(self.narrow(a, b), self.narrow(c, d)),
            4 => self.lane_bits::<1>(self.narrow_four([a, b, c, d])),
            _ => self.lane_bits::<2>(self.narrow_four([a, b, c, d])),
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
        let [a, b, c, d] = self.line_hits::<W, OP>(line, with);
        let one = with.one_byte;
        match W {
            1 => {
                let quarters = places::<64>(out, at).as_chunks_mut().0;
                for (hits, quarter) in [a, b, c, d].into_iter().zip(quarters) {
                    self.write(self.and(hits, one), quarter);
                }
            }
            2 => {
                let halves = places::<32>(out, at).as_chunks_mut().0;
                self.write(self.and(self.narrow(a, b), one), &mut halves[0]);
                self.write(self.and(self.narrow(c, d), one), &mut halves[1]);
            }
            4 => self.write(self.and(self.narrow_four([a, b, c, d]), one), places(out, at)),
            _ => {
                let halves = self.narrow_four([a, b, c, d]);
                spread_bytes(self.low(self.narrow(halves, halves)), places::<8>(out, at));
            }
        }
    }

    #[inline(always)]
    fn fill(self, answer: V, out: &mut [MaybeUninit<bool>; 64]) {
        for quarter in out.as_chunks_mut().0 {
            self.write(answer, quarter);
        }
    }
}

impl Register for Sse2 {
    const HERE: Self = Self(());

    #[inline(always)]
    fn pair(self, low: u64, high: u64) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
    }

    #[inline(always)]
    fn either(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe { _mm_or_si128(a, b) }
    }

    #[inline(always)]
    fn is_any(self, hits: V) -> bool {
        self.lane_bits::<1>(hits) != 0
    }

    #[inline(always)]
    fn lane_bits<const W: usize>(self, hits: V) -> u64 {
        // SAFETY: `self` proves SSE2.
        let bits = unsafe {
            match W {
                1 => _mm_movemask_epi8(hits),
                2 => _mm_movemask_epi8(_mm_packs_epi16(hits, _mm_setzero_si128())),
                4 => _mm_movemask_ps(_mm_castsi128_ps(hits)),
                _ => _mm_movemask_pd(_mm_castsi128_pd(hits)),
            }
        };
        bits as u64
    }

    #[inline(always)]
    fn ones<const W: usize>(self, hits: V) -> V {
        let bytes = match W {
            1 => hits,
            2 => self.narrow(hits, hits),
            4 => self.narrow_four([hits; 4]),
            _ => {
                let halves = self.narrow_four([hits; 4]);
                self.narrow(halves, halves)
            }
        };
        self.and(bytes, self.splat::<1>(1))
    }

    #[inline(always)]
    fn low(self, v: V) -> u64 {
        let mut word = [0; 8];
        // SAFETY: `self` proves SSE2. The store takes 8 bytes at any address.
        unsafe { _mm_storel_epi64(word.as_mut_ptr().cast(), v) }
        u64::from_le_bytes(word)
    }

    #[inline(always)]
    fn write(self, ones: V, out: &mut [MaybeUninit<bool>; 16]) {
        // SAFETY: `self` proves SSE2. The store takes 16 bytes at any address.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), ones) }
    }
}

impl Sse2 {
    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe {
            match W {
                1 => _mm_sub_epi8(a, b),
                2 => _mm_sub_epi16(a, b),
                4 => _mm_sub_epi32(a, b),
                _ => _mm_sub_epi64(a, b),
            }
        }
    }

    /// The hits of the four registers of a line.
    #[inline(always)]
    fn line_hits<const W: usize, const OP: u8>(self, line: &Line, with: &With<V>) -> [V; 4] {
        let at = |at| self.hits::<W, OP>(self.load(line, at), with);
        [at(0), at(16), at(32), at(48)]
    }

    /// The hits of `a` and then of `b`, from lanes of 2 bytes into bytes.
    #[inline(always)]
    fn narrow(self, a: V, b: V) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe { _mm_packs_epi16(a, b) }
    }

    /// The hits of four registers, from lanes of 4 bytes into bytes, or of 8 bytes into 2 bytes:
    /// both halves of a lane are alike, and stay so.
    #[inline(always)]
    fn narrow_four(self, [a, b, c, d]: [V; 4]) -> V {
        // SAFETY: `self` proves SSE2.
        unsafe { _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)) }
    }
}
