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

impl<'a> From<&'a mut [MaybeUninit<bool>]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [MaybeUninit<bool>]) -> Self {
        Self(out)
    }
}

impl<'a> From<&'a mut [bool]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [bool]) -> Self {
        // SAFETY: same length, size and alignment; the crate only ever writes initialised `bool`s
        // through `slots`, so every byte is a `bool` when the borrow ends.
        Self(unsafe { &mut *(core::ptr::from_mut(out) as *mut [MaybeUninit<bool>]) })
    }
}

impl<'a> From<&'a mut [u8]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [u8]) -> Self {
        // SAFETY: same length, size and alignment; `MaybeUninit<bool>` may hold any byte, and the
        // crate only ever writes initialised `bool`s through `slots`, which are valid `u8`s when
        // the borrow ends.
        Self(unsafe { &mut *(core::ptr::from_mut(out) as *mut [MaybeUninit<bool>]) })
    }
}

impl<'a, const N: usize> From<&'a mut [bool; N]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [bool; N]) -> Self {
        out.as_mut_slice().into()
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [u8; N]) -> Self {
        out.as_mut_slice().into()
    }
}

impl<'a, const N: usize> From<&'a mut [MaybeUninit<bool>; N]> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut [MaybeUninit<bool>; N]) -> Self {
        out.as_mut_slice().into()
    }
}

#[cfg(feature = "std")]
impl<'a> From<&'a mut std::vec::Vec<bool>> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut std::vec::Vec<bool>) -> Self {
        out.as_mut_slice().into()
    }
}

#[cfg(feature = "std")]
impl<'a> From<&'a mut std::vec::Vec<u8>> for MaskOut<'a> {
    #[inline]
    fn from(out: &'a mut std::vec::Vec<u8>) -> Self {
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
