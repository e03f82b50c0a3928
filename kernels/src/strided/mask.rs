//! One result for each element: masks, packed bits, and the first hit if the order of memory
//! differs from that of indices.

use crate::backend::Backend;
use crate::rule::Rule;

use super::block::{Loader, ROOM, Room};
use super::copy::{SIDE, place};
use super::cut::{Cut, Limits, Tiles};
use super::dims::{Dims, MOST, Tile, place_of, sort};
use super::{Source, dense};

/// The most results of a tile.
const TILE: usize = 4096;

/// Writes one mask byte for each element, at its place in `dims`, counted from `out`.
///
/// # Safety
/// All elements that `dims` names are in the source, and nothing else uses their places.
pub(super) unsafe fn mask(
    backend: Backend,
    x: &Source<'_>,
    mut dims: Dims,
    rule: &Rule,
    out: *mut u8,
) {
    dims.forwards();
    sort(dims.list_mut(), |dim| dim.output.unsigned_abs());
    dims.merge();
    let element = x.element;
    let gather = TILE.min(ROOM / element);
    let limits = Limits { span: TILE, gather, element, gaps: x.gaps, once: false, lines: true };
    let cut = Cut::by_output(&dims, limits);
    let mut loader = Loader { start: x.start, element, span: cut.span, room: Room::new() };
    let mut scratch = Room::<{ TILE + SIDE }>::new();
    let mut tiles = Tiles::new(&dims, &cut);
    while let Some(tile) = tiles.next() {
        let to = out.wrapping_offset(tile.output);
        // SAFETY: a tile of elements that are in the source; its size is within the limits.
        let block = unsafe { loader.load(tile) };
        let results = block.len() / element;
        if tile.in_order() {
            // SAFETY: the places of these elements, one after the other.
            dense::mask(backend, block, rule, unsafe {
                core::slice::from_raw_parts_mut(to.cast(), results)
            });
            continue;
        }
        let slots = scratch.slots(results + SIDE);
        slots[results..].fill(core::mem::MaybeUninit::new(false));
        dense::mask(backend, block, rule, &mut slots[..results]);
        // SAFETY: each byte of the tile, and its place; there is more behind.
        unsafe { place(slots.as_ptr().cast(), to, tile.list_mut()) };
    }
}

/// The most results of a stage.
const STAGE: usize = 16384;

/// The mask bytes of a part of the source, in the order of its dimensions.
#[inline(never)]
fn stage<'r>(
    backend: Backend,
    x: &Source<'_>,
    tile: &Tile,
    rule: &Rule,
    room: &'r mut Room<STAGE>,
) -> &'r [u8] {
    let results = room.slots(tile.elements());
    // SAFETY: a part of the source; it has as many results as there is room for.
    unsafe {
        mask(backend, x, tile.to_dims(), rule, results.as_mut_ptr().cast());
        core::slice::from_raw_parts(results.as_ptr().cast(), results.len())
    }
}

/// Stages in row-major order.
#[inline(never)]
fn stages(x: &Source<'_>, dims: &Dims, most: usize) -> Cut {
    let limits = Limits {
        span: most,
        gather: most,
        element: x.element,
        gaps: false,
        once: false,
        lines: false,
    };
    Cut::whole(dims, limits)
}

/// Writes one bit for each element in row-major order, from bit `offset` on.
pub(super) fn bits(
    backend: Backend,
    x: &Source<'_>,
    rule: &Rule,
    out: &mut [u8],
    mut offset: usize,
) {
    let mut dims = x.dims.clone();
    dims.merge();
    let element = x.element;
    let in_one_piece = dims.first().is_none_or(|dim| dim.input == 1);
    let line = dims.first().map_or(1, |dim| dim.size);
    if in_one_piece && line * element >= 2048 {
        let mut cut = Cut { sizes: [1; MOST], span: true };
        cut.sizes[0] = line;
        let mut loader = Loader { start: x.start, element, span: true, room: Room::new() };
        let mut tiles = Tiles::new(&dims, &cut);
        while let Some(tile) = tiles.next() {
            // SAFETY: a line of the source, which lies in one piece.
            dense::bits(backend, unsafe { loader.load(tile) }, rule, out, offset);
            offset += line;
        }
        return;
    }
    let cut = stages(x, &dims, STAGE);
    let mut room = Room::new();
    let mut tiles = Tiles::new(&dims, &cut);
    while let Some(tile) = tiles.next() {
        let results = stage(backend, x, tile, rule, &mut room);
        dense::bits(backend, results, &SET, out, offset);
        offset += results.len();
    }
}

/// The rule that holds for a mask byte of 1.
const SET: Rule = Rule::equal(1, 1, 1);

/// The row-major index of the first element for which the rule holds.
pub(super) fn position(
    backend: Backend,
    x: &Source<'_>,
    dims: &Dims,
    rule: &Rule,
) -> Option<usize> {
    let mut room = Room::new();
    // The first hit may come soon.
    for (most, mut most_tiles) in [(STAGE / 32, 1), (STAGE, usize::MAX)] {
        let cut = stages(x, dims, most);
        let mut tiles = Tiles::new(dims, &cut);
        while most_tiles > 0
            && let Some(tile) = tiles.next()
        {
            most_tiles -= 1;
            let results = stage(backend, x, tile, rule, &mut room);
            if let Some(hit) = dense::position(backend, results, &SET) {
                return Some(tile.output.wrapping_add(place_of(tile, hit)) as usize);
            }
        }
    }
    None
}
