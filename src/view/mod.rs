//! The input of every question: elements of one format, anywhere in memory.

#[cfg(feature = "stats")]
mod exceeds;
mod layout;
#[cfg(feature = "views")]
mod mask_view;
mod part;
#[cfg(feature = "validity")]
mod pieces;
mod positions;
mod questions;
#[cfg(feature = "views")]
mod rows;
#[cfg(feature = "rayon")]
mod threads;
#[cfg(feature = "validity")]
mod valid;
#[cfg(feature = "validity")]
mod valid_census;
#[cfg(all(feature = "validity", feature = "stats"))]
mod valid_stats;
#[cfg(feature = "validity")]
mod validity;

#[cfg(feature = "stats")]
pub use exceeds::Exceeds;
#[cfg(all(feature = "validity", feature = "stats"))]
pub use exceeds::ValidExceeds;
#[cfg(feature = "views")]
pub use mask_view::MaskView;
pub use positions::Positions;
#[cfg(feature = "views")]
pub use rows::Rows;
#[cfg(feature = "validity")]
pub use valid::ValidView;

use core::fmt;

use nonfinite_kernels::Backend;
#[cfg(feature = "ndarray")]
use nonfinite_kernels::strided::Array;

use crate::{Element, Elements, Error, Format};
use layout::Layout;

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
/// threads. Questions about order (positions, masks, packed bits) mean the row-major order of
/// coordinates.
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
    memory: Memory<'a>,
    layout: Layout<'a>,
    backend: Option<Backend>,
    #[cfg(feature = "rayon")]
    threads: bool,
}

/// The memory of a view.
#[derive(Clone, Copy)]
enum Memory<'a> {
    /// The layout counts elements from the first byte on.
    Bytes(&'a [u8]),
    /// Bytes between elements are not read: they may belong to another array.
    #[cfg(feature = "ndarray")]
    Array(Array<'a>),
}

/// Prints no data, which may be large.
impl fmt::Debug for Memory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            #[cfg(feature = "ndarray")]
            Self::Array(_) => f.write_str("an array"),
        }
    }
}

impl<'a> TensorView<'a> {
    #[inline]
    fn new(elements: Elements<'a>, layout: Layout<'a>) -> Self {
        Self::of(elements.format(), Memory::Bytes(elements.as_bytes()), layout)
    }

    #[inline]
    fn of(format: Format, memory: Memory<'a>, layout: Layout<'a>) -> Self {
        Self {
            format,
            memory,
            layout,
            backend: None,
            #[cfg(feature = "rayon")]
            threads: false,
        }
    }

    /// The elements in `bytes`, at any address, in the byte order of the machine.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the length is not a multiple of the element size.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8], format: Format) -> Result<Self, Error> {
        Elements::from_bytes(bytes, format).map(Self::from)
    }

    /// The tensor of these sizes, outermost first, in row-major order from the first of `elements`
    /// on. Elements behind the last are not read.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::OffsetOutOfBounds`] or [`Error::OutOfBounds`] if the
    /// sizes name more elements than there are.
    pub fn shaped(elements: impl Into<Elements<'a>>, sizes: &'a [usize]) -> Result<Self, Error> {
        let elements = elements.into();
        Ok(Self::new(elements, Layout::row_major(elements.len(), sizes)?))
    }

    /// The tensor of these sizes and strides, outermost first, whose coordinate 0 is element
    /// `offset`. A dimension of size 1 may have any stride, and a tensor without elements any
    /// offset and strides.
    ///
    /// # Errors
    /// [`Error::StrideCount`], [`Error::TooManyElements`], or [`Error::OffsetOutOfBounds`] or
    /// [`Error::OutOfBounds`] if an element that the view names is not among `elements`.
    #[cfg(feature = "views")]
    pub fn strided(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, Error> {
        let elements = elements.into();
        Ok(Self::new(elements, Layout::signed(elements.len(), offset, sizes, strides)?))
    }

    /// [`TensorView::strided`] with strides of type `usize`, as in candle.
    ///
    /// # Errors
    /// As [`TensorView::strided`], and [`Error::LargeStride`].
    #[cfg(feature = "views")]
    pub fn strided_unsigned(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [usize],
    ) -> Result<Self, Error> {
        let elements = elements.into();
        Ok(Self::new(elements, Layout::unsigned(elements.len(), offset, sizes, strides)?))
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
        self.layout.len()
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
        self.layout.sizes()
    }

    /// The strides of the dimensions in elements, outermost first. The stride of a dimension of
    /// size 1 has no meaning.
    pub fn strides(&self) -> impl ExactSizeIterator<Item = isize> + use<'_, 'a> {
        self.layout.strides()
    }

    /// The format of the elements.
    #[must_use]
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes the coordinate of the element with this row-major index, outermost dimension first.
    ///
    /// ```
    /// # use nonfinite::{Error, Predicate, TensorView};
    /// let x = [0.0f32, 1.0, 2.0, 3.0, f32::NAN, 5.0];
    /// let transposed = TensorView::strided(&x, 0, &[3, 2], &[1, 3])?;
    /// let mut at = [0; 2];
    /// transposed.coordinate(transposed.position(Predicate::Nan).unwrap(), &mut at)?;
    /// assert_eq!(at, [1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Index`] or [`Error::CoordinateLength`]; nothing is written then.
    pub fn coordinate(&self, index: usize, coordinate: &mut [usize]) -> Result<(), Error> {
        let sizes = self.sizes();
        if coordinate.len() != sizes.len() {
            return Err(Error::CoordinateLength {
                dimensions: sizes.len(),
                coordinate: coordinate.len(),
            });
        }
        if index >= self.len() {
            return Err(Error::Index { index, elements: self.len() });
        }
        let mut rest = index;
        for (place, size) in coordinate.iter_mut().zip(sizes).rev() {
            (*place, rest) = (rest % size, rest / size);
        }
        Ok(())
    }
}

/// One dimension.
impl<'a> From<Elements<'a>> for TensorView<'a> {
    #[inline]
    fn from(elements: Elements<'a>) -> Self {
        Self::new(elements, Layout::flat(elements.len()))
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
    T: Element,
    S: ndarray::Data<Elem = T>,
    D: ndarray::Dimension,
{
    fn from(x: &'a ndarray::ArrayBase<S, D>) -> Self {
        let layout = Layout::trusted(x.shape(), x.strides());
        Self::of(T::FORMAT, Memory::Array(Array::from(x)), layout)
    }
}
