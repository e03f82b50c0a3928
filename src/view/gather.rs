//! Statistics of a few valid elements among nulls: they are copied together first.

use super::TensorView;
use super::part::Part;
use super::validity::Validity;
use crate::stats::Extreme;
use crate::{Census, Occurrences, Stats};

/// Elements that are looked at together.
pub(super) const MOST: usize = 1024;

/// The statistics of the valid elements of a dense part of at most [`MOST`] elements. Indices count
/// from the start of the view.
pub(super) fn stats(part: Part<'_, '_>, validity: &Validity<'_>) -> Stats {
    match part.view.format.size_in_bytes() {
        1 => of_width::<1>(part, validity),
        2 => of_width::<2>(part, validity),
        4 => of_width::<4>(part, validity),
        _ => of_width::<8>(part, validity),
    }
}

fn of_width<const N: usize>(part: Part<'_, '_>, validity: &Validity<'_>) -> Stats {
    let (mut elements, mut places) = ([[0; N]; MOST], [0u16; MOST]);
    let mut valid = 0;
    for (i, element) in part.dense().as_chunks::<N>().0.iter().enumerate() {
        // Overwritten by the next element if this one is null: no branch, which nulls at random
        // places would make slow.
        (elements[valid], places[valid]) = (*element, i as u16);
        valid += usize::from(validity.is_valid(part.first + i));
    }
    let view = TensorView::from_bytes(elements[..valid].as_flattened(), part.view.format)
        .expect("whole elements");
    let stats = TensorView { backend: part.view.backend, ..view }.stats();
    let place = |i: usize| part.first + usize::from(places[i]);
    let extreme = |x: Option<Extreme>| x.map(|x| Extreme { index: place(x.index), ..x });
    let class = |class: Occurrences| Occurrences::new(class.count, class.first.map(place));
    let Census { nan, pos_inf, neg_inf, .. } = stats.census;
    Stats {
        census: Census::new(class(nan), class(pos_inf), class(neg_inf)),
        min: extreme(stats.min),
        max: extreme(stats.max),
        max_abs: extreme(stats.max_abs),
        ..stats
    }
}
