//! Packs answers: of 32 elements from several registers into one, and of one register into bits.

use super::{Avx2, V};
use crate::isa::x86::intrinsics::*;
use crate::isa::{Isa, With};

// SAFETY of all blocks below: `self` proves the features that the intrinsics ask for.
impl Avx2 {
    /// -1 or 0 for each element of half a block, as a byte.
    #[inline(always)]
    pub(super) fn packed<const W: usize, const OP: u8>(
        self,
        bytes: &[u8],
        half: usize,
        with: &With<V>,
    ) -> V {
        let at = 32 * W * half;
        // SAFETY: see above.
        unsafe {
            match W {
                1 => self.hits_at::<W, OP>(bytes, at, with),
                2 => self.in_order(_mm256_packs_epi16(
                    self.hits_at::<W, OP>(bytes, at, with),
                    self.hits_at::<W, OP>(bytes, at + 32, with),
                )),
                4 => {
                    let low = self.two_hits::<W, OP>(bytes, at, with);
                    let high = self.two_hits::<W, OP>(bytes, at + 64, with);
                    let index = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
                    _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), index)
                }
                _ => {
                    let low = self.four_hits::<W, OP>(bytes, at, with);
                    let high = self.four_hits::<W, OP>(bytes, at + 128, with);
                    self.in_fours(_mm256_packs_epi16(low, high))
                }
            }
        }
    }

    /// The hits of the 32 bytes at `at`.
    #[inline(always)]
    fn hits_at<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: &With<V>) -> V {
        self.hits::<W, OP>(self.load(bytes, at), with)
    }

    /// Two registers of 32-bit lanes, packed.
    #[inline(always)]
    fn two_hits<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: &With<V>) -> V {
        let (low, high) =
            (self.hits_at::<W, OP>(bytes, at, with), self.hits_at::<W, OP>(bytes, at + 32, with));
        // SAFETY: see above.
        unsafe { _mm256_packs_epi32(low, high) }
    }

    /// Four registers of 64-bit lanes, blended.
    #[inline(always)]
    fn four_hits<const W: usize, const OP: u8>(self, bytes: &[u8], at: usize, with: &With<V>) -> V {
        // SAFETY: see above.
        unsafe {
            blend(
                self.hits_at::<W, OP>(bytes, at, with),
                self.hits_at::<W, OP>(bytes, at + 32, with),
                self.hits_at::<W, OP>(bytes, at + 64, with),
                self.hits_at::<W, OP>(bytes, at + 96, with),
            )
        }
    }

    /// One byte for each element of half a block: the bits that the top 16 bits of the mask have
    /// and the element lacks. So 0 is a hit of `ONES`.
    ///
    /// ```text
    /// W = 4:  loaded 2 bytes further on  h0 l1 h1 l2 ..    every other 16-bit lane of two loads:
    ///         the next 32 bytes          m0 k0 m1 k1 ..    h0 k0 h1 k1 ..
    /// ```
    #[inline(always)]
    pub(super) fn missing<const W: usize>(self, bytes: &[u8], half: usize, top: V) -> V {
        let at = 32 * W * half;
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm256_andnot_si256(self.load(bytes, at), top),
                2 => self.in_order(pack(self.load(bytes, at), self.load(bytes, at + 32), top)),
                4 => {
                    let packed = pack(self.two_tops(bytes, at), self.two_tops(bytes, at + 64), top);
                    let twos = self.halves([0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]);
                    _mm256_shuffle_epi8(self.in_order(packed), twos)
                }
                _ => {
                    let (low, high) = (self.four_tops(bytes, at), self.four_tops(bytes, at + 128));
                    self.in_fours(pack(low, high, top))
                }
            }
        }
    }

    /// The top 16 bits of each lane of two registers of 32-bit lanes.
    #[inline(always)]
    fn two_tops(self, bytes: &[u8], at: usize) -> V {
        let (first, second) = (self.load(bytes, at + 2), self.load(bytes, at + 32));
        // SAFETY: see above.
        unsafe { _mm256_blend_epi16::<0b1010_1010>(first, second) }
    }

    /// The top 16 bits of each lane of four registers of 64-bit lanes. The offset of load `i`
    /// brings the top of lane `k` to 16-bit lane `4 * k + i`.
    #[inline(always)]
    fn four_tops(self, bytes: &[u8], at: usize) -> V {
        // SAFETY: see above.
        unsafe {
            blend(
                self.load(bytes, at + 6),
                self.load(bytes, at + 36),
                self.load(bytes, at + 66),
                self.load(bytes, at + 96),
            )
        }
    }

    /// Restores the order of the answers in two registers that were packed from four registers of
    /// 64-bit lanes each.
    #[inline(always)]
    fn in_fours(self, packed: V) -> V {
        let fours = self.halves([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        // SAFETY: see above.
        unsafe { _mm256_shuffle_epi8(self.in_order(packed), fours) }
    }

    /// Undoes the interleaving of a pack: quarters 0 2 1 3.
    #[inline(always)]
    pub(super) fn in_order(self, packed: V) -> V {
        // SAFETY: see above.
        unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(packed) }
    }

    /// The same 16 bytes in both halves.
    #[inline(always)]
    fn halves(self, bytes: [i8; 16]) -> V {
        // SAFETY: see above; `bytes` has 16 bytes, and the load asks for no alignment.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }
}

/// For each 16-bit lane, a byte that is 0 only if the lane has all bits of `top`. `top` has no sign
/// bit, so the missing bits are not negative as a 16-bit number. The pack saturates them to 255,
/// and only 0 becomes 0.
#[inline(always)]
unsafe fn pack(a: V, b: V, top: V) -> V {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_packus_epi16(_mm256_andnot_si256(a, top), _mm256_andnot_si256(b, top)) }
}

/// 16-bit lane `4 * k + i` of register `i`, for every `k`.
#[inline(always)]
unsafe fn blend(first: V, second: V, third: V, fourth: V) -> V {
    // SAFETY: the caller has AVX2.
    unsafe {
        let low = _mm256_blend_epi16::<0b0010_0010>(first, second);
        let high = _mm256_blend_epi16::<0b1000_1000>(third, fourth);
        _mm256_blend_epi16::<0b1100_1100>(low, high)
    }
}
