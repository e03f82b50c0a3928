//! Narrows the answers of a block to bytes, from its registers into one.

use super::{Avx512, V};
use crate::isa::Isa;
use crate::isa::x86::intrinsics::*;
use crate::lines::Block;

/// The permutation of a block of `W = 8`: pair of bytes `i` is pair `8 * (i % 4) + i / 4` before.
const PAIRS: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 32 {
        bytes[2 * i] = (8 * (i % 4) + i / 4) as u8;
        i += 1;
    }
    bytes
};

impl Avx512 {
    /// One byte for each element of a block: the bits that the top 16 bits of the mask have and the
    /// element lacks. So 0 is a hit of `ONES`. For elements of one byte, all 8 bits are compared.
    ///
    /// ```text
    /// W = 4:  line 0  h0 l0 h1 l1 ..      select the high halves of two lines:  h0 k0 h1 k1 ..
    ///         line 1  k0 m0 k1 m1 ..      two such registers, narrowed to bytes, then sorted
    /// ```
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn missing<const W: usize>(self, block: &Block<W>, top: V) -> V {
        let line = |i: usize| self.load(&block[i], 0);
        match W {
            1 => _mm512_andnot_si512(line(0), top),
            2 => {
                let narrowed = narrow_missing(line(0), line(1), top);
                _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), narrowed)
            }
            4 => {
                let narrowed = narrow_missing(
                    tops_of_2([line(0), line(1)]),
                    tops_of_2([line(2), line(3)]),
                    top,
                );
                let fours = quarters([0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]);
                let index = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
                _mm512_permutexvar_epi32(index, _mm512_shuffle_epi8(narrowed, fours))
            }
            _ => {
                let low = tops_of_4([line(0), line(1), line(2), line(3)]);
                let narrowed =
                    narrow_missing(low, tops_of_4([line(4), line(5), line(6), line(7)]), top);
                let twos = quarters([0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]);
                _mm512_permutexvar_epi16(self.load(&PAIRS, 0), _mm512_shuffle_epi8(narrowed, twos))
            }
        }
    }
}

/// The top 16 bits of each lane of two registers of 32-bit lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn tops_of_2([first, second]: [V; 2]) -> V {
    select(_mm512_set1_epi32(!0 << 16), second, _mm512_srli_epi32::<16>(first))
}

/// The top 16 bits of each lane of four registers of 64-bit lanes. 16-bit lane `4 * k + i` is the
/// top of lane `k` of register `i`.
#[inline]
#[target_feature(enable = "avx512f")]
fn tops_of_4([first, second, third, fourth]: [V; 4]) -> V {
    let (first, second) = (_mm512_srli_epi64::<48>(first), _mm512_srli_epi64::<32>(second));
    let low = select(_mm512_set1_epi64(0xFFFF_0000), second, first);
    let high = select(_mm512_set1_epi64(!0 << 48), fourth, _mm512_srli_epi64::<16>(third));
    select(_mm512_set1_epi64(!0 << 32), high, low)
}

/// For each 16-bit lane, a byte that is 0 only if the lane has all bits of `top`. `top` has no sign
/// bit, so the missing bits are not negative as a 16-bit number. Narrowing saturates them to 255,
/// and only 0 becomes 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn narrow_missing(a: V, b: V, top: V) -> V {
    _mm512_packus_epi16(_mm512_andnot_si512(a, top), _mm512_andnot_si512(b, top))
}

/// Each bit from `a` where `mask` has a 1, and from `b` elsewhere.
#[inline]
#[target_feature(enable = "avx512f")]
fn select(mask: V, a: V, b: V) -> V {
    _mm512_ternarylogic_epi32::<0b1100_1010>(mask, a, b)
}

/// The same 16 bytes in each quarter.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(bytes: [u8; 16]) -> V {
    let bytes = u128::from_le_bytes(bytes);
    let (low, high) = (bytes as i64, (bytes >> 64) as i64);
    _mm512_setr_epi64(low, high, low, high, low, high, low, high)
}
