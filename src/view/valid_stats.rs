//! Statistics under a validity bitmap.

use nonfinite_kernels::stats_of_valid;
use nonfinite_kernels::strided::gather;

use super::part::Part;
use super::valid::ValidView;
use crate::{Elements, Predicate, Stats, TensorView};

/// Bytes of a box that is copied.
const ROOM: usize = 16384;

impl<'a> ValidView<'a> {
    /// [`TensorView::stats`](crate::TensorView::stats) of the valid elements.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.by_parts(&|part| self.stats_in(part), &Stats::join)
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    fn stats_in(&self, part: Part<'_, 'a>) -> Stats {
        if !part.is_dense() {
            return self.stats_of_boxes(part);
        }
        if self.validity.part(part.first, part.len).count() == part.len {
            return part.stats().behind(part.first);
        }
        self.stats_of_dense(part)
    }

    /// Copies boxes of elements, one after the other in row-major order.
    fn stats_of_boxes(&self, part: Part<'_, 'a>) -> Stats {
        let (TensorView { format, backend, .. }, mut room) = (self.view, [0; ROOM]);
        let (mut at, end, mut stats) = (part.first, part.first + part.len, Stats::default());
        while at < end {
            let part = Part::after(part.view, at, (end - at).min(ROOM / format.size_in_bytes()));
            let elements = Elements::from_bytes(gather(&part.tensor(), &mut room), format);
            let view = TensorView::from(elements.expect("whole elements of a box"));
            let view = TensorView { backend, ..view };
            let validity = self.validity.part(at, part.len);
            stats = stats.join(ValidView { view, validity }.stats().behind(at));
            at += part.len;
        }
        stats
    }

    /// The statistics of a dense part. The kernel needs a valid element that is finite.
    fn stats_of_dense(&self, part: Part<'_, 'a>) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        let Some(finite) = self.position_in(part, format.rule(Predicate::Finite)) else {
            return Stats { census: self.census_in(part), ..Stats::default() };
        };
        let (validity, numbers) = (self.validity.part(part.first, part.len), format.numbers());
        let found = stats_of_valid(backend, part.dense(), numbers, validity, finite);
        Stats::new(found, format).behind(part.first)
    }
}
