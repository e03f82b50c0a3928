//! Statistics under a validity bitmap.

use nonfinite_kernels::stats_of_valid;
#[cfg(feature = "views")]
use nonfinite_kernels::strided;

#[cfg(feature = "views")]
use super::layout::Layout;
use super::part::Part;
use super::valid::ValidView;
#[cfg(feature = "views")]
use super::{Memory, TensorView};
use crate::{Predicate, Stats};

/// Bytes of elements that are copied at once.
#[cfg(feature = "views")]
const COPIED: usize = 16 * 1024;

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

    /// Long runs of valid elements are asked about alone. All other elements are copied, box by
    /// box, in row-major order.
    #[cfg(feature = "views")]
    fn stats_of_boxes(&self, part: Part<'_, 'a>) -> Stats {
        let (mut at, end, backend) = (part.first, part.first + part.len, self.view.backend);
        let (format, mut room) = (self.view.format, [0; COPIED]);
        let mut stats = Stats::default();
        while at < end {
            let valid = self.validity.run(backend, at, end, true);
            let nulls = if valid == 0 { self.validity.run(backend, at, end, false) } else { 0 };
            let most = room.len() / format.size_in_bytes();
            if nulls >= most || nulls == end - at {
                at += nulls;
                continue;
            }
            let piece = part.chunk(at, valid.max(most));
            let found = if piece.len <= valid {
                piece.stats()
            } else {
                let copy = &mut room[..piece.len * format.size_in_bytes()];
                strided::gather(&piece.source(), copy);
                let view = TensorView::of(format, Memory::Bytes(copy), Layout::flat(piece.len));
                let view = TensorView { backend, ..view };
                let valid = ValidView { view, validity: self.validity.from(at) };
                valid.stats_of_dense(Part::whole(&valid.view))
            };
            stats = stats.join(found.behind(at));
            at += piece.len;
        }
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
