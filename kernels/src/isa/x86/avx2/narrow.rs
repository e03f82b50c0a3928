//! Narrows the answers of 32 elements to bytes, from several registers into one.

use super::{Avx2, V};
use crate::isa::x86::intrinsics::*;
use crate::isa::{Isa, With};

impl Avx2 {
    /// -1 or 0 for each element of half a block, as a byte.
    #[inline(always)]
    pub(super) fn hit_bytes<const W: usize, const OP: u8>(
        self,
        bytes: &[u8],
        half: usize,
        with: &With<V>,
    ) -> V {
        let hits = |i| self.hits::<W, OP>(self.load(bytes, 32 * (W * half + i)), with);
        // SAFETY: `self` proves AVX2.
        unsafe {
            match W {
                1 => hits(0),
                2 => self.narrow(hits(0), hits(1)),
                4 => {
                    let low = _mm256_packs_epi32(hits(0), hits(1));
                    let high = _mm256_packs_epi32(hits(2), hits(3));
                    in_order::<4>(_mm256_packs_epi16(low, high))
                }
                _ => {
                    let low = blend(hits(0), hits(1), hits(2), hits(3));
                    let high = blend(hits(4), hits(5), hits(6), hits(7));
                    in_order::<8>(_mm256_packs_epi16(low, high))
                }
            }
        }
    }

    /// One byte for each element of half a block: the bits that the top 16 bits of the mask have
    /// and the element lacks. So 0 is a hit of `ONES`.
    ///
    /// ```text
    /// W = 4:  loaded 2 bytes further on  h0 l1 h1 l2 ..    every other 16-bit lane of two loads:
    ///         the next 32 bytes          m0 k0 m1 k1 ..    h0 k0 h1 k1 ..
    /// W = 8:  the offset of load `i` brings the top of lane `k` to 16-bit lane `4 * k + i`
    /// ```
    #[inline(always)]
    pub(super) fn missing<const W: usize>(self, bytes: &[u8], half: usize, top: V) -> V {
        let load = |at| self.load(bytes, 32 * W * half + at);
        // SAFETY: `self` proves AVX2.
        unsafe {
            match W {
                1 => _mm256_andnot_si256(load(0), top),
                2 => in_order::<2>(narrow_missing(load(0), load(32), top)),
                4 => {
                    let low = _mm256_blend_epi16::<0b1010_1010>(load(2), load(32));
                    let high = _mm256_blend_epi16::<0b1010_1010>(load(66), load(96));
                    let twos = halves([0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]);
                    _mm256_shuffle_epi8(in_order::<2>(narrow_missing(low, high, top)), twos)
                }
                _ => {
                    let low = blend(load(6), load(36), load(66), load(96));
                    let high = blend(load(134), load(164), load(194), load(224));
                    in_order::<8>(narrow_missing(low, high, top))
                }
            }
        }
    }
}

/// Brings the bytes of narrowed lanes of `W` bytes into the order of the lanes. An instruction that
/// narrows leaves quarters 0 2 1 3.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn in_order<const W: usize>(narrowed: V) -> V {
    match W {
        2 => _mm256_permute4x64_epi64::<0b11_01_10_00>(narrowed),
        4 => _mm256_permutevar8x32_epi32(narrowed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)),
        _ => {
            let fours = halves([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
            _mm256_shuffle_epi8(in_order::<2>(narrowed), fours)
        }
    }
}

/// The same 16 bytes in both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(bytes: [u8; 16]) -> V {
    let bytes = u128::from_le_bytes(bytes);
    let (low, high) = (bytes as i64, (bytes >> 64) as i64);
    _mm256_setr_epi64x(low, high, low, high)
}

/// For each 16-bit lane, a byte that is 0 only if the lane has all bits of `top`. `top` has no sign
/// bit, so the missing bits are not negative as a 16-bit number. Narrowing saturates them to 255,
/// and only 0 becomes 0.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_missing(a: V, b: V, top: V) -> V {
    _mm256_packus_epi16(_mm256_andnot_si256(a, top), _mm256_andnot_si256(b, top))
}

/// 16-bit lane `4 * k + i` of register `i`, for every `k`.
#[inline]
#[target_feature(enable = "avx2")]
fn blend(first: V, second: V, third: V, fourth: V) -> V {
    let low = _mm256_blend_epi16::<0b0010_0010>(first, second);
    let high = _mm256_blend_epi16::<0b1000_1000>(third, fourth);
    _mm256_blend_epi16::<0b1100_1100>(low, high)
}
