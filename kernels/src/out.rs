//! Where a byte mask goes.
#![expect(unsafe_code, reason = "`bool` and `u8` are taken as `MaybeUninit<bool>`")]

use core::mem::MaybeUninit;

/// The output of a byte mask: kernels write 0 or 1 into every byte of it, nothing else.
///
/// Made from slices, arrays and vectors of `bool` or `u8`, or from `&mut [MaybeUninit<bool>]`.
#[derive(Debug)]
pub struct MaskOut<'a>(&'a mut [MaybeUninit<bool>]);

impl<'a> MaskOut<'a> {
    /// The number of results it takes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it takes none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same answer for all.
    #[inline]
    pub fn fill(self, answer: bool) {
        self.0.fill(MaybeUninit::new(answer));
    }

    /// Splits the output: places for the first `results` answers, and the others.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn split_at(self, results: usize) -> (Self, Self) {
        let (first, rest) = self.0.split_at_mut(results);
        (Self(first), Self(rest))
    }

    /// The slots, of which the caller must initialise whatever it touches: the bytes may stand for
    /// `bool` or `u8` that were initialised before.
    #[inline(always)]
    pub(crate) fn slots(self) -> &'a mut [MaybeUninit<bool>] {
        self.0
    }

    /// [`MaskOut::slots`] for a while.
    #[cfg(feature = "views")]
    #[inline(always)]
    pub(crate) fn slots_mut(&mut self) -> &mut [MaybeUninit<bool>] {
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
