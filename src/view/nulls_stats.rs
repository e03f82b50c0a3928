//! Statistics of elements of which some are null.

use nonfinite_kernels::strided::{Tensor, gather};
use nonfinite_kernels::{Bitmap, stats_of_valid};

use super::TensorView;
use crate::{Predicate, Stats};

/// Bytes of elements that are copied at a time.
const ROOM: usize = 16384;

impl TensorView<'_> {
    #[inline(never)]
    pub(super) fn stats_of_valid(&self) -> Stats {
        match self.dense() {
            Some(_) if self.valid_count() == self.len() => self.without_nulls().stats_here(),
            Some(x) => self.stats_of_dense(x),
            None => self.stats_of_boxes(),
        }
    }

    /// Copies boxes of elements, one after the other in row-major order.
    fn stats_of_boxes(&self) -> Stats {
        let (mut at, mut stats) = (0, Stats::default());
        while at < self.len() {
            let part = self.part(at, self.part_len(at, ROOM / self.format.size_in_bytes()));
            stats = stats.join(part.stats_of_copy(part.validity.unwrap_or_default()).behind(at));
            at += part.len();
        }
        stats
    }

    /// Statistics of row `row` along dimension `axis`. Indices count along the row.
    pub(super) fn stats_of_row(&self, axis: usize, row: usize) -> Stats {
        let (size, inner) = (self.shape()[axis], self.inner(axis));
        let start = row / inner * inner * size + row % inner;
        let line = Self { tensor: self.tensor.row(axis, row), validity: None, ..*self };
        let most = ROOM / self.format.size_in_bytes();
        let mut stats = Stats::default();
        for at in (0..size).step_by(most) {
            let part = line.part(at, most.min(size - at));
            let mut bits = [0u8; ROOM / 8];
            for i in (0..part.len()).filter(|i| self.is_valid(start + (at + i) * inner)) {
                bits[i / 8] |= 1 << (i % 8);
            }
            let validity = Bitmap::new(&bits, 0, part.len()).unwrap_or_default();
            stats = stats.join(part.stats_of_copy(validity).behind(at));
        }
        stats
    }

    /// Statistics of at most [`ROOM`] bytes of elements, which are copied.
    #[inline(never)]
    fn stats_of_copy(&self, validity: Bitmap<'_>) -> Stats {
        let mut room = [0; ROOM];
        let copy = gather(&self.tensor, &mut room);
        let tensor = Tensor::flat(copy, self.format.size_in_bytes());
        TensorView { tensor, validity: Some(validity), ..*self }.stats_of_valid()
    }

    /// The statistics of dense elements. The kernel needs a valid element that is finite.
    fn stats_of_dense(&self, x: &[u8]) -> Stats {
        let format = self.format;
        let Some(finite) = self.position_of_valid(format.rule(Predicate::Finite)) else {
            return Stats { census: self.census_of_valid(), ..Stats::default() };
        };
        let validity = self.validity.unwrap_or_default();
        let found = stats_of_valid(self.backend, x, format.numbers(), validity, finite);
        Stats::new(found, format)
    }
}
