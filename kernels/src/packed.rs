//! Writing packed bits into part of a bitmap: all other bits keep their values.

/// The number of bytes that hold the bits of `elements` elements, from bit `shift` (below 8) of the
/// first byte on. Does not add both numbers, since the sum could overflow.
#[inline(always)]
pub(crate) fn bytes_of(elements: usize, shift: usize) -> usize {
    elements / 8 + (elements % 8 + shift).div_ceil(8)
}

/// Overwrites `count` bits from bit `shift` of the first byte on. `count` is at most 64, `shift` is
/// below 8, and there are at least as many bytes as the bits need.
#[inline(never)]
pub(crate) fn put(bits: u64, count: usize, out: &mut [u8], shift: usize) {
    if count == 0 {
        return;
    }
    let here = u64::MAX >> (64 - count);
    let (low, new) = (here << shift, (bits & here) << shift);
    if let Some(word) = out.first_chunk_mut() {
        *word = (u64::from_le_bytes(*word) & !low | new).to_le_bytes();
        if shift + count > 64 {
            let (high, new) = (here >> (64 - shift), (bits & here) >> (64 - shift));
            out[8] = out[8] & !(high as u8) | new as u8;
        }
        return;
    }
    let (mut here, mut new) = (low, new);
    for byte in &mut out[..(shift + count).div_ceil(8)] {
        *byte = *byte & !(here as u8) | new as u8;
        (here, new) = (here >> 8, new >> 8);
    }
}

/// Writes the same answer `elements` times, from bit `shift` (below 8) of the first byte on. `out`
/// ends with the byte of the last answer.
pub(crate) fn fill(answer: bool, elements: usize, out: &mut [u8], shift: usize) {
    let (Some(first), Some(last)) = (out.first().copied(), out.last().copied()) else { return };
    out.fill(if answer { u8::MAX } else { 0 });
    // The bits before and after stay as they are.
    let before = !(u8::MAX << shift);
    let behind = !(u8::MAX >> ((8 - (shift + elements % 8) % 8) % 8));
    let end = out.len() - 1;
    out[0] = out[0] & !before | first & before;
    out[end] = out[end] & !behind | last & behind;
}
