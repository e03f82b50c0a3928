//! Arrays of the crate `ndarray`. Only their elements are read and written: what lies between them
//! may belong to another array.

use ndarray::{ArrayBase, ArrayViewMut, Data, Dimension};

use super::{Source, Target};
use crate::Bits;

/// Sizes and strides, innermost first.
fn dims<'x>(
    sizes: &'x [usize],
    strides: &'x [isize],
) -> impl Iterator<Item = (usize, isize)> + Clone + use<'x> {
    sizes.iter().copied().zip(strides.iter().copied()).rev()
}

impl<'a, T: Bits, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>> for Source<'a> {
    /// # Panics
    /// If elements do not have 1, 2, 4 or 8 bytes.
    fn from(x: &'a ArrayBase<S, D>) -> Self {
        let dims = dims(x.shape(), x.strides());
        // SAFETY: the array is borrowed for `'a`, so all its elements exist, and nothing writes to
        // them: a `T` is all bits (`Bits`), which are initialised and cannot change behind a shared
        // reference.
        unsafe { Self::from_raw(x.as_ptr().cast(), size_of::<T>(), dims, false) }
    }
}

impl<'o, D: Dimension> From<&'o mut ArrayViewMut<'_, bool, D>> for Target<'o> {
    fn from(out: &'o mut ArrayViewMut<'_, bool, D>) -> Self {
        let start = out.as_mut_ptr().cast();
        // SAFETY: the array is ours for `'o`, so all its elements exist, and nothing else uses
        // them.
        unsafe { Self::from_raw(start, dims(out.shape(), out.strides())) }
    }
}
