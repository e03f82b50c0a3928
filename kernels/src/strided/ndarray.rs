//! Arrays of the crate `ndarray`. Only elements are read and written: the bytes between them may
//! belong to another array.

use ndarray::{ArrayBase, Data, DataMut, Dimension};

use super::layout::Layout;
use super::{MaskView, Tensor};
use crate::Bits;

/// The layout of an array: `ndarray` vouches that the elements exist.
fn layout<'a>(sizes: &'a [usize], strides: &'a [isize]) -> Layout<'a> {
    Layout::unchecked(sizes, strides).expect("an array of at most 64 dimensions")
}

/// The dimensions and the layout of the array.
///
/// # Panics
/// If the array has more than 64 dimensions.
impl<'a, T: Bits, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>> for Tensor<'a> {
    fn from(x: &'a ArrayBase<S, D>) -> Self {
        const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8)) };
        let layout = layout(x.shape(), x.strides());
        // SAFETY: the array is borrowed for `'a`, so its elements exist, and nothing writes to
        // them: they are all bits (`Bits`), which are initialised and cannot change behind a shared
        // reference.
        unsafe { Self::from_raw(x.as_ptr().cast(), size_of::<T>(), false, layout) }
    }
}

/// The dimensions and the layout of the array.
///
/// # Panics
/// If the array has more than 64 dimensions.
impl<'o, S: DataMut<Elem = bool>, D: Dimension> From<&'o mut ArrayBase<S, D>> for MaskView<'o> {
    fn from(out: &'o mut ArrayBase<S, D>) -> Self {
        // Call this first: it copies the elements of a shared array, which changes sizes and
        // strides.
        let start = out.as_mut_ptr().cast();
        let out: &'o ArrayBase<S, D> = out;
        // SAFETY: the array is ours for `'o`, so all its elements exist, nothing else uses them,
        // and each coordinate of a writable array has its own element.
        unsafe { Self::from_raw(start, layout(out.shape(), out.strides())) }
    }
}
