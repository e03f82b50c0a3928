//! How the loops see memory: in lines of 64 bytes, at any address.

use core::mem::MaybeUninit;

/// A cache line of input, at any address.
pub(crate) type Line = [u8; 64];

/// 64 elements of `W` bytes.
pub(crate) type Block<const W: usize> = [Line; W];

/// The mask of a block. A function that writes to it writes all of it.
pub(crate) type Slots = [MaybeUninit<bool>; 64];

/// Bytes that are counted at once. With two registers of 16 bytes, a counter of one byte reaches
/// 128, and does not overflow.
pub(crate) const COUNTED: usize = 4096;

/// Bytes that are looked at before a branch.
pub(crate) const GROUP: usize = 1024;

/// The number of bytes before the first cache line of an input, if its elements are aligned; else
/// 0. At most the length of the input. `width` is 1, 2, 4 or 8. Loads that cross cache lines take
/// twice the time.
#[inline(always)]
pub(crate) fn until_line(x: &[u8], width: usize) -> usize {
    let head = x.as_ptr().addr().wrapping_neg() % 64;
    if head & (width - 1) == 0 { head.min(x.len()) } else { 0 }
}

/// The lines of an input, and the bytes behind the last.
#[inline(always)]
pub(crate) fn lines(x: &[u8]) -> (&[Line], &[u8]) {
    x.as_chunks()
}

/// The last 64 elements of an input, if it has that many.
#[inline(always)]
pub(crate) fn last_block<const W: usize>(x: &[u8]) -> Option<&Block<W>> {
    x.as_rchunks().1.last_chunk()
}

/// How many whole elements of `size` bytes are in so many bytes. By a shift: a division by a size
/// that is known at run time takes as long as a search of 64 bytes.
#[inline(always)]
pub(crate) const fn elements(bytes: usize, size: usize) -> usize {
    bytes >> size.trailing_zeros()
}
