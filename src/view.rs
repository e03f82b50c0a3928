//! Strided tensors: any rank, any layout, without a copy.
//!
//! Strides are in elements, signed, and may be zero (a broadcast dimension); the layouts of numpy,
//! DLPack, PyTorch and DirectML are all of this kind. A view is checked once, when it is made;
//! after that no operation can reach outside it.

mod error;
mod layout;
mod operations;

pub use error::ViewError;

use nonfinite_kernels::MaskOut;

use crate::{Backend, Elements, Format};
use layout::Layout;

/// Elements of a tensor as they lie in memory: the element at coordinate `c` is number
/// `offset + c[0] * strides[0] + c[1] * strides[1] + ...` of the elements given.
///
/// Any rank, 0 too, which has one element. Strides may be negative or zero, dimensions may overlap,
/// a dimension of size 1 may have any stride, and a tensor without elements may have any offset and
/// strides. No operation reads elements that the view does not name, and none allocates.
///
/// ```
/// use nonfinite::{Predicate, TensorView};
///
/// // Two pixels of three channels, with a fourth element of padding each; read channel by channel.
/// let pixels = [1.0, f32::NAN, 3.0, 0.0, 4.0, 5.0, f32::INFINITY, 0.0];
/// let channels = TensorView::new(&pixels[..], 0, &[3, 2], &[1, 4])?;
/// let mut mask = [false; 6];
/// channels.mask(Predicate::Finite, &mut mask[..])?;
/// assert_eq!(mask, [true, true, false, true, true, false]);
/// assert_eq!(channels.position(Predicate::Nan), Some(2));
/// # Ok::<(), nonfinite::ViewError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a> {
    elements: Elements<'a>,
    layout: Layout<'a>,
    backend: Option<Backend>,
}

impl<'a> TensorView<'a> {
    /// The tensor of these sizes and strides whose coordinate 0 is element `offset`. All in
    /// elements.
    ///
    /// # Errors
    /// If there is not one stride for each size, if there are more elements than a `usize` can
    /// count, or if an element that the view names is not among `elements`.
    pub fn new(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, ViewError> {
        let elements = elements.into();
        let layout = Layout::new(elements.len(), offset, sizes, Some(strides))?;
        Ok(Self { elements, layout, backend: None })
    }

    /// The tensor of these sizes that lies in row-major order from the first of `elements` on.
    ///
    /// # Errors
    /// As [`TensorView::new`]. More elements than the sizes ask for are no error, and are not read.
    pub fn contiguous(
        elements: impl Into<Elements<'a>>,
        sizes: &'a [usize],
    ) -> Result<Self, ViewError> {
        let elements = elements.into();
        let layout = Layout::new(elements.len(), 0, sizes, None)?;
        Ok(Self { elements, layout, backend: None })
    }

    /// The same view, whose operations run on this backend, instead of the active one.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether a size is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &'a [usize] {
        self.layout.sizes()
    }

    /// The strides of the dimensions in elements, outermost first.
    pub fn strides(&self) -> impl ExactSizeIterator<Item = isize> {
        self.layout.strides()
    }

    /// The format of the elements.
    #[must_use]
    pub fn format(&self) -> Format {
        self.elements.format()
    }
}

/// Where a mask goes: one byte an element, laid out by strides of its own. Bytes between the
/// results stay as they are.
#[derive(Debug)]
pub struct TensorViewMut<'a> {
    out: MaskOut<'a>,
    layout: Layout<'a>,
}

impl<'a> TensorViewMut<'a> {
    /// The output of these sizes and strides (in bytes) whose coordinate 0 is byte `offset` of
    /// `out`, which may be `&mut [bool]`, `&mut [u8]` or `&mut [MaybeUninit<bool>]`.
    ///
    /// No two coordinates may name one byte. The test for this is sufficient, not necessary: of the
    /// dimensions larger than 1, in order of their absolute strides, each must step over all bytes
    /// between the first and the last that the dimensions before it reach. All slices,
    /// permutations, reversals and paddings of a dense tensor pass; layouts whose dimensions
    /// interleave, such as sizes 2 x 3 with strides 3 and 2 (bytes 0 2 4 and 3 5 7), are refused.
    ///
    /// # Errors
    /// As [`TensorView::new`], and [`ViewError::Overlap`].
    pub fn new(
        out: impl Into<MaskOut<'a>>,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, ViewError> {
        let out = out.into();
        let layout = Layout::new(out.len(), offset, sizes, Some(strides))?;
        layout.check_injective()?;
        Ok(Self { out, layout })
    }

    /// The output of these sizes in row-major order from the first byte of `out` on.
    ///
    /// # Errors
    /// As [`TensorView::new`]. More bytes than the sizes ask for are no error, and stay as they
    /// are.
    pub fn contiguous(out: impl Into<MaskOut<'a>>, sizes: &'a [usize]) -> Result<Self, ViewError> {
        let out = out.into();
        let layout = Layout::new(out.len(), 0, sizes, None)?;
        Ok(Self { out, layout })
    }

    /// The number of results: the product of the sizes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether a size is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &'a [usize] {
        self.layout.sizes()
    }

    /// The strides of the dimensions in bytes, outermost first.
    pub fn strides(&self) -> impl ExactSizeIterator<Item = isize> {
        self.layout.strides()
    }
}
