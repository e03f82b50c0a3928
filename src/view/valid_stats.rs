//! Statistics under a validity bitmap.

#[cfg(feature = "views")]
use nonfinite_kernels::strided;
use nonfinite_kernels::{Rule, stats_of_valid};

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

    /// The kernel begins with the first valid element that is finite.
    fn stats_of_dense(&self, part: Part<'_, 'a>) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        let finite = self.position_in(part, format.rule(Predicate::Finite));
        let before = finite.unwrap_or(part.len);
        let first = part.first + before;
        let rest = part.piece(first, part.len - before);
        let stats = if rest.len == 0 {
            Stats::default()
        } else if self.validity.run(backend, first, first + rest.len, true) == rest.len {
            rest.stats().behind(first)
        } else {
            let (bitmap, offset) = self.validity.bits_from(first);
            let find = &mut |from, rule: &Rule| {
                let index = self.position_in(rest.piece(first + from, rest.len - from), rule)?;
                Some(from + index)
            };
            let numbers = format.numbers();
            let found = stats_of_valid(backend, rest.dense(), numbers, bitmap, offset, find);
            Stats::new(found, format).behind(first)
        };
        if before == 0 {
            return stats;
        }
        let census = self.census_in(part.piece(part.first, before));
        Stats { census, ..Stats::default() }.join(stats)
    }
}
