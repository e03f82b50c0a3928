//! Tiles of a tensor with nulls: elements, and their bits of the validity bitmap.
//!
//! ```text
//! memory  a b c d e f g h i j k l
//! tensor  a d g j     tile  a d     elements  a d b e
//!         b e h k           b e     bits      0 1 4 5 of the bitmap
//!         c f i l
//! ```
//!
//! Both are in row-major order of the tile. So of two elements of a tile, the first one has the
//! lower index in the tensor. Elements in this order are not copied, nor are adjacent bits.

use crate::bitmap::{Bitmap, word_of};

use super::Source;
use super::block::{ROOM, Room};
use super::copy::copy;
use super::cut::{Cut, Limits, Tiles};
use super::dims::{Dim, Dims, Tile, pack, place_of, walk};

/// A tile of a tensor with nulls.
#[derive(Debug)]
pub struct ValidTile<'t> {
    /// The elements of the tile in row-major order.
    pub elements: &'t [u8],
    /// Bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1 if element `i` of the tile is
    /// valid.
    pub bitmap: &'t [u8],
    /// The bit of the first element.
    pub offset: usize,
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

/// The words of a bitmap that a tile needs, and one more: [`bits_of`] also writes the word behind
/// a piece.
const WORDS: usize = ROOM / 64 + 1;

/// Calls `visit` with the tiles of a tensor, in any order. Element `i` of the tensor, in row-major
/// order, is valid if bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1. `visit` returns an
/// index: tiles whose elements are all at this index or behind it are left out from then on.
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
    let mut dims = Dims::new();
    x.dims.iter().for_each(|dim| dims.push(Dim { row: 0, ..*dim }));
    dims.merge();
    let most = ROOM / element;
    let limits =
        Limits { span: most, gather: most, element, gaps: false, once: false, lines: false };
    let cut = Cut::by_output(&dims, limits);
    let (mut room, mut words, mut end) = (Room::<ROOM>::new(), [[0; 8]; WORDS], usize::MAX);
    let mut tiles = Tiles::new(&dims, &cut);
    while let Some(tile) = tiles.next() {
        let first = tile.output as usize;
        if first >= end {
            continue;
        }
        let mut places = tile.clone();
        let (count, in_place, adjacent) = pack(places.list_mut());
        let Bitmap { mut bytes, shift: mut offset } = bitmap.from(first);
        if !adjacent {
            bits_of(&bitmap, tile, &mut words);
            (bytes, offset) = (words.as_flattened(), 0);
        }
        let mut elements = x.start.wrapping_offset(tile.input.wrapping_mul(element as isize));
        if !in_place {
            let to = room.slots(count * element).as_mut_ptr().cast::<u8>();
            // SAFETY: the elements of a tile can be read, as the source vouches. `room` is ours and
            // has a place for each, so no element of the source lies in it.
            unsafe { copy(element, elements, to, &places) };
            elements = to;
        }
        // SAFETY: this many bytes were just written to `room`; or the elements lie in one piece in
        // this order, and can be read.
        let elements = unsafe { core::slice::from_raw_parts(elements, count * element) };
        end = visit(&ValidTile { elements, bitmap: bytes, offset, tile });
    }
}

/// Sets the first words to the bits of a tile in row-major order.
#[inline(never)]
fn bits_of(bitmap: &Bitmap<'_>, tile: &Tile, words: &mut [[u8; 8]; WORDS]) {
    // The innermost dimensions whose bits are adjacent.
    let (mut run, mut inner) = (1, 0);
    while let Some(dim) = tile.get(inner)
        && dim.output as usize == run
    {
        run *= dim.size;
        inner += 1;
    }
    let mut at = 0;
    words[0] = [0; 8];
    walk(&tile[inner..], &mut |_, output| {
        let first = tile.output.wrapping_add(output) as usize;
        for done in (0..run).step_by(64) {
            let count = (run - done).min(64);
            let Bitmap { bytes, shift } = bitmap.from(first + done);
            // The call of `Bitmap::word` takes longer than all else here.
            let bits = bytes.first_chunk().map(|bytes| word_of(bytes, shift));
            let bits = bits.unwrap_or_else(|| bitmap.word(first + done));
            let bits = bits & u64::MAX >> (64 - count);
            let (word, shift) = (at / 64, at % 64);
            words[word] = (u64::from_le_bytes(words[word]) | bits << shift).to_le_bytes();
            words[word + 1] = (bits >> 1 >> (63 - shift)).to_le_bytes();
            at += count;
        }
    });
}
