//! The tiles with hits: all questions except masks, bits and statistics begin with a search, since
//! most tensors have few hits.
//!
//! A tile that is not in one piece is searched with the bytes between its elements, if that is
//! faster than a copy. The elements are copied, and the copy is searched, only if there is a hit.

use super::dims::Tile;
use super::walk::{ROOM, Tiles, Walk};
use crate::backend::Backend;
use crate::rule::Rule;

impl<'w> Tiles<'w> {
    /// Tiles for a search: of at most `most` elements, and not more than can be copied.
    pub(super) fn to_search(walk: &'w Walk<'_>, most: usize) -> Self {
        Self::new(walk, most.min(ROOM / walk.element()), most)
    }

    /// Loads the next tile with a hit. Returns the index of the first hit in its block. Leaves out
    /// tiles for which `skip` is true.
    #[inline(never)]
    pub(super) fn next_hit(
        &mut self,
        backend: Option<Backend>,
        rule: &Rule,
        skip: &mut dyn FnMut(&Tile) -> bool,
    ) -> Option<usize> {
        if rule.constant() == Some(false) {
            return None;
        }
        // Whether to search spans: up to the first with a hit, which may be between the elements.
        let mut search_span = true;
        while self.next() {
            if skip(self.tile()) {
                continue;
            }
            if search_span && let Some(span) = self.span() {
                if crate::position(backend, span, rule).is_none() {
                    continue;
                }
                search_span = false;
            }
            let hit = crate::position(backend, self.load(), rule);
            if hit.is_some() {
                return hit;
            }
        }
        None
    }
}

/// The output of the first element in the order of the walk for which the rule holds.
pub(super) fn find(backend: Option<Backend>, walk: &Walk<'_>, rule: &Rule) -> Option<usize> {
    let mut tiles = Tiles::to_search(walk, usize::MAX);
    let hit = tiles.next_hit(backend, rule, &mut |_| false)?;
    Some(tiles.tile().output_of(hit))
}

/// Counts the elements for which each rule holds. `search` must hold wherever any of them does.
pub(super) fn count<const RULES: usize>(
    backend: Option<Backend>,
    walk: &Walk<'_>,
    search: &Rule,
    rules: [&Rule; RULES],
) -> [usize; RULES] {
    let mut counts = [0; RULES];
    let mut tiles = Tiles::to_search(walk, usize::MAX);
    while let Some(hit) = tiles.next_hit(backend, search, &mut |_| false) {
        let rest = &tiles.block()[hit * walk.element()..];
        for (rule, count) in rules.iter().zip(&mut counts) {
            *count += crate::count(backend, rest, rule);
        }
    }
    counts
}
