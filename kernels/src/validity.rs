//! Validity bitmaps of Apache Arrow, and packed bits under one.

use crate::backend::{Backend, Question, Row};
use crate::bitmap::Bitmap;
use crate::loops::validity::{ClearNulls, CountNulls};
use crate::rule::{Comparison, UNUSED};

impl Question for CountNulls {
    fn scalar(x: &[u8], _: &Comparison, [begin, end]: [usize; 2]) -> usize {
        let bitmap = Bitmap { bytes: x, shift: 0 };
        (begin..end).filter(|&bit| !bitmap.is_valid(bit)).count()
    }
}

impl Question for ClearNulls {
    fn scalar(x: &[u8], _: &Comparison, (shift, bits, elements): Self::Out<'_>) -> usize {
        let bitmap = Bitmap { bytes: x, shift };
        let mut ones = 0;
        for i in 0..elements {
            bits[i / 8] &= !(u8::from(!bitmap.is_valid(i)) << (i % 8));
            ones += usize::from(bits[i / 8] >> (i % 8) & 1);
        }
        ones
    }
}

/// How many of `elements` elements are null: bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]`
/// is 0. `None` means the active backend.
///
/// # Panics
/// If the bitmap ends before bit `offset` or before the bit of the last element.
#[must_use]
pub fn count_nulls(
    backend: Option<Backend>,
    bitmap: &[u8],
    offset: usize,
    elements: usize,
) -> usize {
    static ROW: Row<CountNulls> = Row::of::<CountNulls>();
    let Bitmap { bytes, shift } = Bitmap::new(bitmap, offset, elements);
    ROW.run(backend, bytes, &UNUSED, [shift, shift + elements])
}

/// Clears the bits of nulls among the first `elements` packed bits: bit `i` stays as it is where
/// bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1. Returns how many of them are 1 then.
/// `None` means the active backend.
///
/// # Panics
/// If the bitmap ends before bit `offset`, or if the bitmap or `bits` end before the bit of the
/// last element; nothing is written then.
pub fn clear_nulls(
    backend: Option<Backend>,
    bits: &mut [u8],
    elements: usize,
    bitmap: &[u8],
    offset: usize,
) -> usize {
    static ROW: Row<ClearNulls> = Row::of::<ClearNulls>();
    assert!(elements.div_ceil(8) <= bits.len(), "packed bits that are too short");
    let Bitmap { bytes, shift } = Bitmap::new(bitmap, offset, elements);
    ROW.run(backend, bytes, &UNUSED, (shift, bits, elements))
}
