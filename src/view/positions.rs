//! The iterator over hits.
//!
//! A dense view is searched from one hit to the next. In other views the order of memory differs
//! from the order of indices, and a search has to read a whole part even if its first hit is early.
//! So for such a view the iterator computes the packed bits of the next 4096 elements and returns
//! their hits one by one. Each element is read once.

use core::fmt;

use nonfinite_kernels::{self as kernels, Rule};

use super::TensorView;

/// The row-major indices of the elements for which a predicate holds: see
/// [`TensorView::positions`].
#[derive(Clone, Debug)]
pub struct Positions<'a> {
    view: TensorView<'a>,
    rule: Rule,
    /// All elements before this index have been looked at.
    from: usize,
    hits: Hits,
}

impl<'a> Positions<'a> {
    pub(super) fn new(view: TensorView<'a>, rule: &Rule) -> Self {
        let hits = Hits { bits: [0; KNOWN / 8], first: 0, word: KNOWN / 64 };
        Self { view, rule: *rule, from: 0, hits }
    }

    /// Computes the bits of the next elements. Returns the number of elements.
    #[inline(never)]
    fn look(&mut self) -> usize {
        let part = self.view.part(self.from, self.view.tensor.part_len(self.from, KNOWN));
        self.hits = Hits { bits: [0; KNOWN / 8], first: self.from, word: 0 };
        part.bits_here(&self.rule, &mut self.hits.bits, 0);
        self.from += part.len();
        part.len()
    }

    /// Searches the next element of a dense view, null or not.
    fn search(&mut self) -> Option<usize> {
        let (x, rule) = (self.view.dense()?, &self.rule);
        let hit = kernels::position(self.view.backend, &x[self.from * rule.size()..], rule);
        let hit = hit.map(|index| self.from + index);
        self.from = hit.map_or(self.view.len(), |hit| hit + 1);
        hit
    }
}

impl Iterator for Positions<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.view.tensor.is_dense() {
            loop {
                let hit = self.search()?;
                if self.view.is_valid(hit) {
                    return Some(hit);
                }
            }
        }
        loop {
            match self.hits.next() {
                None if self.from < self.view.len() => self.look(),
                hit => return hit,
            };
        }
    }
}

impl core::iter::FusedIterator for Positions<'_> {}

/// The most elements whose bits are computed at once.
const KNOWN: usize = 4096;

/// Hits that were found and not returned yet.
#[derive(Clone)]
struct Hits {
    /// Packed bits of the elements from `first` on.
    bits: [u8; KNOWN / 8],
    first: usize,
    /// All words before this one have been returned.
    word: usize,
}

/// Prints no bits, since there are many.
impl fmt::Debug for Hits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hits").field("first", &self.first).finish_non_exhaustive()
    }
}

impl Hits {
    fn next(&mut self) -> Option<usize> {
        while let Some(word) = self.bits.as_chunks_mut().0.get_mut(self.word) {
            let bits = u64::from_le_bytes(*word);
            if bits != 0 {
                *word = (bits & (bits - 1)).to_le_bytes();
                return Some(self.first + 64 * self.word + bits.trailing_zeros() as usize);
            }
            self.word += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use super::*;
    use crate::Predicate;

    /// Counts the elements that are looked at. If each hit took a search of the rest, hits in the
    /// last column would take 500 times the elements.
    #[test]
    fn elements_are_looked_at_once() {
        const ROWS: usize = 1000;
        const COLUMNS: usize = 97;
        let sizes = [ROWS / 8, 8, COLUMNS];
        let strides = [8, 1, ROWS as isize];
        let cases: [fn(usize) -> bool; 6] = [
            |_| false,
            |_| true,
            |i| i % COLUMNS == COLUMNS - 1,
            |i| i == ROWS * COLUMNS - 1,
            |i| i.is_multiple_of(5003),
            |i| i / 20_000 == 2,
        ];
        for (case, hit) in cases.into_iter().enumerate() {
            let mut x = vec![1.0f32; ROWS * COLUMNS];
            for i in (0..x.len()).filter(|&i| hit(i)) {
                x[i / COLUMNS + i % COLUMNS * ROWS] = f32::NAN;
            }
            let view = TensorView::strided(&x, 0, &sizes, &strides).unwrap();
            let (mut positions, mut looked) = (view.positions(Predicate::Nan), 0);
            while positions.from < view.len() {
                looked += positions.look();
            }
            assert_eq!(looked, x.len(), "case {case}");
            assert!(view.positions(Predicate::Nan).eq((0..x.len()).filter(|&i| hit(i))));
        }
    }
}
