//! The input of every question: elements of one format, anywhere in memory.

#[cfg(feature = "stats")]
mod exceeds;
mod hit;
mod part;
mod positions;
mod questions;
mod rows;
#[cfg(feature = "rayon")]
mod threads;
mod valid;
#[cfg(feature = "stats")]
mod valid_stats;

#[cfg(feature = "stats")]
pub use exceeds::Exceeds;
#[cfg(feature = "stats")]
pub use exceeds::ValidExceeds;
pub use hit::{Coordinate, Hit};
pub use positions::Positions;
pub use rows::Rows;
pub use valid::ValidView;

use nonfinite_kernels::Backend;
use nonfinite_kernels::strided::Tensor;

#[cfg(feature = "ndarray")]
use crate::Scalar;
use crate::{Element, Elements, Error, Format};

/// The input of every question: a typed slice, bytes with a [`Format`], or a strided tensor,
/// without a copy.
///
/// Slices, vectors and [`Elements`] convert into a view of one dimension. [`TensorView::shaped`]
/// gives them dimensions. [`TensorView::strided`] names elements by strides: the element at
/// coordinate `c` is number `offset + c[0] * strides[0] + c[1] * strides[1] + ...` of the elements
/// given. Strides are in elements. They may be negative or 0 (a broadcast dimension), and
/// dimensions may overlap: the layouts of numpy, DLPack, PyTorch and DirectML are all of this kind.
/// Rank 0 is one element. A view is checked once, when it is made. Arrays of the crate `ndarray`
/// convert too (feature `ndarray`).
///
/// [`TensorView::on`] picks a backend. `TensorView::par` (feature `rayon`) asks with several
/// threads. Positions, masks and packed bits have the row-major order of coordinates.
///
/// ```
/// use nonfinite::{Predicate, TensorView};
///
/// // Two pixels of three channels and a fourth element of padding, read channel by channel.
/// let pixels = [1.0, f32::NAN, 3.0, 0.0, 4.0, 5.0, f32::INFINITY, 0.0];
/// let channels = TensorView::strided(&pixels, 0, &[3, 2], &[1, 4])?;
/// let mut mask = [false; 6];
/// channels.mask(Predicate::Finite, &mut mask)?;
/// assert_eq!(mask, [true, true, false, true, true, false]);
/// assert_eq!(channels.position(Predicate::Nan), Some(2));
/// # Ok::<(), nonfinite::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct TensorView<'a> {
    format: Format,
    tensor: Tensor<'a>,
    backend: Option<Backend>,
    #[cfg(feature = "rayon")]
    threads: bool,
}

impl<'a> TensorView<'a> {
    #[inline]
    fn new(format: Format, tensor: Tensor<'a>) -> Self {
        Self {
            format,
            tensor,
            backend: None,
            #[cfg(feature = "rayon")]
            threads: false,
        }
    }

    /// The view of these elements. `make` gets their bytes and the size of an element.
    #[inline(always)]
    fn made<E: Into<Error>>(
        elements: impl Into<Elements<'a>>,
        make: impl FnOnce(&'a [u8], usize) -> Result<Tensor<'a>, E>,
    ) -> Result<Self, Error> {
        let elements = elements.into();
        let format = elements.format();
        let tensor = make(elements.as_bytes(), format.size_in_bytes()).map_err(Into::into)?;
        Ok(Self::new(format, tensor))
    }

    /// The elements in `bytes`, at any address, in the byte order of the machine.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the length is not a multiple of the element size.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8], format: Format) -> Result<Self, Error> {
        Elements::from_bytes(bytes, format).map(Self::from)
    }

    /// The tensor of these sizes, outermost first and at most eight, in row-major order from the
    /// first of `elements` on. Elements after the last are not read.
    ///
    /// # Errors
    /// [`Error::Layout`] if there are more than eight sizes, or if the sizes name more elements
    /// than there are.
    pub fn shaped(elements: impl Into<Elements<'a>>, sizes: &[usize]) -> Result<Self, Error> {
        Self::made(elements, |x, element| Tensor::row_major(x, element, sizes))
    }

    /// The tensor of these sizes and strides, outermost first and at most eight of each, whose
    /// coordinate 0 is element `offset`. A dimension of size 1 may have any stride, and a tensor
    /// without elements any offset and strides.
    ///
    /// # Errors
    /// [`Error::Layout`] if there are more than eight sizes or not as many strides, or if an
    /// element that the view names is not among `elements`.
    pub fn strided(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        sizes: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        Self::made(elements, |x, element| Tensor::strided(x, element, offset, sizes, strides))
    }

    /// [`TensorView::strided`] with strides of type `usize`, as in candle.
    ///
    /// # Errors
    /// As [`TensorView::strided`]; also if a stride exceeds `isize::MAX`.
    pub fn strided_unsigned(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<Self, Error> {
        Self::made(elements, |x, element| {
            Tensor::strided_unsigned(x, element, offset, sizes, strides)
        })
    }

    /// [`TensorView::strided`] of up to 64 dimensions, as many as numpy 2 has. The view borrows
    /// sizes and strides.
    ///
    /// # Errors
    /// As [`TensorView::strided`].
    pub fn strided_borrowed(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, Error> {
        Self::made(elements, |x, element| {
            Tensor::strided_borrowed(x, element, offset, sizes, strides)
        })
    }

    /// The same view, with this backend instead of the active one.
    #[inline]
    pub fn on(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The same view, with the threads of the current [rayon](https://docs.rs/rayon) pool (feature
    /// `rayon`).
    ///
    /// The answers do not depend on the number of threads. Inputs of at most 2 MiB are answered on
    /// the calling thread. Longer inputs are halved until a part has at most 256 KiB. A search
    /// stops in all threads soon after one thread has found the answer. Some questions run on the
    /// calling thread: [`TensorView::mask_into`] and [`TensorView::positions`], rows along the
    /// outermost dimension, all questions of a broadcast view, and packed bits of a strided view in
    /// which no coordinate of the outermost dimension begins at a byte of the output. Rows are
    /// shared among the coordinates of the outermost dimension only.
    #[cfg(feature = "rayon")]
    #[inline]
    pub fn par(self) -> Self {
        Self { threads: true, ..self }
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.tensor.len()
    }

    /// Whether a size is 0.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        self.tensor.sizes()
    }

    /// The strides of the dimensions in elements, outermost first. The stride of a dimension of
    /// size 1 has no meaning.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.tensor.strides()
    }

    /// The format of the elements.
    #[must_use]
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }
}

/// One dimension.
impl<'a> From<Elements<'a>> for TensorView<'a> {
    #[inline]
    fn from(elements: Elements<'a>) -> Self {
        let format = elements.format();
        Self::new(format, Tensor::flat(elements.as_bytes(), format.size_in_bytes()))
    }
}

/// One dimension.
impl<'a, T: Element> From<&'a [T]> for TensorView<'a> {
    #[inline]
    fn from(x: &'a [T]) -> Self {
        Elements::from(x).into()
    }
}

/// One dimension.
impl<'a, T: Element, const N: usize> From<&'a [T; N]> for TensorView<'a> {
    #[inline]
    fn from(x: &'a [T; N]) -> Self {
        Elements::from(x).into()
    }
}

/// One dimension.
#[cfg(feature = "std")]
impl<'a, T: Element> From<&'a std::vec::Vec<T>> for TensorView<'a> {
    #[inline]
    fn from(x: &'a std::vec::Vec<T>) -> Self {
        Elements::from(x).into()
    }
}

/// The dimensions and the layout of the array. Bytes between its elements are not read.
#[cfg(feature = "ndarray")]
impl<'a, T, S, D> From<&'a ndarray::ArrayBase<S, D>> for TensorView<'a>
where
    T: Scalar,
    S: ndarray::Data<Elem = T>,
    D: ndarray::Dimension,
{
    fn from(x: &'a ndarray::ArrayBase<S, D>) -> Self {
        Self::new(T::FORMAT, Tensor::from(x))
    }
}
