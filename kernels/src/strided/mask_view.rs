//! The output of a mask, with strides of its own.

use core::marker::PhantomData;

use super::layout::{Layout, LayoutError};
use crate::mask_out::MaskOut;

/// The output of a mask: one byte for each element, with its own strides. Bytes between the results
/// keep their values.
///
/// [`MaskOut`], arrays of `bool` of the crate `ndarray` (feature `ndarray`) and `&mut MaskView`
/// convert into a mask view.
#[derive(Debug)]
pub struct MaskView<'o> {
    /// Coordinate 0.
    pub(super) start: *mut u8,
    layout: Layout<'o>,
    lifetime: PhantomData<&'o mut bool>,
}

// SAFETY: a `MaskView` is a `&mut` to bytes.
unsafe impl Send for MaskView<'_> {}
// SAFETY: as for `Send`; a shared `MaskView` only lets its sizes and strides be read.
unsafe impl Sync for MaskView<'_> {}

impl<'o> MaskView<'o> {
    /// The mask of these sizes and strides (in bytes) whose coordinate 0 is byte `offset` of `out`.
    ///
    /// No two coordinates may name the same byte. The check is sufficient, not necessary: sort the
    /// dimensions larger than 1 by absolute stride; each must step over all bytes, from the first
    /// to the last, that the dimensions before it reach. All slices, permutations, reversals and
    /// paddings of a dense tensor pass. Layouts whose dimensions interleave, such as sizes 2 x 3
    /// with strides 3 and 2 (bytes 0 2 4 and 3 5 7), are refused.
    ///
    /// # Errors
    /// As [`super::Tensor::strided`], and [`LayoutError::Overlap`].
    pub fn strided(
        out: impl Into<MaskOut<'o>>,
        offset: usize,
        shape: &'o [usize],
        strides: &'o [isize],
    ) -> Result<Self, LayoutError> {
        let out = out.into().slots();
        let layout = Layout::strided(shape, strides, out.len(), offset)?;
        layout.check_injective()?;
        let offset = if layout.len() == 0 { 0 } else { offset };
        // SAFETY: the layout has been checked against `out`, which is ours for `'o`.
        Ok(unsafe { Self::from_raw(out.as_mut_ptr().cast::<u8>().wrapping_add(offset), layout) })
    }

    /// The mask of this shape in row-major order: exactly the bytes of `out`.
    ///
    /// # Errors
    /// As [`super::Tensor::row_major`].
    pub fn shaped(out: impl Into<MaskOut<'o>>, shape: &'o [usize]) -> Result<Self, LayoutError> {
        let out = out.into();
        let layout = Layout::row_major(shape, out.len())?;
        Ok(Self { layout, ..Self::from(out) })
    }

    /// # Safety
    /// During `'o` each byte can be written, nothing else uses it, and no two coordinates name the
    /// same byte. All of them are in one allocation.
    pub(super) const unsafe fn from_raw(start: *mut u8, layout: Layout<'o>) -> Self {
        Self { start, layout, lifetime: PhantomData }
    }

    /// The number of results: the product of the sizes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether a size is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout.sizes()
    }

    /// Writes the result for the element with this row-major index.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn set(&mut self, index: usize, answer: bool) {
        assert!(index < self.len(), "result {index} of {}", self.len());
        let offset = self.layout.offset_of(index);
        // SAFETY: the byte of an element that exists, which is ours.
        unsafe { self.start.wrapping_offset(offset).write(u8::from(answer)) }
    }

    pub(super) fn layout(&self) -> &Layout<'o> {
        &self.layout
    }
}

/// One dimension.
impl<'o> From<MaskOut<'o>> for MaskView<'o> {
    fn from(out: MaskOut<'o>) -> Self {
        let out = out.slots();
        // SAFETY: all bytes of `out`, which is ours for `'o`.
        unsafe { Self::from_raw(out.as_mut_ptr().cast(), Layout::flat(out.len(), 1)) }
    }
}

/// The same mask, borrowed for a shorter time.
impl<'o> From<&'o mut MaskView<'_>> for MaskView<'o> {
    fn from(out: &'o mut MaskView<'_>) -> Self {
        // SAFETY: the bytes of `out`, which is ours for `'o`.
        unsafe { Self::from_raw(out.start, out.layout) }
    }
}
