//! Statistics of tensors that do not lie in one piece.

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::numbers::Numbers;
use crate::rule::{Classes, Rule};
use crate::stats::{self, Stats, Tally};

use super::block::{Loader, ROOM};
use super::cut::{Cut, Tiles};
use super::dims::Dims;
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
    let (dims, repeats) = x.unordered();
    let mut tally = tally(backend, x, &dims, numbers);
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

/// The tally of the elements of `dims`, in their order. The indices mean nothing.
fn tally(backend: Backend, x: &Tensor<'_>, dims: &Dims, numbers: &Numbers) -> Tally {
    let element = x.element();
    let cut = Cut::runs(dims, element, ROOM / element, LONGEST / element);
    let (mut loader, mut all) = (Loader::new(x), Tally::default());
    let mut tiles = Tiles::new(dims, cut);
    while let Some(tile) = tiles.next() {
        // SAFETY: a tile of the tensor, within the limit or in one piece.
        let block = unsafe { loader.load(tile) };
        all.add(&stats::tally(backend, block, numbers));
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
