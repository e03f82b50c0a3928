//! Statistics of tensors that do not lie in one piece.

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::numbers::Numbers;
use crate::rule::{Classes, Rule};
use crate::stats::{self, Stats, Tally};

use super::position;
use super::tensor::{ROOM, Tensor, Tiles, Walk};

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
    let walk = walk.unordered();
    let mut tiles = Tiles::new(walk, ROOM / walk.element(), LONGEST / walk.element());
    let mut tally = Tally::default();
    while tiles.next() {
        tally.add(&stats::tally(backend, tiles.load(), numbers));
    }
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
        let all = numbers.magnitude | numbers.sign;
        let has_plus = || first(&Rule::equal(numbers.size(), all, plus)) == Some(index);
        let is_plus = !numbers.has_two_codes(key) || has_plus();
        (if is_plus { plus } else { numbers.sign }, index)
    };
    Stats::new(&tally, (tally.finite != 0).then(|| tally.keys.map(place)))
}
