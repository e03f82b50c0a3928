//! The input: elements of one size at the coordinates of a tensor.

use core::fmt;
use core::marker::PhantomData;

use super::layout::{Layout, LayoutError};

/// A strided tensor: memory, sizes and strides, and the place of coordinate 0. Every element
/// exists, and nothing writes to it during `'a`: this is checked once, when the tensor is made.
///
/// Sizes and strides are listed from the outermost dimension to the innermost. Strides are in
/// elements. They may be negative or 0, and dimensions may overlap. A dimension of size 1 may have
/// any stride, and a tensor without elements any offset and strides.
#[derive(Clone, Copy)]
pub struct Tensor<'a> {
    /// Coordinate 0.
    start: *const u8,
    /// Bytes of an element: 1, 2, 4 or 8.
    element: usize,
    /// Whether all bytes from the first element to the last may be read. Bytes between the elements
    /// of an `ndarray` may belong to another array.
    gaps: bool,
    layout: Layout<'a>,
    lifetime: PhantomData<&'a [u8]>,
}

// SAFETY: a `Tensor` is a shared borrow of plain bytes that nothing writes to.
unsafe impl Send for Tensor<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Tensor<'_> {}

impl<'a> Tensor<'a> {
    /// One dimension: the whole elements in `x`, of `element` bytes each.
    ///
    /// # Panics
    /// If `element` is not 1, 2, 4 or 8. All functions that make a tensor panic then.
    #[inline(always)]
    #[must_use]
    pub const fn flat(x: &'a [u8], element: usize) -> Self {
        let layout = Layout::flat(elements(x, element), 1);
        Self { start: x.as_ptr(), element, gaps: true, layout, lifetime: PhantomData }
    }

    /// The tensor of these sizes, in row-major order: exactly the elements of `x`.
    ///
    /// # Errors
    /// [`LayoutError`] if the sizes name more or fewer elements, or if there are more than 64.
    pub fn row_major(x: &'a [u8], element: usize, sizes: &'a [usize]) -> Result<Self, LayoutError> {
        Ok(Self {
            layout: Layout::row_major(sizes, elements(x, element))?,
            ..Self::flat(x, element)
        })
    }

    /// The tensor of these sizes and strides with coordinate 0 at element `offset`.
    ///
    /// # Errors
    /// [`LayoutError`] if there are more than 64 sizes or not as many strides, or if an element is
    /// not in `x`.
    pub fn strided(
        x: &'a [u8],
        element: usize,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, LayoutError> {
        let layout = Layout::strided(sizes, strides, elements(x, element), offset)?;
        let offset = if layout.len() == 0 { 0 } else { offset };
        // SAFETY: the layout has been checked against `x`.
        Ok(unsafe {
            Self::from_raw(x.as_ptr().wrapping_add(offset * element), element, true, layout)
        })
    }

    /// # Safety
    /// During `'a` each element can be read, is initialised, and nothing writes to it. With `gaps`
    /// the same holds for all bytes between elements. All of them are in one allocation. `element`
    /// is 1, 2, 4 or 8.
    pub(super) const unsafe fn from_raw(
        start: *const u8,
        element: usize,
        gaps: bool,
        layout: Layout<'a>,
    ) -> Self {
        Self { start, element, gaps, layout, lifetime: PhantomData }
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether a size is 0.
    #[must_use]
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    #[inline]
    pub fn sizes(&self) -> &[usize] {
        self.layout.sizes()
    }

    /// Whether coordinates of a dimension repeat the same elements.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        self.layout.is_broadcast()
    }

    /// Whether the elements are adjacent, in row-major order.
    #[must_use]
    #[inline(always)]
    pub const fn is_dense(&self) -> bool {
        self.layout.is_dense()
    }

    /// The bytes of the elements, if these are adjacent, in row-major order.
    #[must_use]
    #[inline(always)]
    pub fn dense(&self) -> Option<&'a [u8]> {
        // SAFETY: `len` adjacent elements from `start` on, which can be read during `'a`.
        let bytes =
            || unsafe { core::slice::from_raw_parts(self.start, self.layout.len() * self.element) };
        if self.is_dense() { Some(bytes()) } else { None }
    }

    /// `len` elements from row-major index `first` on. If the tensor is not dense, they are a box:
    /// all coordinates of the innermost dimensions, some of the next dimension, and one of each
    /// dimension around. [`Tensor::sizes`] of a box are those of the whole tensor.
    ///
    /// # Panics
    /// If the tensor does not have these elements, or if they must be a box and are not.
    #[must_use]
    #[inline(never)]
    pub fn part(&self, first: usize, len: usize) -> Self {
        let (layout, at) = self.layout.part(first, len);
        let at = at.wrapping_mul(self.element as isize);
        Self { start: self.start.wrapping_offset(at), layout, ..*self }
    }

    /// The number of elements of the largest [`Tensor::part`] from row-major index `first` on, at
    /// most `most`.
    ///
    /// # Panics
    /// If there are fewer than `first` elements.
    #[must_use]
    pub fn part_len(&self, first: usize, most: usize) -> usize {
        let most = most.min(self.len() - first);
        if self.is_dense() { most } else { self.layout.box_len(first, most) }
    }

    /// The row-major index nearest to `middle` at which two parts meet, if there are two.
    #[must_use]
    pub fn border_near(&self, middle: usize) -> Option<usize> {
        if self.is_dense() {
            return (0 < middle && middle < self.len()).then_some(middle);
        }
        self.layout.border_near(middle)
    }

    /// Row number `row` along dimension `axis`. Rows are numbered in row-major order of the other
    /// dimensions.
    ///
    /// # Panics
    /// If there is no such dimension, or no such row.
    #[cfg(feature = "stats")]
    #[must_use]
    pub fn row(&self, axis: usize, row: usize) -> Self {
        assert!(!self.is_empty() && axis < self.sizes().len(), "row {row} along axis {axis}");
        let along = self.layout.dims().find(|(dimension, _)| *dimension == axis);
        let (size, stride, inner) =
            along.map_or((1, 0, self.len()), |(_, dim)| (dim.size, dim.input, dim.output as usize));
        let first = row / inner * inner * size + row % inner;
        assert!(first < self.len(), "a row of the tensor");
        let start =
            self.start.wrapping_offset(self.layout.offset_of(first) * self.element as isize);
        Self { start, layout: Layout::flat(size, stride), ..*self }
    }

    #[inline(always)]
    pub(super) const fn start(&self) -> *const u8 {
        self.start
    }

    #[inline(always)]
    pub(super) const fn element(&self) -> usize {
        self.element
    }

    #[inline(always)]
    pub(super) const fn gaps(&self) -> bool {
        self.gaps
    }

    pub(super) fn layout(&self) -> &Layout<'a> {
        &self.layout
    }
}

/// The number of whole elements.
#[inline(always)]
const fn elements(x: &[u8], element: usize) -> usize {
    assert!(matches!(element, 1 | 2 | 4 | 8), "elements of 1, 2, 4 or 8 bytes");
    x.len() >> element.trailing_zeros()
}

/// Prints no data, which may be large.
impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor").field("layout", &self.layout).finish_non_exhaustive()
    }
}
