//! The tiles with hits: all questions except masks, bits and statistics begin with a search, since
//! most tensors have few hits.
//!
//! A tile that is not in one piece is searched with the bytes between its elements, if that is
//! faster than a copy. The elements are copied, and the copy is searched, only if there is a hit.

use super::block::{Loader, ROOM};
use super::cut::{Cut, Tiles};
use super::dims::{Dims, Tile, output_of};
use super::tensor::Tensor;
use crate::backend::Backend;
use crate::rule::Rule;

/// A search through the tiles of a tensor.
pub(super) struct Search<'s> {
    backend: Option<Backend>,
    rule: &'s Rule,
    loader: Loader<'s>,
    tiles: Tiles<'s>,
    /// Whether no dimension runs backwards.
    spans: bool,
}

impl<'s> Search<'s> {
    /// Through tiles of at most `most` elements and [`ROOM`] bytes, in the order of `dims`. A long
    /// run of adjacent elements has at most `most` elements.
    pub(super) fn new(
        backend: Option<Backend>,
        x: &Tensor<'s>,
        dims: &'s Dims,
        rule: &'s Rule,
        most: usize,
    ) -> Self {
        let cut = Cut::runs(dims, x.element(), most.min(ROOM / x.element()), most);
        let spans = dims.iter().all(|dim| dim.input >= 0);
        Self { backend, rule, loader: Loader::new(x), tiles: Tiles::new(dims, cut), spans }
    }

    /// The first hit of the next tile that has one, as an index into the elements of the tile.
    /// Leaves out tiles for which `skip` is true.
    #[inline(never)]
    pub(super) fn next(&mut self, skip: &mut dyn FnMut(&Tile) -> bool) -> Option<usize> {
        // Whether to search spans: up to the first with a hit, which may be between the elements.
        let mut search = self.spans;
        while let Some(tile) = self.tiles.next() {
            if skip(tile) {
                continue;
            }
            if search {
                // SAFETY: a tile of the tensor, and by `spans` no dimension runs backwards.
                if let Some(span) = unsafe { self.loader.span(tile) } {
                    if crate::position(self.backend, span, self.rule).is_none() {
                        continue;
                    }
                    search = false;
                }
            }
            // SAFETY: a tile of the tensor, within the limit or in one piece.
            let block = unsafe { self.loader.load(tile) };
            let hit = crate::position(self.backend, block, self.rule);
            if hit.is_some() {
                return hit;
            }
        }
        None
    }

    /// The elements of the tile with the hit, in the order of its dimensions. The inputs of these
    /// are steps in the elements.
    pub(super) fn found(&self) -> (&[u8], &Tile) {
        (self.loader.block(), &self.tiles.tile)
    }
}

/// The output of `dims` for the first element, in the order of `dims`, for which the rule holds.
pub(super) fn find(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    dims: &Dims,
    rule: &Rule,
) -> Option<usize> {
    let mut search = Search::new(backend, x, dims, rule, usize::MAX);
    let hit = search.next(&mut |_| false)?;
    let (_, tile) = search.found();
    Some(tile.output.wrapping_add(output_of(tile, hit)) as usize)
}

/// Counts the elements for which each rule holds. `search` must hold wherever any of them does.
pub(super) fn count(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    dims: &Dims,
    search: &Rule,
    rules: &[&Rule],
    counts: &mut [usize],
) {
    let mut search = Search::new(backend, x, dims, search, usize::MAX);
    while let Some(hit) = search.next(&mut |_| false) {
        let rest = &search.found().0[hit * x.element()..];
        for (rule, count) in rules.iter().zip(&mut *counts) {
            *count += crate::count(backend, rest, rule);
        }
    }
}
