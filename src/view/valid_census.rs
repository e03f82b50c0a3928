//! The census under a validity bitmap.

use core::ops::ControlFlow;

use nonfinite_kernels::census_of_valid;
#[cfg(feature = "views")]
use nonfinite_kernels::strided::ValidTile;

use super::part::Part;
use super::pieces::{Piece, pieces};
use super::valid::ValidView;
#[cfg(feature = "views")]
use crate::Occurrences;
use crate::{Census, Predicate};

impl<'a> ValidView<'a> {
    /// Counts NaN, +Inf and -Inf among the valid elements, and finds the first of each by its
    /// row-major index.
    #[must_use]
    pub fn census(&self) -> Census {
        let census = |part: Part<'_, '_>| self.census_in(part);
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.parts(&census, &Census::join);
        }
        census(Part::whole(&self.view))
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    #[inline(never)]
    pub(super) fn census_in(&self, part: Part<'_, 'a>) -> Census {
        let mut census = Census::default();
        let special = self.view.format.rule(Predicate::NonFinite);
        #[cfg(feature = "views")]
        if !part.is_dense() {
            if self.has_no_null(&part) {
                return census_of_run(&part);
            }
            self.tiles_with_hits(&part, special, &mut |tile| {
                census = census.join(self.census_of_tile(tile));
                usize::MAX
            });
            return census.behind(part.first);
        }
        let _ = pieces(&self.validity, &part, special, &mut |piece| {
            let found = match piece {
                Piece::Valid(run) => census_of_run(&run),
                Piece::Mixed(window) => {
                    let (bitmap, offset) = self.validity.bits_from(window.first);
                    let (backend, nan) = (self.view.backend, self.view.format.rule(Predicate::Nan));
                    census_of_valid(backend, window.dense(), nan, bitmap, offset)
                        .behind(window.first)
                }
            };
            census = census.join(found);
            ControlFlow::Continue(found.total())
        });
        census
    }

    /// Indices count from the start of the part.
    #[cfg(feature = "views")]
    #[inline(never)]
    pub(super) fn census_of_tile(&self, tile: &ValidTile<'_>) -> Census {
        let (backend, nan) = (self.view.backend, self.view.format.rule(Predicate::Nan));
        with_indices_of(
            census_of_valid(backend, tile.elements, nan, tile.bitmap, tile.offset),
            tile,
        )
    }
}

/// The census of a tile with indices that count from the start of the part.
#[cfg(feature = "views")]
pub(super) fn with_indices_of(census: Census, tile: &ValidTile<'_>) -> Census {
    let class = |class: Occurrences| {
        Occurrences::new(class.count, class.first.map(|first| tile.index(first)))
    };
    Census::new(class(census.nan), class(census.pos_inf), class(census.neg_inf))
}

/// The census of a run without nulls. Indices count from the start of the view.
#[inline(never)]
fn census_of_run(run: &Part<'_, '_>) -> Census {
    run.census().behind(run.first)
}
