//! Arrays of the crate `ndarray`. Only elements are read and written: the bytes between them may
//! belong to another array.

use core::marker::PhantomData;

use ndarray::{ArrayBase, Data, DataMut, Dimension};

use super::{Source, Target};
use crate::Bits;

/// The elements of an array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Coordinate 0.
    start: *const u8,
    /// Bytes of an element.
    element: usize,
    sizes: &'a [usize],
    strides: &'a [isize],
}

// SAFETY: an `Array` only reads, and elements are all bits (`Bits`): they can be shared among
// threads and do not change behind a shared reference.
unsafe impl Send for Array<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Array<'_> {}

impl<'a, T: Bits, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>> for Array<'a> {
    fn from(x: &'a ArrayBase<S, D>) -> Self {
        let (start, element) = (x.as_ptr().cast(), size_of::<T>());
        Self { start, element, sizes: x.shape(), strides: x.strides() }
    }
}

impl<'a> Array<'a> {
    /// The elements of a box. `dims` lists for each dimension, innermost first, the first
    /// coordinate and the number of coordinates.
    ///
    /// # Panics
    /// If a coordinate is not in the array.
    #[must_use]
    pub fn source(&self, ranges: impl Iterator<Item = (usize, usize)> + Clone) -> Source<'a> {
        let inside = |(size, (start, count)): (&usize, (usize, usize))| {
            start.checked_add(count).is_some_and(|end| end <= *size)
        };
        let sizes = self.sizes.iter().rev();
        assert!(ranges.clone().count() == self.sizes.len(), "a range for each dimension");
        assert!(sizes.zip(ranges.clone()).all(inside), "the range reaches outside of the array");
        let strides = self.strides.iter().rev();
        let start = strides.clone().zip(ranges.clone()).fold(0isize, |at, (stride, (start, _))| {
            at.wrapping_add(stride.wrapping_mul(start as isize))
        });
        let start = self.start.wrapping_offset(start.wrapping_mul(self.element as isize));
        let dimensions = strides.zip(ranges).map(|(&stride, (_, count))| (count, stride));
        // SAFETY: all coordinates are those of elements (just checked). The array is borrowed for
        // `'a`, so its elements exist, and nothing writes to them: they are all bits (`Bits`),
        // which are initialised and cannot change behind a shared reference.
        unsafe { Source::from_raw(start, self.element, dimensions, false) }
    }
}

/// The elements of an array of `bool`, to be written to.
#[derive(Debug)]
pub struct ArrayMut<'o> {
    /// Coordinate 0.
    start: *mut u8,
    sizes: &'o [usize],
    strides: &'o [isize],
    lifetime: PhantomData<&'o mut bool>,
}

// SAFETY: an `ArrayMut` is a `&mut` to `bool`s.
unsafe impl Send for ArrayMut<'_> {}
// SAFETY: as for `Send`: a shared one allows nothing except to read sizes and strides.
unsafe impl Sync for ArrayMut<'_> {}

impl<'o, S: DataMut<Elem = bool>, D: Dimension> From<&'o mut ArrayBase<S, D>> for ArrayMut<'o> {
    fn from(out: &'o mut ArrayBase<S, D>) -> Self {
        // Call this first: it copies the elements of a shared array, which changes sizes and
        // strides.
        let start = out.as_mut_ptr().cast();
        let out: &'o ArrayBase<S, D> = out;
        Self { start, sizes: out.shape(), strides: out.strides(), lifetime: PhantomData }
    }
}

impl<'o> ArrayMut<'o> {
    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &'o [usize] {
        self.sizes
    }

    /// The strides of the dimensions, outermost first.
    #[must_use]
    pub fn strides(&self) -> &'o [isize] {
        self.strides
    }

    /// The elements as the output of a mask.
    pub fn target(&mut self) -> Target<'_> {
        let dimensions = self.sizes.iter().copied().zip(self.strides.iter().copied()).rev();
        // SAFETY: the array is ours for `'o`, so all its elements exist, and nothing else uses
        // them.
        unsafe { Target::from_raw(self.start, dimensions) }
    }
}
