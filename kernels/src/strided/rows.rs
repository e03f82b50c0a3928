//! One answer a line.

use crate::lane::BLOCK;
use crate::path::Path;
use crate::rule::{Rule, Test};

use super::gather::{Gather, ROOM};
use super::walk::Walk;
use super::{Grid, lines, row};

/// Whether the rule holds for an element of each line, which is the innermost dimension. `path` is the active one if
/// `None`.
///
/// # Panics
/// If there is not one place in `out` for each line, or if the grid reaches outside of `x`, where some answers may have been
/// written, or has too many dimensions.
#[track_caller]
pub fn any_rows(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut [bool], grid: Grid<'_>) {
    check(out.len(), grid);
    match rule {
        Rule::Constant { answer, .. } => out.fill(*answer && grid.line().size > 0),
        _ if grid.line().size == 0 => out.fill(false),
        _ if out.is_empty() => {}
        Rule::Test(test) => {
            let path = path.unwrap_or_else(Path::active);
            if lines::are(&grid) {
                Path::run::<lines::Position>(Some(path), x, test, (grid, Some(out)));
            } else if grid.line().size < BLOCK {
                short_lines(path, x, test, grid, out, |bits| bits != 0);
            } else {
                long_lines(grid, out, |line| super::position(Some(path), x, rule, line).is_some());
            }
        }
    }
}

/// How many elements of each line the rule holds for. `path` is the active one if `None`.
///
/// # Panics
/// As [`any_rows`].
#[track_caller]
pub fn count_rows(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut [usize], grid: Grid<'_>) {
    check(out.len(), grid);
    let size = grid.line().size;
    match rule {
        Rule::Constant { answer, .. } => out.fill(usize::from(*answer) * size),
        _ if size == 0 => out.fill(0),
        _ if out.is_empty() => {}
        Rule::Test(test) => {
            let path = path.unwrap_or_else(Path::active);
            if lines::are(&grid) {
                let positive = if test.negate() { test.not() } else { *test };
                Path::run::<lines::Count>(Some(path), x, &positive, (grid, Some(&mut *out)));
                if test.negate() {
                    out.iter_mut().for_each(|count| *count = size - *count);
                }
            } else if size < BLOCK {
                short_lines(path, x, test, grid, out, |bits| bits.count_ones() as usize);
            } else {
                long_lines(grid, out, |line| super::count(Some(path), x, rule, line));
            }
        }
    }
}

#[track_caller]
fn check(places: usize, grid: Grid<'_>) {
    let lines =
        grid.dims.get(1..).unwrap_or(&[]).iter().fold(1usize, |lines, dim| lines.saturating_mul(dim.size));
    assert!(places == lines, "{lines} rows, but an output for {places}");
}

/// Lines of less than a block: their results are looked at as bits.
fn short_lines<T>(
    path: Path,
    x: &[u8],
    test: &Test,
    grid: Grid<'_>,
    out: &mut [T],
    answer: impl Fn(u64) -> T,
) {
    let (size, element) = (grid.line().size, test.size());
    // Whole lines, at least one.
    let lines = ROOM / element / size;
    let in_one_piece = match grid.dims {
        [line] => line.input == 1,
        [line, next] => line.input == 1 && next.input == size as isize,
        _ => false,
    };
    let rule = Rule::Test(*test);
    let mut gather = Gather::new(grid);
    let mut start = grid.input;
    for out in out.chunks_mut(lines) {
        let mut room = [0; ROOM];
        let bytes = if in_one_piece {
            let bytes = row(x, element, start, out.len() * size);
            start += out.len() * size;
            bytes
        } else {
            gather.fill_some(x, element, &mut room, out.len() * size)
        };
        // A line is read as 8 bytes and one more: the last begins in byte ROOM / 8 - 1 or before.
        let mut bits = [0; ROOM / 8 + 8];
        crate::bits(Some(path), bytes, &rule, &mut bits, 0);
        for (i, slot) in out.iter_mut().enumerate() {
            let first = i * size;
            let word = bits[first / 8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let above = u64::from(bits[first / 8 + 8]);
            let shift = first % 8;
            let line = word >> shift | (above << 1) << (63 - shift);
            *slot = answer(line & !(u64::MAX << size));
        }
    }
}

/// Lines that are a grid each.
fn long_lines<T>(grid: Grid<'_>, out: &mut [T], answer: impl Fn(Grid<'_>) -> T) {
    let mut walk = Walk::lines(grid);
    let dims = [grid.line()];
    for slot in out {
        *slot = answer(Grid { input: walk.input, output: 0, dims: &dims });
        walk.next();
    }
}
