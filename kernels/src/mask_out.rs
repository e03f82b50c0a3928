//! The output of a byte mask.
#![expect(unsafe_code, reason = "`bool` and `u8` are taken as `MaybeUninit<bool>`")]

use core::mem::MaybeUninit;

/// The output of a byte mask. Kernels write 0 or 1 into every byte of it, and nothing else.
///
/// Made from slices, arrays and vectors of `bool` or `u8`, or from `&mut [MaybeUninit<bool>]`.
#[derive(Debug)]
pub struct MaskOut<'a>(&'a mut [MaybeUninit<bool>]);

impl<'a> MaskOut<'a> {
    /// The number of answers that fit.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no answer fits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the same answer everywhere.
    #[inline]
    pub fn fill(self, answer: bool) {
        self.0.fill(MaybeUninit::new(answer));
    }

    /// Writes one answer.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    #[track_caller]
    pub fn set(&mut self, place: usize, answer: bool) {
        self.0[place].write(answer);
    }

    /// The same output, borrowed for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> MaskOut<'_> {
        MaskOut(self.0)
    }

    /// Splits the output after the first `results` places.
    ///
    /// # Panics
    /// If there are fewer places.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn split_at(self, results: usize) -> (Self, Self) {
        let (first, rest) = self.0.split_at_mut(results);
        (Self(first), Self(rest))
    }

    /// The slots. The caller may write initialised values only, since the memory may be a slice of
    /// `bool` or `u8`.
    #[inline(always)]
    pub(crate) fn slots(self) -> &'a mut [MaybeUninit<bool>] {
        self.0
    }
}

mod sealed {
    use core::mem::MaybeUninit;

    /// A byte of a mask.
    ///
    /// # Safety
    /// The size is that of `bool`, any byte may be there before, and any `bool` is a value.
    pub unsafe trait Byte {}

    // SAFETY: one byte, which is a `bool`.
    unsafe impl Byte for bool {}
    // SAFETY: one byte; 0 and 1, which a `bool` may be, are values.
    unsafe impl Byte for u8 {}
    // SAFETY: as large as a `bool`, of which every value is one of this type.
    unsafe impl Byte for MaybeUninit<bool> {}
}
use sealed::Byte;

impl<'a, B: Byte> From<&'a mut [B]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [B]) -> Self {
        // SAFETY: same length and size (`Byte`), and `MaybeUninit<bool>` has the alignment 1 and
        // may hold any byte. The crate only ever writes initialised `bool`s through `slots`, so
        // every byte is a value of `B` when the borrow ends.
        Self(unsafe { &mut *(core::ptr::from_mut(out) as *mut [MaybeUninit<bool>]) })
    }
}

impl<'a, B: Byte, const N: usize> From<&'a mut [B; N]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [B; N]) -> Self {
        out.as_mut_slice().into()
    }
}

#[cfg(feature = "std")]
impl<'a, B: Byte> From<&'a mut std::vec::Vec<B>> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut std::vec::Vec<B>) -> Self {
        out.as_mut_slice().into()
    }
}

/// Bit `i` as byte `i`, for the low eight bits.
#[inline(always)]
pub(crate) fn spread_eight(bits: u64, out: &mut [MaybeUninit<bool>; 8]) {
    // Copies all bits to every byte, and keeps bit `i` of byte `i`. The addition moves this bit to
    // the top of its byte, and carries out of no byte.
    let kept = ((bits & 0xFF) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    spread_bytes((kept + 0x7F7F_7F7F_7F7F_7F7F) >> 7, out);
}

/// Writes the lowest bit of each of the first `N` bytes, low byte first, by one store.
#[inline(always)]
pub(crate) fn spread_bytes<const N: usize>(bytes: u64, out: &mut [MaybeUninit<bool>; N]) {
    const { assert!(N <= 8) };
    let answers = (bytes & 0x0101_0101_0101_0101).to_le_bytes();
    // SAFETY: `N` of the 8 bytes are copied to `N` places. Each byte is 0 or 1, a `bool`.
    unsafe { out.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(answers.as_ptr(), N) }
}
