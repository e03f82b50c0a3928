//! Statistics of tensors that do not lie in one piece.

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::numbers::Numbers;
use crate::rule::{Classes, Rule};
use crate::stats::{self, Stats, Tally};

use super::walk::{ROOM, Tiles, Walk};
use super::{Tensor, position};

/// The most bytes of a tile that lies in one piece.
const LONGEST: usize = 1 << 20;

/// Statistics of `x`: one pass, and a search for the first element of each class and of the lowest
/// and the highest number. Indices are in row-major order. An element that is broadcast counts for
/// each of its coordinates. `None` means the active backend.
#[must_use]
pub fn stats(backend: Option<Backend>, x: &Tensor<'_>, numbers: &Numbers) -> Stats {
    if x.is_empty() {
        return Stats::default();
    }
    let backend = backend.unwrap_or_else(Backend::active);
    let mut walk = Walk::new(x);
    let mut tally = tally(backend, walk.unordered(), numbers);
    let repeats = walk.repeats();
    let first = |rule: &Rule| position(Some(backend), x, rule);
    let Census { nan, pos_inf, neg_inf } = &mut tally.census;
    let infinity = |negative| Classes::of(&numbers.nan).map(|classes| classes.infinity(negative));
    let rules = [Some(numbers.nan), infinity(false), infinity(true)];
    for (found, rule) in [nan, pos_inf, neg_inf].into_iter().zip(rules) {
        let rule = rule.filter(|_| found.count != 0);
        *found = Occurrences::new(found.count * repeats, rule.and_then(|rule| first(&rule)));
    }
    for count in [&mut tally.finite, &mut tally.zeros, &mut tally.small] {
        *count *= repeats;
    }
    let place = |key| {
        // The pass has seen an element of this key.
        let index = first(&numbers.has_key(key)).unwrap_or(0);
        let plus = numbers.code(key);
        let is_plus = !numbers.has_two_codes(key) || first(&numbers.has_code(plus)) == Some(index);
        (if is_plus { plus } else { numbers.sign }, index)
    };
    Stats::new(&tally, (tally.finite != 0).then(|| tally.keys.map(place)))
}

/// The tally of the elements of a walk, in its order. The indices mean nothing.
fn tally(backend: Backend, walk: &Walk<'_>, numbers: &Numbers) -> Tally {
    let (element, mut all) = (walk.element(), Tally::default());
    let mut tiles = Tiles::new(walk, ROOM / element, LONGEST / element);
    while tiles.next() {
        all.add(&stats::tally(backend, tiles.load(), numbers));
    }
    all
}

/// Calls `put` with the number and the statistics of each row that runs along dimension `axis`; the
/// rows are in row-major order of the other dimensions, and indices count along a row. Rows without
/// elements are left out. `None` means the active backend.
///
/// # Panics
/// If there is no dimension `axis`.
pub fn stats_of_rows(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    axis: usize,
    numbers: &Numbers,
    mut put: impl FnMut(usize, Stats),
) {
    for row in 0..x.len().checked_div(x.sizes()[axis]).unwrap_or(0) {
        put(row, stats(backend, &x.row(axis, row), numbers));
    }
}
