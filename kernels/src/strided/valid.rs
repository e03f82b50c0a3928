//! Tiles of a tensor with nulls: elements, and their bits of the validity bitmap.
//!
//! ```text
//! tensor, transposed        tile        elements      bits
//! 0 3 6 9                   0 3         0 3 1 4       the bits of 0 and 1 in the bitmap,
//! 1 4 7 ..                  1 4                       then those of 4 and 5
//! ```
//!
//! Both are copied in row-major order, so the first element of a tile in this order is the first
//! one of the tensor. Elements that lie in this order already are not copied.

use crate::bitmap::Bitmap;

use super::block::{ROOM, Room};
use super::copy::copy;
use super::cut::{Limits, Tiles};
use super::dims::{Tile, place_of, walk};
use super::{Source, mask};

/// A tile with a valid element.
#[derive(Debug)]
pub struct ValidTile<'t> {
    /// The elements of the tile in row-major order.
    pub elements: &'t [u8],
    /// Bit `i % 8` of byte `i / 8` is 1 if element `i` of the tile is valid.
    pub bitmap: &'t [u8],
    tile: &'t Tile,
}

impl ValidTile<'_> {
    /// The row-major index in the tensor of element `i` of the tile.
    #[must_use]
    #[inline(never)]
    pub fn index(&self, i: usize) -> usize {
        self.tile.output.wrapping_add(place_of(self.tile, i)) as usize
    }
}

/// The words of a bitmap that a tile needs, and one more.
const WORDS: usize = ROOM / 64 + 1;

/// Calls `visit` with tiles that have a valid element. Element `i` of the tensor, in row-major
/// order, is valid if bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1. Tiles come in any
/// order. `visit` returns an index: tiles whose elements are all at this index or behind it are
/// left out from then on.
///
/// # Panics
/// If the bitmap ends before bit `offset` or before the bit of the last element.
pub fn valid_tiles(
    x: &Source<'_>,
    bitmap: &[u8],
    offset: usize,
    visit: &mut dyn FnMut(&ValidTile<'_>) -> usize,
) {
    let (bitmap, element) = (Bitmap::new(bitmap, offset, x.len), x.element);
    if x.is_empty() {
        return;
    }
    let mut dims = x.dims.clone();
    dims.list_mut().iter_mut().for_each(|dim| dim.row = 0);
    dims.merge();
    let most = ROOM / element;
    let limits =
        Limits { span: most, gather: most, element, gaps: false, once: false, lines: false };
    let cut = mask::cut(&dims, limits);
    let (mut room, mut words, mut end) = (Room::<ROOM>::new(), [[0; 8]; WORDS], usize::MAX);
    let mut tiles = Tiles::new(&dims, &cut);
    while let Some(tile) = tiles.next() {
        if tile.output as usize >= end || !bits_of(&bitmap, tile, &mut words) {
            continue;
        }
        let start = x.start.wrapping_offset(tile.input.wrapping_mul(element as isize));
        let (places, bytes) = (tile.to_dims(), tile.elements() * element);
        let mut elements = start;
        if places.iter().any(|dim| dim.input != dim.output) {
            let room = room.slots(bytes).as_mut_ptr().cast::<u8>();
            // SAFETY: the elements of a tile can be read, as the source vouches; `room` has a place
            // for each.
            unsafe { copy(element, start, room, &places) };
            elements = room;
        }
        // SAFETY: this many bytes were just written to `room`; or the elements lie in one piece in
        // this order, and can be read.
        let elements = unsafe { core::slice::from_raw_parts(elements, bytes) };
        end = visit(&ValidTile { elements, bitmap: words.as_flattened(), tile });
    }
}

/// Sets the first words to the bits of a tile in row-major order. Returns whether one is 1.
#[inline(never)]
fn bits_of(bitmap: &Bitmap<'_>, tile: &Tile, words: &mut [[u8; 8]; WORDS]) -> bool {
    // The innermost dimensions whose bits are adjacent.
    let (mut run, mut inner) = (1, 0);
    while let Some(dim) = tile.get(inner)
        && dim.output as usize == run
    {
        run *= dim.size;
        inner += 1;
    }
    let (mut at, mut all) = (0, 0);
    words[0] = [0; 8];
    walk(&tile[inner..], &mut |_, output| {
        let first = tile.output.wrapping_add(output) as usize;
        for done in (0..run).step_by(64) {
            let count = (run - done).min(64);
            let bits = bitmap.word(first + done) & u64::MAX >> (64 - count);
            all |= bits;
            let (word, shift) = (at / 64, at % 64);
            words[word] = (u64::from_le_bytes(words[word]) | bits << shift).to_le_bytes();
            words[word + 1] = (bits >> 1 >> (63 - shift)).to_le_bytes();
            at += count;
        }
    });
    all != 0
}
