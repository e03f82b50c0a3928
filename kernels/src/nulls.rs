//! Statistics of a column with nulls.

use crate::backend::Backend;
use crate::lane::Lane;
use crate::loops::nulls::{Nulls, Room};
use crate::loops::validity::Bitmap;
use crate::numbers::Numbers;
use crate::rule::Rule;
use crate::stats::Stats;

/// Statistics of the valid elements of `x`: element `i` is valid if bit `(offset + i) % 8` of
/// `bitmap[(offset + i) / 8]` is 1. Indices count nulls too. `find` returns the first valid element
/// from an index on that a rule holds for. `backend` is the active one if `None`.
///
/// # Panics
/// If the bitmap ends before the bit of the last element, or if element 0 is null or not finite.
#[must_use]
pub fn stats_of_valid(
    backend: Option<Backend>,
    x: &[u8],
    numbers: &Numbers,
    bitmap: &[u8],
    offset: usize,
    find: &mut dyn FnMut(usize, &Rule) -> Option<usize>,
) -> Stats {
    let elements = x.len() / numbers.size();
    if elements == 0 {
        return Stats::default();
    }
    let bitmap = Bitmap::new(bitmap, offset, elements);
    let x = &x[..elements * numbers.size()];
    match numbers.size() {
        1 => stats::<u8>(backend, x, numbers, bitmap, find),
        2 => stats::<u16>(backend, x, numbers, bitmap, find),
        4 => stats::<u32>(backend, x, numbers, bitmap, find),
        _ => stats::<u64>(backend, x, numbers, bitmap, find),
    }
}

fn stats<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    numbers: &Numbers,
    bitmap: Bitmap<'_>,
    find: &mut dyn FnMut(usize, &Rule) -> Option<usize>,
) -> Stats {
    let special = Rule::Comparison(*numbers.non_finite());
    let is_special = crate::entry::position::<L>(backend, &x[..L::SIZE], &special).is_some();
    assert!(bitmap.is_valid(0) && !is_special, "element 0 is null or not finite");
    let nulls = Nulls { bitmap, room: &mut Room::new() };
    let tally = L::stats(backend, x, numbers.non_finite(), numbers, Some(nulls));
    tally.stats::<L>(backend, x, numbers, find)
}
