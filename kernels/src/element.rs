//! The bits of elements, in the byte order of the machine.

/// The bits of the elements of `x`. Those of 2, 4 and 8 bytes are read as integers: for wasm, LLVM
/// joins the shifts of [`read`] only after it has made vectors of single bytes.
#[inline(always)]
pub(crate) fn elements<const W: usize>(x: &[u8]) -> impl DoubleEndedIterator<Item = u64> + '_ {
    x.as_chunks::<W>().0.iter().map(|element| match W {
        2 => element.first_chunk().map_or(0, |&bytes| u16::from_ne_bytes(bytes).into()),
        4 => element.first_chunk().map_or(0, |&bytes| u32::from_ne_bytes(bytes).into()),
        8 => element.first_chunk().map_or(0, |&bytes| u64::from_ne_bytes(bytes)),
        _ => read(element),
    })
}

#[inline(always)]
pub(crate) fn read(element: &[u8]) -> u64 {
    // Uses shifts: a copy into eight bytes took nine times as long in tests.
    let join = |bits, &byte: &u8| bits << 8 | u64::from(byte);
    if cfg!(target_endian = "little") {
        element.iter().rev().fold(0, join)
    } else {
        element.iter().fold(0, join)
    }
}

/// Writes the low bytes of a number to an element.
#[inline(always)]
pub(crate) fn write<const W: usize>(element: &mut [u8; W], bits: u64) {
    let bytes = bits.to_ne_bytes();
    let from = if cfg!(target_endian = "little") { 0 } else { 8 - W };
    element.copy_from_slice(&bytes[from..from + W]);
}
