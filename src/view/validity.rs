//! Validity bitmaps of Apache Arrow: which elements of a view are no nulls.

use nonfinite_kernels::{self as kernels, Backend, Rule, typed};

use crate::Error;

/// Bytes that are not all ones.
const NOT_ONES: Rule = Rule::equal(1, 0xFF, 0xFF).not();
/// Bytes that are not all zeros.
const NOT_ZEROS: Rule = Rule::equal(1, 0xFF, 0).not();

/// At most this many bits are compared with the bitmap before the next search for a null.
const PIECE: usize = 1 << 15;

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

    /// The validity of the elements from `first` on.
    #[cfg(feature = "views")]
    pub(super) fn from(&self, first: usize) -> Self {
        let bit = self.shift + first;
        Self { bytes: &self.bytes[bit / 8..], shift: bit % 8 }
    }

    /// The bitmap, and the bit of element `first` in it.
    #[cfg(feature = "stats")]
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
        let mut done = 0;
        while done < count {
            done += self.run(backend, from + done, from + count, true);
            let bits = &mut out[(offset + done) / 8..];
            let (piece, offset) = ((count - done).min(PIECE), (offset + done) % 8);
            let head = ((8 - offset) % 8).min(piece);
            for i in 0..head {
                bits[0] &= !(u8::from(!self.is_valid(from + done + i)) << (offset + i));
            }
            self.clear_packed(
                backend,
                from + done + head,
                piece - head,
                &mut bits[(offset + head) / 8..],
            );
            done += piece;
        }
    }

    /// Clears the bits of nulls. The bit of element `from` is bit 0 of `bits`, and there are bits
    /// of `count` elements. Returns how many of them are 1 then.
    pub(super) fn clear_packed(
        &self,
        backend: Option<Backend>,
        from: usize,
        count: usize,
        bits: &mut [u8],
    ) -> usize {
        kernels::clear_nulls(backend, bits, count, self.bytes, self.shift + from)
    }
}

/// The first bit that is 1.
#[inline(never)]
pub(super) fn first_one(bits: &[u8]) -> Option<usize> {
    let (words, _) = bits.as_chunks::<8>();
    let clear = 8 * words.iter().take_while(|word| **word == [0; 8]).count();
    let byte = clear + bits[clear..].iter().position(|&byte| byte != 0)?;
    Some(8 * byte + bits[byte].trailing_zeros() as usize)
}
