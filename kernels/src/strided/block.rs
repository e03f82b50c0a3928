//! Loads the elements of a tile into one piece, for the dense kernels.

use core::mem::MaybeUninit;

use crate::bitmap::word_of;

use super::copy;
use super::dims::{Dim, TILE_DIMS, Tile, sort};

/// A buffer on the stack. Only the first bytes are initialised.
pub(super) struct Room<const BYTES: usize> {
    bytes: [MaybeUninit<u8>; BYTES],
    initialised: usize,
}

impl<const BYTES: usize> Room<BYTES> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { bytes: [MaybeUninit::uninit(); BYTES], initialised: 0 }
    }

    /// Fills the first bytes with the same value.
    #[inline(never)]
    pub(super) fn filled(&mut self, bytes: usize, with: u8) -> &mut [u8] {
        self.bytes[..bytes].fill(MaybeUninit::new(with));
        self.initialised = bytes;
        self.bytes(bytes)
    }

    /// The first bytes.
    ///
    /// # Panics
    /// If these bytes are not initialised.
    #[inline(always)]
    pub(super) fn bytes(&mut self, bytes: usize) -> &mut [u8] {
        let bytes = &mut self.bytes[..self.initialised][..bytes];
        // SAFETY: same length and alignment; `initialised` bytes were written by `filled`, and
        // there is no other way to them except `slots`, which makes it 0.
        unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [u8]) }
    }

    /// The first bytes, to be written before they are read.
    #[inline(always)]
    pub(super) fn slots(&mut self, bytes: usize) -> &mut [MaybeUninit<bool>] {
        self.initialised = 0;
        let bytes = &mut self.bytes[..bytes];
        // SAFETY: same length and alignment; both may hold anything.
        unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [MaybeUninit<bool>]) }
    }
}

/// One word of packed bits from bit `at` on. Bits behind the end are 0.
#[inline(always)]
pub(super) fn word(bits: &[u8], at: usize) -> u64 {
    let bytes = bits.get(at / 8..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| word_of(bytes, at % 8))
}

/// The size of the buffer for gathered elements, in bytes.
pub(super) const ROOM: usize = 16384;

/// Loads the elements of tiles.
pub(super) struct Loader {
    /// Coordinate 0 of the tensor.
    pub(super) start: *const u8,
    /// Bytes of an element.
    pub(super) element: usize,
    /// Whether a tile is a span: its elements, and the bytes between them.
    pub(super) span: bool,
    pub(super) room: Room<ROOM>,
}

impl Loader {
    /// The elements of a tile, with the bytes between them if tiles are spans. Sets the input of
    /// each dimension to its step in the returned bytes.
    ///
    /// # Safety
    /// The elements of the tile can be read, with all between them if this is a span; no dimension
    /// runs backwards; and if this is no span, they fit in `room`.
    #[inline(never)]
    pub(super) unsafe fn load(&mut self, tile: &mut Tile) -> &[u8] {
        let element = self.element;
        let start = self.start.wrapping_offset(tile.input.wrapping_mul(element as isize));
        if self.span {
            // SAFETY: from the first element to the last, which can be read (the caller).
            return unsafe { core::slice::from_raw_parts(start, tile.span() * element) };
        }
        let dims = tile.list_mut();
        // The order is the same for all tiles along a row.
        sort(dims, |dim| 2 * dim.input as usize + usize::from(dim.row != 0));
        // Takes one element of a broadcast dimension.
        let mut count = 1;
        let mut dense = [Dim::default(); TILE_DIMS];
        let mut rank = 0;
        for dim in dims {
            if dim.input != 0 {
                dense[rank] = Dim { output: count as isize, ..*dim };
                rank += 1;
                dim.input = count as isize;
                count *= dim.size;
            }
        }
        let room = self.room.slots(count * element).as_mut_ptr().cast::<u8>();
        // SAFETY: the elements can be read (the caller); there are `count` places, and one element
        // goes to each.
        unsafe {
            copy::copy(element, start, room, &dense[..rank]);
            core::slice::from_raw_parts(room, count * element)
        }
    }
}

/// One bit for each element of a span: 1 if a coordinate names it.
#[inline(never)]
pub(super) fn pattern(dims: &[Dim], words: &mut [u64]) {
    words.fill(0);
    words[0] = 1;
    for dim in dims {
        let mut done = 1;
        while done < dim.size {
            // Doubles the coordinates. At the end, some of them overlap existing ones.
            let more = done.min(dim.size - done);
            or_shifted(words, more * dim.input.unsigned_abs());
            done += more;
        }
    }
}

/// Repeats the existing bits, shifted by this number of bits.
fn or_shifted(words: &mut [u64], bits: usize) {
    let (skip, shift) = (bits / 64, bits % 64);
    for i in (skip..words.len()).rev() {
        let below = if shift == 0 || i == skip { 0 } else { words[i - skip - 1] >> (64 - shift) };
        words[i] |= words[i - skip] << shift | below;
    }
}
