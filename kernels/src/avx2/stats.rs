//! Order of lanes.

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use super::{Avx2, V};
use crate::registers::Registers;
use crate::registers::stats::Compare;

// SAFETY of all blocks below: `self` proves the features that the intrinsics ask for.
impl Compare for Avx2 {
    const WIDE: bool = false;

    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn sub<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_sub_epi8(a, b),
                2 => _mm256_sub_epi16(a, b),
                4 => _mm256_sub_epi32(a, b),
                _ => _mm256_sub_epi64(a, b),
            }
        }
    }

    #[inline(always)]
    fn min<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_min_epi8(a, b),
                2 => _mm256_min_epi16(a, b),
                4 => _mm256_min_epi32(a, b),
                _ => self.choose::<8>(a, b, self.greater::<8>(a, b)),
            }
        }
    }

    #[inline(always)]
    fn max<const W: usize>(self, a: V, b: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_max_epi8(a, b),
                2 => _mm256_max_epi16(a, b),
                4 => _mm256_max_epi32(a, b),
                _ => self.choose::<8>(b, a, self.greater::<8>(a, b)),
            }
        }
    }

    #[inline(always)]
    fn higher<const W: usize>(self, a: V, b: V) -> V {
        self.max_unsigned::<W>(a, b)
    }

    #[inline(always)]
    fn choose<const W: usize>(self, a: V, b: V, hits: V) -> V {
        self.choose_bytes(a, b, hits)
    }

    #[inline(always)]
    fn negate<const W: usize>(self, lanes: V, hits: V) -> V {
        self.sub::<W>(self.xor(lanes, hits), hits)
    }

    #[inline(always)]
    fn same(self, a: V, b: V) -> bool {
        let differs = self.xor(a, b);
        // SAFETY: see above.
        unsafe { _mm256_testz_si256(differs, differs) != 0 }
    }
}
