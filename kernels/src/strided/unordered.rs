//! Questions that do not depend on order, answered in the order of memory. Also the first hit, if
//! the order of memory is row-major.

use crate::Occurrences;
use crate::backend::Backend;
use crate::rule::Rule;

use super::block::{Loader, ROOM, Room, pattern};
use super::cut::{Cut, Limits, Tiles};
use super::dims::{Dims, Tile};
use super::{Source, dense};

/// Bytes that are searched in one call.
const SPAN: usize = 16384;
/// The most words of packed bits of a span.
const WORDS: usize = SPAN / 64;

/// Packed bits of a span. Only the bits of named elements count.
struct Named {
    pattern: [u64; WORDS],
    /// The number of elements of a span for which the pattern was made.
    known: usize,
    bits: Room<{ WORDS * 8 }>,
}

impl Named {
    fn new() -> Self {
        Self { pattern: [0; WORDS], known: 0, bits: Room::new() }
    }

    /// The named elements of a span for which the rule holds: their number, and the first. Also
    /// returns whether the rule holds for no other element of the span.
    #[inline(never)]
    fn ask(
        &mut self,
        backend: Backend,
        tile: &Tile,
        block: &[u8],
        rule: &Rule,
    ) -> (Occurrences, bool) {
        let span = block.len() / rule.size();
        let words = span.div_ceil(64);
        if self.known < span {
            // The pattern of a smaller tile is the first part of this one.
            pattern(tile, &mut self.pattern[..words]);
            self.known = span;
        }
        let bits = self.bits.filled(words * 8, 0);
        dense::bits(backend, block, rule, bits, 0);
        let (mut hits, mut clean) = (Occurrences::default(), true);
        for (i, (bytes, pattern)) in bits.as_chunks().0.iter().zip(&self.pattern).enumerate() {
            let word = u64::from_le_bytes(*bytes);
            let named = word & pattern;
            clean &= word == named;
            if named != 0 {
                hits.count += named.count_ones() as usize;
                hits.first = hits.first.or(Some(64 * i + named.trailing_zeros() as usize));
            }
        }
        (hits, clean)
    }
}

/// Tiles in the order of memory.
#[inline(never)]
fn cut(x: &Source<'_>, dims: &Dims) -> (Cut, Loader) {
    let element = x.element;
    let gather = ROOM / element;
    let limits =
        Limits { span: SPAN / element, gather, element, gaps: x.gaps, once: true, lines: true };
    let cut = Cut::whole(dims, limits);
    let loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };
    (cut, loader)
}

/// The output of `dims` for the first element, in the order of `dims`, for which the rule holds. No
/// dimension may run backwards.
pub(super) fn find(backend: Backend, x: &Source<'_>, dims: &Dims, rule: &Rule) -> Option<isize> {
    let (cut, mut loader) = cut(x, dims);
    let mut named = None;
    // If the bytes between elements hit all the time, searching them does not pay.
    let mut search = true;
    let mut tiles = Tiles::new(dims, &cut);
    while let Some(tile) = tiles.next() {
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(tile) };
        let mut hit = None;
        if block.len() == tile.elements() * x.element {
            hit = dense::position(backend, block, rule);
        } else if !search || dense::position(backend, block, rule).is_some() {
            let (hits, clean) =
                named.get_or_insert_with(Named::new).ask(backend, tile, block, rule);
            (hit, search) = (hits.first, clean);
        }
        if let Some(mut hit) = hit {
            let mut output = tile.output;
            for dim in tile.iter().rev() {
                let step = dim.input.unsigned_abs();
                output = output.wrapping_add(dim.output.wrapping_mul((hit / step) as isize));
                hit %= step;
            }
            return Some(output);
        }
    }
    None
}

/// Counts the elements for which each rule holds. `search` must hold wherever any of them does. No
/// dimension may run backwards.
pub(super) fn occurrences(
    backend: Backend,
    x: &Source<'_>,
    dims: &Dims,
    search: &Rule,
    classes: &[&Rule],
    counts: &mut [usize],
) {
    let (cut, mut loader) = cut(x, dims);
    let mut named = None;
    let mut clean = true;
    let mut tiles = Tiles::new(dims, &cut);
    while let Some(tile) = tiles.next() {
        // SAFETY: a tile of elements of the source, within the limits.
        let block = unsafe { loader.load(tile) };
        let dense = block.len() == tile.elements() * x.element;
        if dense && classes.len() == 1 {
            // The kernel searches itself.
            counts[0] += dense::count(backend, block, classes[0]);
            continue;
        }
        if clean && dense::position(backend, block, search).is_none() {
            continue;
        }
        clean = true;
        for (rule, count) in classes.iter().zip(&mut *counts) {
            if dense {
                let hits = dense::count(backend, block, rule);
                *count += hits;
                clean &= hits == 0;
            } else {
                let (hits, none) =
                    named.get_or_insert_with(Named::new).ask(backend, tile, block, rule);
                *count += hits.count;
                clean &= none && hits.count == 0;
            }
        }
    }
}
