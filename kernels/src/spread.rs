//! Writes answers that lie in a number as bytes.
#![expect(unsafe_code, reason = "several answers are one store")]

use core::mem::MaybeUninit;

/// Bit `i` as byte `i`, for the low eight bits.
#[inline(always)]
pub(crate) fn eight(bits: u64, out: &mut [MaybeUninit<bool>; 8]) {
    // Copies all bits to every byte, and keeps bit `i` of byte `i`. The addition moves this bit to
    // the top of its byte, and carries out of no byte.
    let kept = ((bits & 0xFF) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    low_bits((kept + 0x7F7F_7F7F_7F7F_7F7F) >> 7, out);
}

/// Writes the lowest bit of each of the first `N` bytes, low byte first, by one store.
#[inline(always)]
pub(crate) fn low_bits<const N: usize>(bytes: u64, out: &mut [MaybeUninit<bool>; N]) {
    const { assert!(N <= 8) };
    let answers = (bytes & 0x0101_0101_0101_0101).to_le_bytes();
    // SAFETY: `N` of the 8 bytes are copied to `N` places. Each byte is 0 or 1, a `bool`.
    unsafe { out.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(answers.as_ptr(), N) }
}
