//! Statistics of tensors that do not lie in one piece.

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::numbers::Numbers;
use crate::rule::Rule;
use crate::stats::{self, Stats};
use crate::tally::Tally;

use super::block::{Loader, ROOM, Room};
use super::cut::{Cut, Limits, Tiles};
use super::dims::{Dim, Dims};
use super::{Source, position};

/// Bytes in one piece that are looked at as one.
const LINE: usize = 1 << 20;

/// Statistics of `x`: one pass, and a search for the first element of each class and of the lowest
/// and the highest number. Indices are in row-major order. An element that is broadcast counts as
/// often as coordinates name it. `backend` is the active one if `None`.
#[must_use]
pub fn stats(backend: Option<Backend>, x: &Source<'_>, numbers: &Numbers) -> Stats {
    if x.is_empty() {
        return Stats::default();
    }
    let backend = backend.unwrap_or_else(Backend::active);
    let (dims, repeats) = x.unordered();
    let tally = tally(backend, x, &dims, numbers).times(repeats);
    let first = |rule: &Rule| position(Some(backend), x, rule);
    let class = |class: usize| {
        let (count, nan) = (tally.classes.three[class], numbers.nan());
        let rule = Rule::Comparison(if class == 0 { *nan } else { nan.class(class) });
        Occurrences { count, first: if count == 0 { None } else { first(&rule) } }
    };
    let census = Census::new(class(0), class(1), class(2));
    Stats::new(x.len(), &tally, numbers, census, |which| {
        let key = tally.keys[which];
        // The pass has seen it.
        let index = first(&Rule::Comparison(numbers.has_key(key))).unwrap_or(0);
        let plus = numbers.code(key);
        let is_plus = !numbers.has_two_codes(key) || first(&numbers.has_code(plus)) == Some(index);
        (if is_plus { plus } else { numbers.sign() }, index)
    })
}

/// What is in the elements of `dims`, in their order.
fn tally(backend: Backend, x: &Source<'_>, dims: &Dims, numbers: &Numbers) -> Tally {
    let element = x.element;
    let (span, gather) = (LINE / element, ROOM / element);
    // Nothing between elements may count: tiles are in one piece, or brought together.
    // A call costs more than a copy of a short line.
    let lines = dims.first().is_some_and(|line| line.size >= gather);
    let limits = Limits { span, gather, element, gaps: false, once: true, lines };
    let cut = Cut::whole(dims, limits);
    let mut loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };
    let (mut all, mut done) = (Tally::new(), 0);
    let mut tiles = Tiles::new(dims, &cut);
    while let Some(tile) = tiles.next() {
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(tile) };
        let elements = block.len() / element;
        all.add(stats::tally(backend, block, numbers), elements, done);
        done += elements;
    }
    all
}

/// Calls `put` with the number and the statistics of each row that runs along dimension `axis`,
/// counted from the innermost; the rows are in row-major order of the other dimensions, and indices
/// count along a row. Rows without elements are left out. `backend` is the active one if `None`.
pub fn stats_of_rows(
    backend: Option<Backend>,
    x: &Source<'_>,
    axis: usize,
    numbers: &Numbers,
    mut put: impl FnMut(usize, Stats),
) {
    if x.is_empty() {
        return;
    }
    let along = x.dims.iter().find(|dim| dim.row == axis as isize).copied().unwrap_or(Dim::ONE);
    let mut line = Dims::new();
    line.push(Dim { output: 1, row: 0, ..along });
    for row in 0..x.len / along.size {
        let (mut rest, mut at) = (row, 0isize);
        for dim in x.dims.iter().filter(|dim| dim.row != axis as isize) {
            at = at.wrapping_add(dim.input.wrapping_mul((rest % dim.size) as isize));
            rest /= dim.size;
        }
        let start = x.start.wrapping_offset(at.wrapping_mul(x.element as isize));
        let line = Source { start, dims: line.clone(), len: along.size, ..*x };
        put(row, stats(backend, &line, numbers));
    }
}
