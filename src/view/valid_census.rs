//! The census under a validity bitmap.

use core::ops::ControlFlow;

use nonfinite_kernels::census_of_valid;

#[cfg(feature = "views")]
use super::boxes::Boxed;
use super::part::Part;
use super::pieces::{Piece, pieces};
use super::valid::ValidView;
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
            let _ = self.boxes_with_hits(part, special, &mut |boxed| {
                census = census.join(self.census_in_box(boxed));
                ControlFlow::Continue(())
            });
            return census;
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

    #[cfg(feature = "views")]
    #[inline(never)]
    fn census_in_box(&self, boxed: Boxed<'_, '_, 'a>) -> Census {
        match boxed {
            Boxed::Valid(run) => census_of_run(&run),
            Boxed::Copied(view, first) => {
                self.of_copy(view, first).census_in(Part::whole(&view)).behind(first)
            }
        }
    }
}

/// The census of a run without nulls. Indices count from the start of the view.
#[inline(never)]
fn census_of_run(run: &Part<'_, '_>) -> Census {
    run.census().behind(run.first)
}
