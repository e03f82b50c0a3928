//! Tensors whose elements are not adjacent.
//!
//! A [`Tensor`] is memory with sizes and strides, checked when it is made. A question cuts the
//! tensor into tiles (`cut.rs`): long runs of adjacent elements, or at most 16 KiB. A tile is read
//! in place if its elements lie in one piece, or else copied into a buffer (`block.rs`, `copy.rs`),
//! and a dense kernel answers for the tile. Questions that have few hits begin with a search for a
//! tile with a hit (`search.rs`). Masks and bits write one result for each element (`mask.rs`), and
//! statistics take every tile (`stats.rs`). This module has no vector loop.
#![expect(unsafe_code, reason = "elements lie at a base and strides, in no slice")]

#[cfg(feature = "ndarray")]
mod array;
mod block;
mod copy;
mod cut;
mod dims;
#[cfg(feature = "stats")]
mod gather;
mod layout;
mod mask;
mod mask_view;
mod rows;
mod search;
#[cfg(feature = "stats")]
mod stats;
mod tensor;

use crate::backend::Backend;
use crate::mask_out::MaskOut;
use crate::rule::Rule;

pub use dims::MOST_DIMENSIONS;
use dims::{Dim, Dims};
#[cfg(feature = "stats")]
pub use gather::gather;
pub use layout::LayoutError;
pub use mask_view::MaskView;
pub use rows::{Rows, rows};
#[cfg(feature = "stats")]
pub use stats::{stats, stats_of_rows};
pub use tensor::Tensor;

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
    let mut dims = x.dims();
    let places = out.layout().dims();
    dims.list_mut().iter_mut().zip(&*places).for_each(|(dim, place)| dim.output = place.input);
    // SAFETY: the sizes are equal, so each element has a place of its own in `out`.
    unsafe { mask_by(backend, x, dims, rule, out.start) }
    Ok(())
}

/// [`mask_into`] an output in row-major order.
///
/// # Panics
/// If `out` does not have one byte for each element; nothing is written then.
pub fn mask(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule, out: MaskOut<'_>) {
    assert!(out.len() == x.len(), "a mask of {} bytes for {} elements", out.len(), x.len());
    // SAFETY: one byte for each element, at its row-major index.
    unsafe { mask_by(backend, x, x.dims(), rule, out.slots().as_mut_ptr().cast()) }
}

/// # Safety
/// `dims` are the dimensions of `x`. The output of each coordinate, counted from `out`, is a byte
/// that can be written and that nothing else uses.
unsafe fn mask_by(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    mut dims: Dims,
    rule: &Rule,
    out: *mut u8,
) {
    // The answer of a constant rule is computed for one element and broadcast.
    let constant = rule.constant().is_some();
    for dim in dims.list_mut() {
        (dim.row, dim.input) = (0, if constant { 0 } else { dim.input });
    }
    if !x.is_empty() {
        // SAFETY: elements of `x`, and the place of each.
        unsafe { mask::mask(backend, x, dims, rule, out) }
    }
}

/// Writes one bit for each element in row-major order, from bit `offset` on, like [`crate::bits`].
/// `None` means the active backend.
///
/// # Panics
/// If `out` ends before the last result; some may have been written then.
pub fn bits(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule, out: &mut [u8], offset: usize) {
    match rule.constant() {
        _ if x.is_empty() => {}
        Some(answer) => {
            let end = x.len().saturating_add(offset % 8).div_ceil(8);
            crate::packed::fill(answer, x.len(), &mut out[offset / 8..][..end], offset % 8);
        }
        None => mask::bits(backend, x, rule, out, offset),
    }
}

/// Whether the rule holds for any element. `None` means the active backend.
#[must_use]
pub fn any(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule) -> bool {
    match rule.constant() {
        Some(answer) => answer && !x.is_empty(),
        None => !x.is_empty() && search::find(backend, x, &x.unordered().0, rule).is_some(),
    }
}

/// The row-major index of the first element for which the rule holds. `None` means the active
/// backend.
#[must_use]
pub fn position(backend: Option<Backend>, x: &Tensor<'_>, rule: &Rule) -> Option<usize> {
    if x.is_empty() {
        return None;
    }
    if let Some(answer) = rule.constant() {
        return answer.then_some(0);
    }
    // If a coordinate of a broadcast dimension has a hit, so has coordinate 0.
    let mut dims = Dims::new();
    for dim in x.dims().iter().filter(|dim| dim.input != 0) {
        dims.push(Dim { row: 0, ..*dim });
    }
    dims.merge();
    let mut reach = 0;
    let in_order = dims.iter().all(|dim| {
        let before = reach;
        reach += (dim.size as isize - 1) * dim.input;
        dim.input > before
    });
    if in_order {
        return search::find(backend, x, &dims, rule);
    }
    // Most tensors have no hit, which a search in the order of memory finds out faster.
    search::find(backend, x, &x.unordered().0, rule)
        .and_then(|_| mask::position(backend, x, &dims, rule))
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
    if rules.iter().all(|rule| rule.constant().is_some()) {
        return rules.map(|rule| usize::from(rule.constant() == Some(true)) * x.len());
    }
    let mut counts = [0; RULES];
    if !x.is_empty() {
        let (dims, repeats) = x.unordered();
        search::count(backend, x, &dims, search, &rules, &mut counts);
        counts = counts.map(|count| count * repeats);
    }
    counts
}
