//! Counts under a validity bitmap.

use crate::backend::Backend;
use crate::bitmap::{Bitmap, word};
use crate::census::Occurrences;
use crate::dispatch::{Bytes, Width};
use crate::loops::Ones;

impl Bitmap<'_> {
    /// The number of valid elements. `None` means the active backend.
    #[must_use]
    pub fn count(&self, backend: Option<Backend>) -> usize {
        let (Some(first), Some(last)) = (self.bytes.first(), self.bytes.last()) else { return 0 };
        // The ones of other elements in the first and in the last byte.
        let before = first & !(0xFF << self.shift);
        let behind = last & !(0xFF >> ((self.shift + self.elements).wrapping_neg() % 8));
        let (words, rest) = self.bytes.as_chunks();
        ones(backend, words, None) + word(rest).count_ones() as usize
            - (before.count_ones() + behind.count_ones()) as usize
    }

    /// How many valid elements have a packed bit of 1, and the first. `bits` begin with element 0.
    /// `None` means the active backend.
    ///
    /// # Panics
    /// If `bits` end before the bit of the last element.
    #[must_use]
    pub fn occurrences(&self, backend: Option<Backend>, bits: &[u8]) -> Occurrences {
        let (blocks, rest) = bits[..self.elements.div_ceil(8)].as_chunks();
        let (blocks, last) = blocks.split_at(self.elements / 64);
        let last = last.first().map_or_else(|| word(rest), |last| u64::from_le_bytes(*last));
        let last = last & self.rest();
        let count = ones(backend, blocks, Some(self)) + last.count_ones() as usize;
        if count == 0 {
            return Occurrences::default();
        }
        let words = blocks.iter().zip(self.blocks());
        let hits = words.map(|(bits, valid)| u64::from_le_bytes(*bits) & valid).chain([last]);
        let first = hits.enumerate().find(|&(_, hits)| hits != 0);
        let first = first.map(|(i, hits)| 64 * i + hits.trailing_zeros() as usize);
        Occurrences { count, first }
    }
}

fn ones(backend: Option<Backend>, words: &[[u8; 8]], valid: Option<&Bitmap<'_>>) -> usize {
    Bytes::<1>.table::<Ones>().pick(backend).run(words, valid, ())
}
