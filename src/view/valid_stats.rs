//! Statistics under a validity bitmap.

#[cfg(feature = "views")]
use core::ops::ControlFlow;

use nonfinite_kernels::stats_of_valid;

#[cfg(feature = "views")]
use super::boxes::{Boxed, boxes};
use super::part::Part;
use super::valid::ValidView;
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
        #[cfg(feature = "views")]
        if !part.is_dense() {
            return self.stats_of_boxes(part);
        }
        self.stats_of_dense(part)
    }

    #[cfg(feature = "views")]
    fn stats_of_boxes(&self, part: Part<'_, 'a>) -> Stats {
        let mut stats = Stats::default();
        let _ = boxes(&self.validity, part, &mut |boxed| {
            stats = stats.join(match boxed {
                Boxed::Valid(run) => run.stats().behind(run.first),
                Boxed::Copied(view, first) => {
                    self.of_copy(view, first).stats_of_dense(Part::whole(&view)).behind(first)
                }
            });
            ControlFlow::Continue(())
        });
        stats
    }

    /// The kernel needs a valid element that is finite.
    fn stats_of_dense(&self, part: Part<'_, 'a>) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        let Some(finite) = self.position_in(part, format.rule(Predicate::Finite)) else {
            return Stats { census: self.census_in(part), ..Stats::default() };
        };
        if self.validity.run(backend, part.first, part.first + part.len, true) == part.len {
            return part.stats().behind(part.first);
        }
        let ((bitmap, offset), numbers) = (self.validity.bits_from(part.first), format.numbers());
        let found = stats_of_valid(backend, part.dense(), numbers, bitmap, offset, finite);
        Stats::new(found, format).behind(part.first)
    }
}
