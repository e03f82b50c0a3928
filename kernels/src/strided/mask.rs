//! One result for each element: masks, packed bits, and the first hit where the order of memory
//! differs from that of indices.

use super::block::{Loader, ROOM, Room};
use super::copy::copy_bytes;
use super::cut::{Cut, Tiles};
use super::dims::{Dims, Tile, output_of, sort};
use super::tensor::Tensor;
use crate::backend::Backend;
use crate::rule::Rule;

/// The most results of a tile.
const TILE: usize = 4096;

/// Writes one mask byte for each element, at its place in `dims`, counted from `out`.
///
/// A tile is loaded in the order of memory. If its results lie in another order, the mask is made
/// in a buffer, and its bytes are copied to their places.
///
/// # Safety
/// All elements that `dims` names are in the tensor, and nothing else uses their places.
pub(super) unsafe fn mask(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    mut dims: Dims,
    rule: &Rule,
    out: *mut u8,
) {
    dims.forwards();
    sort(dims.list_mut(), |dim| dim.output.unsigned_abs());
    dims.merge();
    let element = x.element();
    let cut = Cut::by_output(&dims, element, TILE.min(ROOM / element));
    let (mut loader, mut scratch) = (Loader::new(x), Room::<TILE>::new());
    let mut tiles = Tiles::new(&dims, cut);
    while let Some(tile) = tiles.next() {
        let to = out.wrapping_offset(tile.output);
        sort(tile.list_mut(), |dim| dim.input as usize);
        // SAFETY: a tile of elements that are in the tensor, within the limit or in one piece.
        let block = unsafe { loader.load(tile) };
        let results = block.len() / element;
        if tile.in_order() {
            // SAFETY: the tile is in order, so its places are `results` bytes from `to` on.
            let out = unsafe { core::slice::from_raw_parts_mut(to.cast(), results) };
            crate::mask_uninit(backend, block, rule, out);
        } else {
            let slots = crate::mask_uninit(backend, block, rule, scratch.slots(results));
            sort(tile.list_mut(), |dim| dim.output.unsigned_abs());
            // SAFETY: each byte of the tile, and its place.
            unsafe { copy_bytes(slots.as_ptr().cast(), to, tile.list_mut()) };
        }
    }
}

/// The most results of [`stage`].
const STAGE: usize = 16384;

/// The mask bytes of a part of the tensor, in the order of its dimensions.
#[inline(never)]
fn stage<'r>(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    tile: &Tile,
    rule: &Rule,
    room: &'r mut Room<STAGE>,
) -> &'r [u8] {
    let results = room.slots(tile.elements());
    // SAFETY: a tile of the tensor, and a place in `results` for each of its elements. `mask`
    // writes all of them, so they are initialised.
    unsafe {
        mask(backend, x, tile.to_dims(), rule, results.as_mut_ptr().cast());
        core::slice::from_raw_parts(results.as_ptr().cast(), results.len())
    }
}

/// Writes one bit for each element in row-major order, from bit `offset` on.
pub(super) fn bits(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    rule: &Rule,
    out: &mut [u8],
    mut offset: usize,
) {
    let mut dims = x.dims();
    dims.list_mut().iter_mut().for_each(|dim| dim.row = 0);
    dims.merge();
    let element = x.element();
    let (mut loader, mut room) = (Loader::new(x), Room::new());
    let mut tiles = Tiles::new(&dims, Cut::runs(&dims, element, STAGE, usize::MAX));
    while let Some(tile) = tiles.next() {
        let results = tile.elements();
        if results > STAGE || tile.len() == 1 && tile[0].input == 1 {
            // SAFETY: a run of the tensor, which lies in one piece.
            crate::bits(backend, unsafe { loader.load(tile) }, rule, out, offset);
        } else {
            crate::bits(backend, stage(backend, x, tile, rule, &mut room), &SET, out, offset);
        }
        offset += results;
    }
}

/// The rule that holds for a mask byte of 1.
const SET: Rule = Rule::equal(1, 1, 1);

/// The row-major index of the first element for which the rule holds.
pub(super) fn position(
    backend: Option<Backend>,
    x: &Tensor<'_>,
    dims: &Dims,
    rule: &Rule,
) -> Option<usize> {
    let mut room = Room::new();
    let mut tiles = Tiles::new(dims, Cut::whole(dims, TILE));
    while let Some(tile) = tiles.next() {
        let results = stage(backend, x, tile, rule, &mut room);
        if let Some(hit) = crate::position(backend, results, &SET) {
            return Some(tile.output.wrapping_add(output_of(tile, hit)) as usize);
        }
    }
    None
}
