//! Statistics under a validity bitmap.

#[cfg(feature = "views")]
use nonfinite_kernels::position_of_valid;
use nonfinite_kernels::stats_of_valid;
#[cfg(feature = "views")]
use nonfinite_kernels::strided::ValidTile;

use super::part::Part;
use super::valid::ValidView;
#[cfg(feature = "views")]
use super::valid_census::with_indices_of;
use crate::{Predicate, Stats};

impl<'a> ValidView<'a> {
    /// [`TensorView::stats`](crate::TensorView::stats) of the valid elements.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let stats = |part: Part<'_, '_>| self.stats_in(part);
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.parts(&stats, &Stats::join);
        }
        stats(Part::whole(&self.view))
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    fn stats_in(&self, part: Part<'_, 'a>) -> Stats {
        if self.has_no_null(&part) {
            return part.stats().behind(part.first);
        }
        #[cfg(feature = "views")]
        if !part.is_dense() {
            let mut stats = Stats::default();
            self.tiles(&part, &mut |tile| {
                stats = stats.join(self.stats_of_tile(tile));
                usize::MAX
            });
            return stats.behind(part.first);
        }
        self.stats_of_dense(part)
    }

    /// Indices count from the start of the part.
    #[cfg(feature = "views")]
    #[inline(never)]
    fn stats_of_tile(&self, tile: &ValidTile<'_>) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        let (x, bitmap, offset) = (tile.elements, tile.bitmap, tile.offset);
        let finite = format.rule(Predicate::Finite);
        let Some(finite) = position_of_valid(backend, x, finite, bitmap, offset) else {
            return Stats { census: self.census_of_tile(tile), ..Stats::default() };
        };
        let mut found = stats_of_valid(backend, x, format.numbers(), bitmap, offset, finite);
        found.census = with_indices_of(found.census, tile);
        for (_, index) in found.lowest.iter_mut().chain(&mut found.highest) {
            *index = tile.index(*index);
        }
        Stats::new(found, format)
    }

    /// The kernel needs a valid element that is finite.
    fn stats_of_dense(&self, part: Part<'_, 'a>) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        let Some(finite) = self.position_in(part, format.rule(Predicate::Finite)) else {
            return Stats { census: self.census_in(part), ..Stats::default() };
        };
        let ((bitmap, offset), numbers) = (self.validity.bits_from(part.first), format.numbers());
        let found = stats_of_valid(backend, part.dense(), numbers, bitmap, offset, finite);
        Stats::new(found, format).behind(part.first)
    }
}
