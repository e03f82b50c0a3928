//! Validity bitmaps of Apache Arrow: which elements of a view are no nulls.

use nonfinite_kernels::{self as kernels, Backend, Rule, typed};

use super::pieces::SHORT;
use crate::Error;

/// Bytes that are not all ones.
const NOT_ONES: Rule = Rule::equal(1, 0xFF, 0xFF).not();
/// Bytes that are not all zeros.
const NOT_ZEROS: Rule = Rule::equal(1, 0xFF, 0).not();

/// One bit for each element, least significant first: 1 for a valid element, 0 for a null.
#[derive(Clone, Copy)]
pub(super) struct Validity<'a> {
    /// The bytes that hold the bits, and no others.
    bytes: &'a [u8],
    /// The bit of element 0, below 8.
    shift: usize,
}

impl<'a> Validity<'a> {
    /// The bits of `elements` elements, from bit `offset` of the bitmap on.
    // Inlined, or the caller reads two words at once that were just stored one by one, and waits.
    #[inline]
    pub(super) fn new(bitmap: &'a [u8], offset: usize, elements: usize) -> Result<Self, Error> {
        let bytes = offset
            .checked_add(elements)
            .and_then(|end| bitmap.get(offset / 8..end.div_ceil(8)))
            .ok_or(Error::ValidityBits { elements, offset, bytes: bitmap.len() })?;
        Ok(Self { bytes, shift: offset % 8 })
    }

    /// Whether element `i` is valid.
    pub(super) fn is_valid(&self, i: usize) -> bool {
        let bit = self.shift + i;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// How many elements from `from` on are all valid, or all null if `valid` is false. Elements
    /// from `end` on do not count, and `from` is less than `end`.
    pub(super) fn run(
        &self,
        backend: Option<Backend>,
        from: usize,
        end: usize,
        valid: bool,
    ) -> usize {
        let (first, end) = (self.shift + from, self.shift + end);
        let (same, other) = if valid { (0xFF, &NOT_ONES) } else { (0, &NOT_ZEROS) };
        let differing = (self.bytes[first / 8] ^ same) >> (first % 8);
        if differing != 0 {
            return (differing.trailing_zeros() as usize).min(end - first);
        }
        let behind = first / 8 + 1;
        let bytes = &self.bytes[behind..end.div_ceil(8)];
        let run_end = typed::position::<u8>(backend, bytes, other).map_or(end, |byte| {
            8 * (behind + byte) + (bytes[byte] ^ same).trailing_zeros() as usize
        });
        run_end.min(end) - first
    }

    /// How many elements from `from` to before `end` are valid.
    pub(super) fn count(&self, backend: Option<Backend>, from: usize, end: usize) -> usize {
        end - from - kernels::count_nulls(backend, self.bytes, self.shift + from, end - from)
    }

    /// The bitmap, and the bit of element `first` in it.
    pub(super) fn bits_from(&self, first: usize) -> (&'a [u8], usize) {
        (self.bytes, self.shift + first)
    }

    /// Clears the bits of nulls. The bit of element `from` is bit `offset` of `out`, and there are
    /// bits of `count` elements. All other bits stay as they are.
    pub(super) fn clear_nulls(
        &self,
        backend: Option<Backend>,
        from: usize,
        count: usize,
        out: &mut [u8],
        offset: usize,
    ) {
        // Where all elements are valid, nothing is to be cleared. The search for the first null
        // takes as long as clearing few bits.
        let done = if count > SHORT { self.run(backend, from, from + count, true) } else { 0 };
        // Up to a whole byte of `out`.
        let head = ((offset + done).wrapping_neg() % 8).min(count - done);
        for i in done..done + head {
            let bit = offset + i;
            out[bit / 8] &= !(u8::from(!self.is_valid(from + i)) << (bit % 8));
        }
        let done = done + head;
        if done < count {
            let out = &mut out[(offset + done) / 8..];
            kernels::clear_nulls(out, count - done, self.bytes, self.shift + from + done);
        }
    }
}
