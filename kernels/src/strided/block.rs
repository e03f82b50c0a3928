//! The elements of a tile in one piece, for the dense kernels.
//!
//! ```text
//! memory  a b c d e f g h i j k l
//! tile    a b   e f   i j           adjacent runs:  a b e f i j are copied into a buffer
//! tile    a b c d e f               in one piece: read in place
//! ```

use core::mem::MaybeUninit;

use super::copy::copy;
use super::dims::{Dim, TILE_DIMS, Tile};
use super::tensor::Tensor;

/// A buffer on the stack.
pub(super) struct Room<const BYTES: usize>([MaybeUninit<bool>; BYTES]);

impl<const BYTES: usize> Room<BYTES> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self([MaybeUninit::uninit(); BYTES])
    }

    /// The first bytes, to be written before they are read.
    #[inline(always)]
    pub(super) fn slots(&mut self, bytes: usize) -> &mut [MaybeUninit<bool>] {
        &mut self.0[..bytes]
    }
}

/// The size of the buffer for copied elements, in bytes.
pub(super) const ROOM: usize = 16384;

/// The costs of a copy, in bytes that are searched in the same time: of one element, and of a run
/// of adjacent elements (to which twice the bytes of the run are added).
const PER_ELEMENT: usize = 64;
const PER_RUN: usize = 128;

/// Loads the elements of tiles.
pub(super) struct Loader<'a> {
    x: Tensor<'a>,
    room: Room<ROOM>,
    /// Where the elements of the last tile begin, if not in `room`.
    in_place: Option<*const u8>,
    /// The bytes of the last tile.
    bytes: usize,
}

impl<'a> Loader<'a> {
    #[inline(always)]
    pub(super) fn new(x: &Tensor<'a>) -> Self {
        Self { x: *x, room: Room::new(), in_place: None, bytes: 0 }
    }

    /// Coordinate 0 of a tile.
    fn start(&self, tile: &Tile) -> *const u8 {
        self.x.start.wrapping_offset(tile.input.wrapping_mul(self.x.element as isize))
    }

    /// The elements of a tile in the order of its dimensions, the innermost first. Takes one
    /// element of a broadcast dimension. Sets the input of each dimension to its step in the
    /// returned elements.
    ///
    /// # Safety
    /// The tile is one of the tensor. Its elements lie in one piece, or they fit into [`ROOM`].
    #[inline(never)]
    pub(super) unsafe fn load(&mut self, tile: &mut Tile) -> &[u8] {
        let (start, element) = (self.start(tile), self.x.element);
        let (mut count, mut in_place) = (1, true);
        let mut from = [Dim::default(); TILE_DIMS];
        let mut rank = 0;
        for dim in tile.list_mut() {
            if dim.input != 0 {
                in_place &= dim.input == count as isize;
                from[rank] = Dim { output: count as isize, ..*dim };
                rank += 1;
                dim.input = count as isize;
                count *= dim.size;
            }
        }
        self.in_place = in_place.then_some(start);
        self.bytes = count * element;
        if !in_place {
            let room = self.room.slots(self.bytes).as_mut_ptr().cast::<u8>();
            // SAFETY: elements of the tensor, as the caller promises; there are `count` places in
            // `room`, which is ours, and one element goes to each.
            unsafe { copy(element, start, room, &from[..rank]) };
        }
        self.block()
    }

    /// The elements of the last tile.
    pub(super) fn block(&self) -> &[u8] {
        let start = self.in_place.unwrap_or(self.room.0.as_ptr().cast());
        // SAFETY: elements of the tensor that lie in one piece, or bytes of `room` that `load` has
        // written. Both stay until the next `load`, which takes `&mut self`.
        unsafe { core::slice::from_raw_parts(start, self.bytes) }
    }

    /// The elements of a tile and all bytes between them, if these may be read and a search of them
    /// takes less time than a copy of the elements.
    ///
    /// # Safety
    /// The tile is one of the tensor, and none of its dimensions runs backwards.
    #[inline(never)]
    pub(super) unsafe fn span(&self, tile: &Tile) -> Option<&[u8]> {
        let element = self.x.element;
        let (count, span) = (tile.elements(), tile.span());
        let copied = match tile.first() {
            Some(run) if run.input == 1 => {
                (count / run.size * PER_RUN).saturating_add(count.saturating_mul(2 * element))
            }
            _ => count.saturating_mul(PER_ELEMENT),
        };
        let pays = count < span && span.saturating_mul(element) <= copied && self.x.gaps;
        // SAFETY: all bytes from the first element to the last, which `gaps` allows to read.
        pays.then(|| unsafe { core::slice::from_raw_parts(self.start(tile), span * element) })
    }
}
