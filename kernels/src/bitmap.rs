//! The validity bitmap of a column.

use core::fmt;

use crate::packed::bytes_of;

/// Which elements are valid and which are null, as Apache Arrow packs them: bit
/// `(offset + i) % 8` of byte `(offset + i) / 8` is 1 if element `i` is valid. Bits of other
/// elements in the first and in the last byte may have any value.
///
/// ```
/// use nonfinite_kernels::{Bitmap, Occurrences};
///
/// let bitmap = Bitmap::new(&[0b0110_1000], 3, 4).unwrap();
/// assert!(bitmap.is_valid(0) && !bitmap.is_valid(1));
/// assert_eq!((bitmap.count(None), bitmap.part(1, 3).count(None)), (3, 2));
/// assert!(bitmap.nulls().eq([1]));
/// assert_eq!(bitmap.occurrences(None, &[0b1010]), Occurrences::new(1, Some(3)));
/// assert!(Bitmap::new(&[0xFF], 3, 6).is_none());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Bitmap<'b> {
    /// The bytes that hold the bits, and no others.
    pub(crate) bytes: &'b [u8],
    /// The bit of element 0 in the first byte, below 8.
    pub(crate) shift: usize,
    pub(crate) elements: usize,
}

impl<'b> Bitmap<'b> {
    /// The bits of `elements` elements, from bit `offset` of `bytes` on. `None` if `bytes` end
    /// before bit `offset` or before the bit of the last element.
    // Inlined: otherwise one load reads two words that were just stored one by one, and waits.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'b [u8], offset: usize, elements: usize) -> Option<Self> {
        let (first, shift) = (offset / 8, offset % 8);
        let bytes = bytes.get(first..first.saturating_add(bytes_of(elements, shift)))?;
        Some(Self { bytes, shift, elements })
    }

    /// The number of elements, nulls among them.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements
    }

    /// Whether there is no element, not even a null.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// Whether element `i` is valid.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, i: usize) -> bool {
        assert!(i < self.elements, "element {i} of {}", self.elements);
        let bit = self.shift + i;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// The bits of `elements` elements from element `first` on.
    ///
    /// # Panics
    /// If the bitmap has fewer.
    #[inline]
    #[must_use]
    pub fn part(&self, first: usize, elements: usize) -> Self {
        assert!(first <= self.elements && elements <= self.elements - first, "a part of a bitmap");
        let bit = self.shift + first;
        let bytes = &self.bytes[bit / 8..(bit + elements).div_ceil(8)];
        Self { bytes, shift: bit % 8, elements }
    }

    #[inline]
    pub(crate) fn from(&self, first: usize) -> Self {
        self.part(first, self.elements - first)
    }

    /// The indices of the nulls, in order.
    pub fn nulls(&self) -> impl Iterator<Item = usize> {
        let rest = !self.rest() & !(u64::MAX << (self.elements % 64));
        let words = self.blocks().map(|valid| !valid).chain([rest]).enumerate();
        words.flat_map(|(i, mut word)| {
            core::iter::from_fn(move || {
                let null = 64 * i + word.trailing_zeros() as usize;
                let is_there = word != 0;
                word &= word.wrapping_sub(1);
                is_there.then_some(null)
            })
        })
    }

    /// Clears the bits of nulls in `out`, in which the bit of element 0 is bit `offset`. All other
    /// bits stay as they are.
    ///
    /// # Panics
    /// If `out` ends before bit `offset` or before the bit of the last element; nothing is written
    /// then.
    pub fn clear_nulls(&self, out: &mut [u8], offset: usize) {
        let (first, shift) = (offset / 8, offset % 8);
        let end = first.saturating_add(bytes_of(self.elements, shift));
        let out = &mut out[first..end];
        // The elements before the first whole byte of `out`.
        let few = (shift.wrapping_neg() % 8).min(self.elements);
        let (head, out) = out.split_at_mut(usize::from(few != 0));
        clear(head, !self.part(0, few).rest() & !(u64::MAX << few), shift);
        let others = self.from(few);
        let (blocks, rest) = out.as_chunks_mut();
        let (blocks, last) = blocks.split_at_mut(others.elements / 64);
        for (block, valid) in blocks.iter_mut().zip(others.blocks()) {
            *block = (u64::from_le_bytes(*block) & valid).to_le_bytes();
        }
        let rest = if last.is_empty() { rest } else { last.as_flattened_mut() };
        clear(rest, !others.rest() & !(u64::MAX << (others.elements % 64)), 0);
    }

    /// One word of bits for each 64 elements. The bits of fewer elements at the end are left out.
    ///
    /// ```text
    /// shift 3   low, bytes 0 to 7    hgfedcba ponmlkji ..     most significant bit first
    ///           high, bytes 1 to 8            ponmlkji ..
    ///           bits                 kjihgfed ..              low >> 3 | high << 5
    /// shift 0   bits = low           high is low, and moves by 0
    /// ```
    #[inline(always)]
    pub(crate) fn blocks(&self) -> impl ExactSizeIterator<Item = u64> + use<'b> {
        let shift = self.shift;
        let lows = &self.bytes.as_chunks().0[..self.elements / 64];
        let highs = self.bytes.get(usize::from(shift != 0)..).unwrap_or_default().as_chunks().0;
        lows.iter().zip(highs).map(move |(low, high)| {
            u64::from_le_bytes(*low) >> shift | u64::from_le_bytes(*high) << ((8 - shift) % 8)
        })
    }

    /// The bits of the elements that [`Bitmap::blocks`] leaves out. Zeros follow.
    #[inline]
    pub(crate) fn rest(&self) -> u64 {
        let bytes = &self.bytes[self.elements / 64 * 8..];
        let bits = match bytes.split_first_chunk() {
            Some((low, high)) => joined(u64::from_le_bytes(*low), word(high), self.shift),
            None => word(bytes) >> self.shift,
        };
        bits & !(u64::MAX << (self.elements % 64))
    }
}

/// Prints no bits, which may be many.
impl fmt::Debug for Bitmap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bitmap").field("elements", &self.elements).finish_non_exhaustive()
    }
}

/// Clears the bits that are 1 in `nulls`, from bit `shift` of the first byte on.
fn clear(bytes: &mut [u8], nulls: u64, shift: usize) {
    let mut nulls = nulls << shift;
    for byte in bytes {
        *byte &= !nulls as u8;
        nulls >>= 8;
    }
}

/// Fewer than eight bytes as a word. Not inlined: the compiler would unroll the loop at each call.
#[inline(never)]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// 64 bits from bit `shift`, below 64, of `low` on. `high` has the bits after those of `low`.
#[inline(always)]
fn joined(low: u64, high: u64, shift: usize) -> u64 {
    low >> shift | high << 1 << (63 - shift)
}
