//! The elements of a tile as the dense kernels want them: in one piece.

use core::mem::MaybeUninit;

use super::copy;
use super::dims::{Dim, TILE_DIMS, Tile, sort};

/// Bytes on the stack, of which only the first may be initialised.
pub(super) struct Room<const BYTES: usize> {
    bytes: [MaybeUninit<u8>; BYTES],
    initialised: usize,
}

impl<const BYTES: usize> Room<BYTES> {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self { bytes: [MaybeUninit::uninit(); BYTES], initialised: 0 }
    }

    /// The first bytes, all the same.
    #[inline(never)]
    pub(super) fn filled(&mut self, bytes: usize, with: u8) -> &mut [u8] {
        self.bytes[..bytes].fill(MaybeUninit::new(with));
        self.initialised = bytes;
        self.bytes(bytes)
    }

    /// The first bytes as they are.
    ///
    /// # Panics
    /// If they were not filled.
    #[inline(always)]
    pub(super) fn bytes(&mut self, bytes: usize) -> &mut [u8] {
        let bytes = &mut self.bytes[..self.initialised][..bytes];
        // SAFETY: same length and alignment; `initialised` bytes were written by `filled`, and
        // there is no other way to them except `slots`, which makes it 0.
        unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [u8]) }
    }

    /// The first bytes, for what is written before it is read.
    #[inline(always)]
    pub(super) fn slots(&mut self, bytes: usize) -> &mut [MaybeUninit<bool>] {
        self.initialised = 0;
        let bytes = &mut self.bytes[..bytes];
        // SAFETY: same length and alignment; both may hold anything.
        unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [MaybeUninit<bool>]) }
    }
}

/// One word of packed bits from bit `at` on; 0 behind the end.
#[inline(always)]
pub(super) fn word(bits: &[u8], at: usize) -> u64 {
    let bytes = bits.get(at / 8..).and_then(|bytes| bytes.first_chunk::<9>());
    let shift = at % 8;
    bytes.map_or(0, |&[low @ .., high]| {
        u64::from_le_bytes(low) >> shift | (u64::from(high) << 1) << (63 - shift)
    })
}

/// Bytes that elements are brought together in.
pub(super) const ROOM: usize = 16384;

/// Where the elements of tiles are.
pub(super) struct Loader {
    /// Coordinate 0 of the tensor.
    pub(super) start: *const u8,
    /// Bytes of an element.
    pub(super) element: usize,
    /// Whether a tile is looked at with all that is between its elements.
    pub(super) span: bool,
    pub(super) room: Room<ROOM>,
}

impl Loader {
    /// The elements of a tile, and what is between them if this is a span. The input of each
    /// dimension becomes the step in what is returned.
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
        // Alike for all tiles along a row.
        sort(dims, |dim| 2 * dim.input as usize + usize::from(dim.row != 0));
        // Of what is broadcast one element is taken.
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

/// One bit for each element of a span: whether it is named.
#[inline(never)]
pub(super) fn pattern(dims: &[Dim], words: &mut [u64]) {
    words.fill(0);
    words[0] = 1;
    for dim in dims {
        let mut done = 1;
        while done < dim.size {
            // As many coordinates again; or those that are left, with some that are there.
            let more = done.min(dim.size - done);
            or_shifted(words, more * dim.input.unsigned_abs());
            done += more;
        }
    }
}

/// Adds what is there once more, so many bits further on.
fn or_shifted(words: &mut [u64], bits: usize) {
    let (skip, shift) = (bits / 64, bits % 64);
    for i in (skip..words.len()).rev() {
        let below = if shift == 0 || i == skip { 0 } else { words[i - skip - 1] >> (64 - shift) };
        words[i] |= words[i - skip] << shift | below;
    }
}
