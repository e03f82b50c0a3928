//! Validity bitmaps of Apache Arrow: which elements of a view are no nulls.

use nonfinite_kernels::{Backend, Rule, typed};

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
        let valid = if from < end { self.run(backend, from, end, true) } else { 0 };
        let (first, end) = (self.shift + from + valid, self.shift + end);
        let bytes = &self.bytes[first / 8..end.div_ceil(8)];
        let (Some(&head), Some(&tail)) = (bytes.first(), bytes.last()) else { return valid };
        // The first and the last byte count whole. So the bits outside are taken off again.
        let before = head & !(0xFF << (first % 8));
        let behind = if end % 8 == 0 { 0 } else { tail & (0xFF << (end % 8)) };
        valid + count_ones(bytes) - (before.count_ones() + behind.count_ones()) as usize
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
            let piece = (count - done).min(PIECE);
            self.clear_piece(from + done, piece, bits, (offset + done) % 8);
            done += piece;
        }
    }

    /// [`Self::clear_nulls`] with an offset below 8, without a look for valid elements.
    fn clear_piece(&self, from: usize, count: usize, out: &mut [u8], offset: usize) {
        let head = ((8 - offset) % 8).min(count);
        for i in 0..head {
            out[0] &= !(u8::from(!self.is_valid(from + i)) << (offset + i));
        }
        if head < count {
            self.and(from + head, count - head, &mut out[(offset + head) / 8..]);
        }
    }

    /// [`Self::clear_nulls`] of at least one element from bit 0 of `out` on. Each word of `out`
    /// meets the bits of two neighbours, and so does each byte behind the last word. With a shift
    /// of 3, in bytes:
    ///
    /// ```text
    /// bitmap:  hgfedcba ponmlkji       validity of a to p, most significant bit first
    /// shifted: kjihgfed                bitmap[0] >> 3 | bitmap[1] << 5
    /// ```
    fn and(&self, from: usize, count: usize, out: &mut [u8]) {
        let bit = self.shift + from;
        let (bitmap, shift) = (&self.bytes[bit / 8..], bit % 8);
        let (valid, (words, _)) = (bitmap.as_chunks().0, out[..count / 8].as_chunks_mut());
        let mut done = 0;
        if shift == 0 {
            for (out, valid) in words.iter_mut().zip(valid) {
                *out = (u64::from_le_bytes(*out) & u64::from_le_bytes(*valid)).to_le_bytes();
            }
            done = 8 * words.len().min(valid.len());
        } else if let [_, next @ ..] = valid {
            for (out, (low, high)) in words.iter_mut().zip(valid.iter().zip(next)) {
                let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
                let valid = low >> shift | high << (64 - shift);
                *out = (u64::from_le_bytes(*out) & valid).to_le_bytes();
            }
            done = 8 * words.len().min(next.len());
        }
        for i in done..count.div_ceil(8) {
            let high = bitmap.get(i + 1).copied().unwrap_or(0);
            let valid = u16::from_le_bytes([bitmap[i], high]) >> shift;
            let behind = if count - 8 * i < 8 { 0xFF << (count - 8 * i) } else { 0 };
            out[i] &= valid as u8 | behind;
        }
    }
}

/// How many bits are 1.
#[inline(never)]
pub(super) fn count_ones(bits: &[u8]) -> usize {
    let (words, rest) = bits.as_chunks();
    let words: usize =
        words.iter().map(|word| u64::from_le_bytes(*word).count_ones() as usize).sum();
    words + rest.iter().map(|byte| byte.count_ones() as usize).sum::<usize>()
}

/// The first bit that is 1.
#[inline(never)]
pub(super) fn first_one(bits: &[u8]) -> Option<usize> {
    let (words, _) = bits.as_chunks::<8>();
    let clear = 8 * words.iter().take_while(|word| **word == [0; 8]).count();
    let byte = clear + bits[clear..].iter().position(|&byte| byte != 0)?;
    Some(8 * byte + bits[byte].trailing_zeros() as usize)
}
