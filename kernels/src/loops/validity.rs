//! The loops over validity bitmaps of Apache Arrow.
//!
//! ```text
//! clear(bits, bitmap):                 from bit 0 of `bits`, and any bit of the bitmap on
//!     for each word: bits = bits & valid; ones += the ones in bits
//! count_nulls(bitmap):
//!     for each word: zeros += the zeros in the bitmap
//! ```
//!
//! The validity of 64 elements comes from two words of the bitmap, as its first bit may stand
//! anywhere. With a shift of 3, and bytes in place of words:
//!
//! ```text
//! bitmap:  hgfedcba ponmlkji           validity of a to p, most significant bit first
//! valid:   kjihgfed                    bitmap[0] >> 3 | bitmap[1] << 5
//! ```

use crate::bitmap::{Bitmap, few_bytes};
use crate::rule::Comparison;
use crate::simd::{Loop, SameAs, Simd};

/// Counts the nulls among the first elements of a bitmap.
pub(crate) struct CountNulls;

impl SameAs<Self> for CountNulls {}

impl Loop for CountNulls {
    /// The first bit, and the bit behind the last.
    type Out<'o> = [usize; 2];
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(_: I, x: &[u8], _: &Comparison, [begin, end]: [usize; 2]) -> usize {
        let bytes = &x[..end.div_ceil(8)];
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return 0 };
        // The zeros of other elements in the first and the last byte.
        let before = !first & !(u8::MAX << begin);
        let behind = if end.is_multiple_of(8) { 0 } else { !last & u8::MAX << (end % 8) };
        let (words, rest) = bytes.as_chunks();
        let mut zeros = 8 * rest.len() - few_bytes(rest).count_ones() as usize;
        for word in words {
            zeros += u64::from_le_bytes(*word).count_zeros() as usize;
        }
        zeros - (before.count_ones() + behind.count_ones()) as usize
    }
}

/// Clears the bits of nulls, and counts the bits that are 1 then.
pub(crate) struct ClearNulls;

impl SameAs<Self> for ClearNulls {}

impl Loop for ClearNulls {
    /// The bit of the first element in the bitmap, packed bits from bit 0 on, and how many.
    type Out<'o> = (usize, &'o mut [u8], usize);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(
        _: I,
        x: &[u8],
        _: &Comparison,
        (shift, bits, elements): Self::Out<'_>,
    ) -> usize {
        let bitmap = Bitmap { bytes: x, shift };
        let (mut done, mut ones) = (0, 0);
        for (bits, valid) in bits[..elements / 8].as_chunks_mut().0.iter_mut().zip(bitmap.words()) {
            let word = u64::from_le_bytes(*bits) & valid;
            *bits = word.to_le_bytes();
            ones += word.count_ones() as usize;
            done += 64;
        }
        ones + clear_last(bitmap, bits, done, elements)
    }
}

/// [`ClearNulls`] from element `done` on, a multiple of 64: the bits end, or the bitmap within the
/// next two words.
#[inline(never)]
fn clear_last(bitmap: Bitmap<'_>, bits: &mut [u8], done: usize, elements: usize) -> usize {
    let mut ones = 0;
    for first in (done..elements).step_by(64) {
        let few = (elements - first).min(64);
        let here = u64::MAX >> (64 - few);
        let mut word = Bitmap { bytes: bits, shift: 0 }.word(first) & (bitmap.word(first) | !here);
        // A whole word where there is one: bits of other elements keep their values.
        ones += (word & here).count_ones() as usize;
        let out = bits.get_mut(first / 8..).unwrap_or_default();
        if let Some(out) = out.first_chunk_mut() {
            *out = word.to_le_bytes();
            continue;
        }
        for byte in out {
            *byte = word as u8;
            word >>= 8;
        }
    }
    ones
}
