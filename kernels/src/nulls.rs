//! Statistics of a column with nulls.

use crate::backend::Backend;
use crate::bitmap::Bitmap;
use crate::lane::{Loops, of_width};
use crate::line::elements;
use crate::numbers::Numbers;
use crate::scalar;
use crate::stats::Stats;
use crate::tally::{Nulls, Room, Want};

/// Statistics of the valid elements of `x`: element `i` is valid if bit `(offset + i) % 8` of
/// `bitmap[(offset + i) / 8]` is 1. Indices count nulls too. `first` is the first valid element
/// that is finite. `backend` is the active one if `None`.
///
/// # Panics
/// If the bitmap ends before the bit of the last element, or if element `first` is null or not
/// finite, or does not exist.
#[must_use]
pub fn stats_of_valid(
    backend: Option<Backend>,
    x: &[u8],
    numbers: &Numbers,
    bitmap: &[u8],
    offset: usize,
    first: usize,
) -> Stats {
    let (size, special) = (numbers.size(), numbers.non_finite());
    let elements = elements(x.len(), size);
    let bitmap = Bitmap::new(bitmap, offset, elements);
    let x = &x[..elements * size];
    let is_special = special.holds(scalar::read_any(&x[first * size..][..size]));
    assert!(bitmap.is_valid(first) && !is_special, "element {first} is null or not finite");
    let want = Want::Places(Some(Nulls { bitmap, first, room: &mut Room::new() }));
    let (row, _) = of_width(size, &[u8::STATS, u16::STATS, u32::STATS, u64::STATS]);
    row.run(backend, x, special, (numbers, want)).stats(x, numbers)
}
