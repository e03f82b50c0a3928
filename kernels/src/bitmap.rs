//! The validity bitmap of a column: 1 for a valid element, 0 for a null.

/// The validity of elements.
#[cfg(feature = "validity")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bitmap<'b> {
    /// Bytes behind the bit of the last element may follow.
    pub(crate) bytes: &'b [u8],
    /// The bit of the first element, below 8.
    pub(crate) shift: usize,
}

#[cfg(feature = "validity")]
impl<'b> Bitmap<'b> {
    /// Whether element `i` is valid.
    #[inline(always)]
    pub(crate) fn is_valid(self, i: usize) -> bool {
        let bit = self.shift + i;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// The bits of `elements` elements, from bit `offset` on.
    ///
    /// # Panics
    /// If the bitmap ends before bit `offset` or before the bit of the last element.
    pub(crate) fn new(bytes: &'b [u8], offset: usize, elements: usize) -> Self {
        // Without a check, the end can overflow where addresses have 32 bits.
        let fits = offset.checked_add(elements).is_some_and(|end| end.div_ceil(8) <= bytes.len());
        assert!(fits, "a bitmap that is too short");
        Self { bytes, shift: 0 }.from(offset)
    }

    /// The bits from that of element `first` on.
    #[inline(always)]
    pub(crate) fn from(self, first: usize) -> Self {
        let bit = self.shift + first;
        Self { bytes: self.bytes.get(bit / 8..).unwrap_or_default(), shift: bit % 8 }
    }

    /// The words for blocks of 64 elements, as long as there is a word behind. For loops that have
    /// no register left for [`Bitmap::bits_of`].
    #[cfg(feature = "stats")]
    #[inline(always)]
    pub(crate) fn words(&self) -> impl ExactSizeIterator<Item = u64> {
        let (words, shift) = (self.bytes.as_chunks().0, self.shift);
        words.iter().zip(words.get(1..).unwrap_or_default()).map(move |(low, high)| {
            joined(u64::from_le_bytes(*low), u64::from_le_bytes(*high), shift)
        })
    }

    /// The bits of `elements` elements at a time: 64 or 32. The bits of fewer elements at the end
    /// are left out.
    ///
    /// One byte more is read only if `shift` is not 0, so that the bits reach into that byte. No
    /// byte behind the last element is read.
    ///
    /// ```text
    /// shift 3   low, bytes 0 to 7    hgfedcba ponmlkji ..     most significant bit first
    ///           high, bytes 1 to 8            ponmlkji ..
    ///           bits                 kjihgfed ..              low >> 3 | high << 5
    /// shift 0   bits = low           high is low, and moves by 0
    /// ```
    #[inline(always)]
    pub(crate) fn bits_of(&self, elements: usize) -> impl Iterator<Item = u64> + use<'b> {
        let (shift, bytes) = (self.shift, elements / 8);
        let highs = self.bytes.get(usize::from(shift != 0)..).unwrap_or_default();
        self.bytes.chunks_exact(bytes).zip(highs.chunks_exact(bytes)).map(move |(low, high)| {
            let bits = as_word(low) >> shift | as_word(high) << ((8 - shift) % 8);
            bits & u64::MAX >> (64 - elements)
        })
    }

    /// The validity of 64 elements from `first` on. Zeros stand in for bytes behind the bitmap. The
    /// caller masks the bits of other elements.
    #[inline(never)]
    pub(crate) fn word(self, first: usize) -> u64 {
        let Self { bytes, shift } = self.from(first);
        // A copy of variable length would be a call of memcpy.
        match bytes.split_first_chunk() {
            Some((low, rest)) => {
                let high = u64::from(rest.first().copied().unwrap_or(0));
                joined(u64::from_le_bytes(*low), high, shift)
            }
            None => few_bytes(bytes) >> shift,
        }
    }
}

/// At most eight bytes as a word. Fast if the compiler knows their number.
#[cfg(feature = "validity")]
#[inline(always)]
fn as_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Fewer than eight bytes as a word. Not inlined, since the compiler writes the loop out.
#[cfg(feature = "validity")]
#[inline(never)]
pub(crate) fn few_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// 64 bits from bit `shift` of `low` on, below 64. `high` has the bits behind those of `low`.
#[inline(always)]
pub(crate) fn joined(low: u64, high: u64, shift: usize) -> u64 {
    low >> shift | high << 1 << (63 - shift)
}

/// 64 bits from bit `shift` on, below 8.
#[cfg(feature = "views")]
#[inline(always)]
pub(crate) fn word_of(&[low @ .., high]: &[u8; 9], shift: usize) -> u64 {
    joined(u64::from_le_bytes(low), u64::from(high), shift)
}
