//! The trait `Registers` for AVX-512.

use core::arch::asm;
#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx512, V};
use crate::registers::Registers;
#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
use crate::registers::Write;

/// Adds in the lanes of a mask. The compiler reorders additions that are made with the intrinsic,
/// and every second one then takes two instructions. It leaves assembly as it is.
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

// SAFETY of all blocks below, unless they say more: `self` proves the features that the intrinsics
// ask for. Loads and stores ask for no alignment; each reads or writes one array, as long as a
// register.
impl Registers for Avx512 {
    type V = V;
    /// Bit `i` for lane `i`.
    type Hits = u64;
    const BYTES: usize = 64;

    #[inline(always)]
    fn load(self, bytes: &[u8], at: usize) -> V {
        let bytes: &[u8; 64] = bytes[at..].first_chunk().unwrap();
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn splat<const W: usize>(self, bits: u64) -> V {
        // SAFETY: see above.
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
        // SAFETY: see above.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn equal<const W: usize>(self, a: V, b: V) -> u64 {
        // SAFETY: see above.
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
        // SAFETY: see above.
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
    fn add<const W: usize>(self, counts: V, hits: u64, one: V) -> V {
        // SAFETY: see above.
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
        // SAFETY: see above.
        unsafe {
            let sums = _mm512_sad_epu8(_mm512_add_epi8(a, b), _mm512_setzero_si512());
            _mm512_reduce_add_epi64(sums) as usize
        }
    }
}

#[cfg(any(feature = "replace", feature = "scale", feature = "stats"))]
impl Write for Avx512 {
    #[inline(always)]
    fn write(self, v: V, bytes: &mut [u8], at: usize) {
        self.write_line(v, bytes[at..].first_chunk_mut().unwrap());
    }
}
