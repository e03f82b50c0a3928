//! Writing packed bits into part of a bitmap: all other bits keep their values.

/// The number of bytes that hold the bits of `elements` elements, from bit `shift` (below 8) of the
/// first byte on. Does not add both numbers, since the sum could overflow.
#[inline(always)]
pub(crate) fn bytes_of(elements: usize, shift: usize) -> usize {
    elements / 8 + (elements % 8 + shift).div_ceil(8)
}

/// Overwrites `count` bits from bit `shift` of the first byte on. `count` is at most 64, `shift` is
/// below 8, and there are at least as many bytes as the bits need.
#[inline(always)]
pub(crate) fn put(bits: u64, count: usize, out: &mut [u8], shift: usize) {
    if shift == 0 && count.is_multiple_of(8) {
        write(bits, &mut out[..count / 8]);
    } else {
        put_between(bits, count, out, shift);
    }
}

/// [`put`] beside bits of the first and the last byte that keep their values.
#[inline(never)]
fn put_between(bits: u64, count: usize, out: &mut [u8], shift: usize) {
    if count == 0 {
        return;
    }
    let (here, end) = (u64::MAX >> (64 - count), shift + count);
    let bits = bits & here;
    if end <= 8 {
        out[0] = out[0] & !(here << shift) as u8 | (bits << shift) as u8;
        return;
    }
    let out = &mut out[..end.div_ceil(8)];
    let last = out.len() - 1;
    let before = out[0] & !(u8::MAX << shift);
    // No bits are behind bit 7 of the last byte.
    let behind = out[last] & !(u8::MAX >> (7 - (end - 1) % 8));
    let word = bits << shift | u64::from(before);
    if last == 8 {
        out[8] = (bits >> (64 - shift)) as u8 | behind;
        write(word, &mut out[..8]);
    } else {
        write(word | u64::from(behind) << (8 * last), out);
    }
}

/// Writes the low bytes of a word: at most eight, by one store or by two that overlap.
#[inline(always)]
fn write(word: u64, out: &mut [u8]) {
    match out.len() {
        0 => {}
        1 => out[0] = word as u8,
        2 | 3 => write_both::<2>(word, out),
        _ => write_both::<4>(word, out),
    }
}

#[inline(always)]
fn write_both<const N: usize>(word: u64, out: &mut [u8]) {
    let last = out.len() - N;
    for at in [0, last] {
        out[at..at + N].copy_from_slice(&(word >> (8 * at)).to_le_bytes()[..N]);
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
