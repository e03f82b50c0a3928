//! One result for each element: masks, packed bits, and the first hit where the order of memory
//! differs from that of indices.

use super::copy::copy_bytes;
use super::dims::Dim;
use super::walk::{ROOM, Room, Tiles, Walk};
use crate::backend::Backend;
use crate::rule::Rule;

/// The most results of a tile.
const TILE: usize = 4096;

/// Writes one mask byte for each element, at its output in the walk, counted from `out`.
///
/// A tile is loaded in the order of memory. If its results lie in another order, the mask is made
/// in a buffer, and its bytes are copied to their places.
///
/// # Safety
/// The output of each coordinate is a byte that can be written and that nothing else uses.
pub(super) unsafe fn mask(
    backend: Option<Backend>,
    walk: &mut Walk<'_>,
    rule: &Rule,
    out: *mut u8,
) {
    if rule.constant().is_some() {
        walk.repeat_first();
    }
    walk.by_output();
    let element = walk.element();
    let mut tiles = Tiles::by_output(walk, TILE.min(ROOM / element));
    let mut scratch = Room::<TILE>::new();
    while tiles.next() {
        tiles.by_memory();
        let (to, in_order) = (out.wrapping_offset(tiles.tile().output), tiles.tile().in_order());
        let block = tiles.load();
        let results = block.len() / element;
        if in_order {
            // SAFETY: the outputs are in order, so they are `results` bytes from `to` on.
            let out = unsafe { core::slice::from_raw_parts_mut(to.cast(), results) };
            crate::mask_uninit(backend, block, rule, out);
        } else {
            let mask = crate::mask_uninit(backend, block, rule, scratch.slots(results));
            let mut dims = tiles.tile().in_block();
            dims.sort(|dim| dim.output.unsigned_abs());
            // SAFETY: each byte of the mask, and its output.
            unsafe { copy_bytes(mask.as_ptr().cast(), to, dims.list_mut()) };
        }
    }
}

/// The most results of [`in_order`].
const STAGE: usize = 16384;

/// The elements of a tile and the rule, or, if the elements do not lie in one piece, their mask
/// bytes in the order of its dimensions and the rule for a byte of 1.
#[inline(never)]
fn in_order<'r>(
    backend: Option<Backend>,
    tiles: &'r mut Tiles<'_>,
    rule: &'r Rule,
    room: &'r mut Room<STAGE>,
) -> (&'r [u8], &'r Rule) {
    const SET: &Rule = &Rule::equal(1, 1, 1);
    if let [Dim { input: 1, .. }] = **tiles.tile() {
        return (tiles.load(), rule);
    }
    let results = room.slots(tiles.tile().elements());
    // SAFETY: the outputs of a walk over a tile are adjacent, and `results` has a byte for each.
    // `mask` writes all of them, so they are initialised.
    unsafe {
        mask(backend, &mut tiles.walk_of_tile(), rule, results.as_mut_ptr().cast());
        (core::slice::from_raw_parts(results.as_ptr().cast(), results.len()), SET)
    }
}

/// Writes one bit for each element in row-major order, from bit `offset` on.
pub(super) fn bits(
    backend: Option<Backend>,
    walk: &Walk<'_>,
    rule: &Rule,
    out: &mut [u8],
    mut offset: usize,
) {
    let mut tiles = Tiles::new(walk, STAGE, usize::MAX);
    let mut room = Room::new();
    while tiles.next() {
        let (x, rule) = in_order(backend, &mut tiles, rule, &mut room);
        crate::bits(backend, x, rule, out, offset);
        offset += tiles.tile().elements();
    }
}

/// The output of the first element in the order of the walk for which the rule holds.
pub(super) fn position(backend: Option<Backend>, walk: &Walk<'_>, rule: &Rule) -> Option<usize> {
    let mut tiles = Tiles::new(walk, TILE, usize::MAX);
    let mut room = Room::new();
    while tiles.next() {
        let (x, rule) = in_order(backend, &mut tiles, rule, &mut room);
        if let Some(hit) = crate::position(backend, x, rule) {
            return Some(tiles.tile().output_of(hit));
        }
    }
    None
}
