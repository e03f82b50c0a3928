//! Packs the answers of a block from its registers.

use super::{Avx512, V};
use crate::isa::Isa;
use crate::isa::x86::intrinsics::*;
use crate::lines::Block;

// SAFETY of all blocks below: `self` proves the features that the intrinsics ask for; each load
// reads one array of 16 or 64 bytes and asks for no alignment.
impl Avx512 {
    /// One byte for each element of a block: the bits that the top 16 bits of the mask have and the
    /// element lacks. So 0 is a hit of `ONES`. For elements of one byte, all 8 bits are compared.
    ///
    /// ```text
    /// W = 4:  line 0  h0 l0 h1 l1 ..      select the high halves of two lines:  h0 k0 h1 k1 ..
    ///         line 1  k0 m0 k1 m1 ..      two such registers, packed to bytes, then sorted
    /// ```
    #[inline(always)]
    pub(super) fn missing<const W: usize>(self, block: &Block<W>, top: V) -> V {
        // SAFETY: see above.
        unsafe {
            match W {
                1 => _mm512_andnot_si512(self.load(&block[0], 0), top),
                2 => {
                    let packed = pack(self.load(&block[0], 0), self.load(&block[1], 0), top);
                    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed)
                }
                4 => {
                    let packed = pack(self.two_tops(block, 0), self.two_tops(block, 2), top);
                    let fours = quarters([0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]);
                    let index =
                        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
                    _mm512_permutexvar_epi32(index, _mm512_shuffle_epi8(packed, fours))
                }
                _ => {
                    let packed = pack(self.four_tops(block, 0), self.four_tops(block, 4), top);
                    let twos = quarters([0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]);
                    _mm512_permutexvar_epi16(sixteens(), _mm512_shuffle_epi8(packed, twos))
                }
            }
        }
    }

    /// The top 16 bits of each lane of two lines of 32-bit lanes.
    #[inline(always)]
    fn two_tops<const W: usize>(self, block: &Block<W>, i: usize) -> V {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_srli_epi32::<16>(self.load(&block[i], 0));
            select(_mm512_set1_epi32(!0 << 16), self.load(&block[i + 1], 0), low)
        }
    }

    /// The top 16 bits of each lane of four lines of 64-bit lanes. 16-bit lane `4 * k + j` is the
    /// top of lane `k` of line `i + j`.
    #[inline(always)]
    fn four_tops<const W: usize>(self, block: &Block<W>, i: usize) -> V {
        // SAFETY: see above.
        unsafe {
            let first = _mm512_srli_epi64::<48>(self.load(&block[i], 0));
            let second = _mm512_srli_epi64::<32>(self.load(&block[i + 1], 0));
            let third = _mm512_srli_epi64::<16>(self.load(&block[i + 2], 0));
            let low = select(_mm512_set1_epi64(0xFFFF_0000), second, first);
            let high = select(_mm512_set1_epi64(!0 << 48), self.load(&block[i + 3], 0), third);
            select(_mm512_set1_epi64(!0 << 32), high, low)
        }
    }
}

/// For each 16-bit lane, a byte that is 0 only if the lane has all bits of `top`. `top` has no sign
/// bit, so the missing bits are not negative as a 16-bit number. The pack saturates them to 255,
/// and only 0 becomes 0.
#[inline(always)]
unsafe fn pack(a: V, b: V, top: V) -> V {
    // SAFETY: the caller has AVX-512 BW.
    unsafe { _mm512_packus_epi16(_mm512_andnot_si512(a, top), _mm512_andnot_si512(b, top)) }
}

/// Each bit from `a` where `mask` has a 1, and from `b` elsewhere.
#[inline(always)]
unsafe fn select(mask: V, a: V, b: V) -> V {
    // SAFETY: the caller has AVX-512 F.
    unsafe { _mm512_ternarylogic_epi32::<0b1100_1010>(mask, a, b) }
}

/// The same 16 bytes in each quarter.
#[inline(always)]
unsafe fn quarters(bytes: [i8; 16]) -> V {
    // SAFETY: the caller has AVX-512 F; `bytes` has 16 bytes.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

/// The permutation of the pairs of bytes of a block of `W = 8`.
#[inline(always)]
unsafe fn sixteens() -> V {
    const INDEX: [i16; 32] = [
        0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27, //
        4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31,
    ];
    // SAFETY: the caller has AVX-512 F; `INDEX` has 64 bytes.
    unsafe { _mm512_loadu_si512(INDEX.as_ptr().cast()) }
}
