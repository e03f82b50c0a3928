//! Sets of indices, one for each axis.

use super::{AxisPlaces, bits};

/// A set of indices of an axis: a bit for each.
pub(super) struct Indices {
    extent: usize,
    words: Vec<u64>,
}

impl Indices {
    pub(super) fn new(extent: usize) -> Self {
        Self { extent, words: vec![0; extent.div_ceil(64)] }
    }

    /// Inserts an index, which is less than the extent.
    pub(super) fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Inserts `first + i` for each bit `i` that is set. All of these must be less than the extent.
    pub(super) fn insert_word(&mut self, first: usize, word: u64) {
        let (at, shift) = (first / 64, first % 64);
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
    pub(super) fn places(&self, unit: usize) -> AxisPlaces {
        let indices = self.words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
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
    fn ranges(&self) -> Option<Vec<(usize, usize)>> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        let mut from = 0;
        while let Some(first) = bits::next(&self.words, from, self.extent, true) {
            if ranges.len() == AxisPlaces::MOST_RANGES {
                return None;
            }
            let end = bits::next(&self.words, first, self.extent, false).unwrap_or(self.extent);
            ranges.push((first, end - 1));
            from = end;
        }
        Some(ranges)
    }
}
