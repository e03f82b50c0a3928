//! Sets of indices, one for each axis.

use super::{AxisPlaces, bits};

/// A set of indices of an axis: a bit for each. [`Places::MOST_INDICES`](super::Places) bounds the
/// extent, so the bits are in memory.
pub(super) struct Indices {
    extent: u64,
    words: Vec<u64>,
}

impl Indices {
    pub(super) fn new(extent: u64) -> Self {
        Self { extent, words: vec![0; extent.div_ceil(64) as usize] }
    }

    /// Inserts an index, which is less than the extent.
    pub(super) fn insert(&mut self, index: u64) {
        self.words[(index / 64) as usize] |= 1 << (index % 64);
    }

    /// Inserts `first + i` for each bit `i` that is set. All of these must be less than the extent.
    pub(super) fn insert_word(&mut self, first: u64, word: u64) {
        let (at, shift) = ((first / 64) as usize, first % 64);
        self.words[at] |= word << shift;
        // The bits that the shift has dropped. None without a shift.
        let rest = (word >> 1) >> (63 - shift);
        if rest != 0 {
            self.words[at + 1] |= rest;
        }
    }

    /// Inserts the indices of another set of the same axis.
    pub(super) fn merge(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// The report on this axis. Each index represents `unit` indices of the axis.
    pub(super) fn places(&self, unit: u64) -> AxisPlaces {
        let indices = self.words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        AxisPlaces {
            extent: self.extent * unit,
            indices: indices * unit,
            ranges: self
                .ranges()
                .unwrap_or_default()
                .into_iter()
                .map(|(first, last)| (first * unit, last * unit + (unit - 1)))
                .collect(),
        }
    }

    /// The runs. Empty if there are too many of them.
    fn ranges(&self) -> Option<Vec<(u64, u64)>> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let (mut from, bits) = (0, self.extent as usize);
        while let Some(first) = bits::next(&self.words, from, bits, true) {
            if ranges.len() == AxisPlaces::MOST_RANGES {
                return None;
            }
            let end = bits::next(&self.words, first, bits, false).unwrap_or(bits);
            ranges.push((first as u64, end as u64 - 1));
            from = end;
        }
        Some(ranges)
    }
}
