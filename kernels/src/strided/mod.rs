//! Tensors whose elements are not adjacent.
//!
//! A [`Tensor`] is memory with sizes and strides, checked when it is made. A question makes a walk
//! over the tensor and cuts it into tiles (`tensor/walk.rs`): long runs of adjacent elements, or at
//! most 16 KiB. The elements of a tile are one block: the memory itself if they are adjacent, or
//! else a copy (`copy.rs`). A dense kernel answers for the block. Questions with few hits begin
//! with a search for a tile with a hit (`search.rs`). Masks and bits have one result for each
//! element (`mask.rs`), and statistics take every tile.
#![expect(unsafe_code, reason = "elements lie at a base and strides, in no slice")]

mod copy;
mod dims;
mod layout;
mod mask;
mod mask_view;
#[cfg(feature = "ndarray")]
mod ndarray;
mod rows;
mod search;
#[cfg(feature = "stats")]
mod stats;
mod tensor;

use crate::backend::Backend;
use crate::mask_out::MaskOut;
use crate::rule::Rule;
use mask::{STAGE, TILE, in_order};
use tensor::{ROOM, Room, Tiles, Walk};

pub use dims::MOST_DIMENSIONS;
pub use layout::LayoutError;
pub use mask_view::MaskView;
pub use rows::{Rows, rows};
#[cfg(feature = "stats")]
pub use stats::stats;
pub use tensor::Tensor;
#[cfg(feature = "stats")]
pub use tensor::gather;

/// Writes to each coordinate of `out` the answer for the element at this coordinate: 1 if the rule
/// holds, otherwise 0. Other bytes keep their values. `None` means the active backend.
///
/// # Errors
/// [`LayoutError::OutputRank`] or [`LayoutError::OutputSize`] if `out` does not have the sizes of
/// `x`; nothing is written then.
pub fn mask_into(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    rule: &Rule,
    out: MaskView<'_>,
) -> Result<(), LayoutError> {
    x.layout().check_sizes(out.layout())?;
    let mut places = out.layout().dims();
    let mut walk = Walk::new(x);
    walk.place(|_, _| places.next().map(|(_, place)| (place.input, 0)));
    // SAFETY: the sizes are equal, so each element has a place of its own in `out`.
    unsafe { mask::mask(backend, &mut walk, rule, out.start) }
    Ok(())
}

/// [`mask_into`] an output in row-major order.
///
/// # Panics
/// If `out` does not have one byte for each element; nothing is written then.
pub fn mask(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule, out: MaskOut<'_>) {
    assert!(out.len() == x.len(), "a mask of {} bytes for {} elements", out.len(), x.len());
    // SAFETY: one byte for each element, at its row-major index.
    unsafe {
        mask::mask(backend, Walk::new(x).row_major(), rule, out.slots().as_mut_ptr().cast());
    }
}

/// Writes one bit for each element in row-major order, from bit `offset` on, like [`crate::bits`].
/// `None` means the active backend.
///
/// # Panics
/// If `out` ends before the last result; some may have been written then.
pub fn bits(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    rule: &Rule,
    out: &mut [u8],
    mut offset: usize,
) {
    let mut walk = Walk::new(x);
    let mut tiles = Tiles::new(walk.row_major(), STAGE, usize::MAX);
    let mut room = Room::NEW;
    while tiles.next() {
        let (block, rule) = in_order(backend, &mut tiles, rule, &mut room);
        crate::bits(backend, block, rule, out, offset);
        offset += tiles.tile().elements();
    }
}

/// Whether the rule holds for any element. `None` means the active backend.
#[must_use]
pub fn any(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule) -> bool {
    search::find(backend, Walk::new(x).unordered(), rule).is_some()
}

/// The row-major index of the first element for which the rule holds. `None` means the active
/// backend.
#[must_use]
pub fn position(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule) -> Option<usize> {
    // If a coordinate of a broadcast dimension has a hit, so has coordinate 0.
    let mut walk = Walk::new(x);
    walk.place(|_, dim| (dim.input != 0).then_some((dim.output, 0)));
    if walk.is_ascending() {
        return search::find(backend, &walk, rule);
    }
    // Most tensors have no hit, which a search in the order of memory finds out faster.
    if any(backend, x, rule) {
        let mut tiles = Tiles::new(&walk, TILE, usize::MAX);
        let mut room = Room::NEW;
        while tiles.next() {
            let (block, rule) = in_order(backend, &mut tiles, rule, &mut room);
            if let Some(hit) = crate::position(backend, block, rule) {
                return Some(tiles.output_of(hit));
            }
        }
    }
    None
}

/// The number of elements for which each rule holds. `search` must hold wherever any of them does.
/// `None` means the active backend.
#[must_use]
pub fn counts<const RULES: usize>(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    search: &Rule,
    rules: [&Rule; RULES],
) -> [usize; RULES] {
    let mut walk = Walk::new(x);
    let walk = walk.unordered();
    let mut tiles = Tiles::new(walk, ROOM / walk.element(), usize::MAX);
    let mut counts = [0; RULES];
    while let Some(hit) = tiles.next_hit(backend, search, &mut |_| false) {
        let rest = &tiles.block()[hit * walk.element()..];
        for (rule, count) in rules.iter().zip(&mut counts) {
            *count += crate::count(backend, rest, rule);
        }
    }
    counts.map(|count| count * walk.repeats())
}
