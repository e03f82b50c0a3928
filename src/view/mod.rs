//! The input of every question: elements of one format, anywhere in memory.

mod coordinate;
mod nulls;
mod part;
mod positions;
mod questions;
mod rows;
#[cfg(feature = "rayon")]
mod threads;

pub use coordinate::Coordinate;
pub use positions::Positions;
pub use rows::Rows;

use nonfinite_kernels::strided::Tensor;
use nonfinite_kernels::{Backend, Bitmap};

use crate::{Elements, Error, Format};

/// The input of every question: a typed slice, bytes with a [`Format`], or a strided tensor,
/// without a copy.
///
/// Slices, vectors and [`Elements`] convert into a view of one dimension. [`TensorView::shaped`]
/// gives them dimensions. [`TensorView::strided`] names elements by strides: the element at
/// coordinate `c` is number `offset + c[0] * strides[0] + c[1] * strides[1] + ...` of the elements
/// given. Strides are in elements. They may be negative or 0 (a broadcast dimension), and
/// dimensions may overlap: the layouts of numpy, DLPack, PyTorch and DirectML are all of this kind.
/// Rank 0 is one element. A view has at most 64 dimensions, as many as an array of numpy 2, and
/// borrows the slices of its shape and its strides. A view is checked once, when it is made. Arrays
/// of the crate `ndarray` 0.17 convert too (feature `ndarray-0_17`).
///
/// [`TensorView::with_validity`] adds nulls: no predicate holds for a null.
/// [`TensorView::with_backend`] picks a backend. `TensorView::par` (feature `rayon`) asks with
/// several threads. Positions, masks and packed bits have the row-major order of coordinates.
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
    /// Which elements are valid: all if `None`.
    validity: Option<Bitmap<'a>>,
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
            validity: None,
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

    /// The tensor of this shape, outermost dimension first, whose elements are exactly `elements`
    /// in row-major order.
    ///
    /// # Errors
    /// [`Error::Layout`] if the shape has more or fewer elements than there are, or more than 64
    /// dimensions.
    pub fn shaped(elements: impl Into<Elements<'a>>, shape: &'a [usize]) -> Result<Self, Error> {
        let Elements { format, bytes } = elements.into();
        Ok(Self::new(format, Tensor::row_major(bytes, format.size_in_bytes(), shape)?))
    }

    /// The tensor of this shape and these strides, outermost dimension first, whose coordinate 0 is
    /// element `offset`. A dimension of size 1 may have any stride, and a tensor without elements
    /// any offset and strides.
    ///
    /// # Errors
    /// [`Error::Layout`] if there are more than 64 dimensions or not as many strides, or if an
    /// element that the view names is not among `elements`.
    pub fn strided(
        elements: impl Into<Elements<'a>>,
        offset: usize,
        shape: &'a [usize],
        strides: impl Strides<'a>,
    ) -> Result<Self, Error> {
        let (Elements { format, bytes }, strides) = (elements.into(), strides.strides());
        let tensor = Tensor::strided(bytes, format.size_in_bytes(), offset, shape, strides)?;
        Ok(Self::new(format, tensor))
    }

    /// The same view with nulls. Bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1 if the
    /// element of row-major index `i` is valid, and 0 if it is null. This is the order of Apache
    /// Arrow (Arrow columnar format, "Validity bitmaps"). Bits after the last element are ignored.
    /// The bitmap takes the place of one that was given before.
    ///
    /// No predicate holds for a null, whatever its memory holds: [`TensorView::mask`] writes 0
    /// there, and nulls change no other answer. Indices count nulls too.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    ///
    /// // The first NaN is the memory of a null.
    /// let column = [0.5f32, f32::NAN, f32::INFINITY, f32::NAN];
    /// let column = TensorView::from(&column).with_validity(&[0b1101], 0)?;
    /// assert_eq!(column.count(Predicate::Nan), 1);
    /// assert_eq!(column.position(Predicate::NonFinite), Some(2));
    ///
    /// // The values of an Arrow array of booleans, which has the nulls of the column.
    /// let mut is_nan = [0];
    /// column.bits(Predicate::Nan, &mut is_nan, 0)?;
    /// assert_eq!(is_nan, [0b1000]);
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ValidityBits`] if the bitmap ends before the bit of the last element, or before bit
    /// `offset`.
    #[inline]
    pub fn with_validity(self, bitmap: &'a [u8], offset: usize) -> Result<Self, Error> {
        let (elements, bytes) = (self.len(), bitmap.len());
        match Bitmap::new(bitmap, offset, elements) {
            Some(validity) => Ok(Self { validity: Some(validity), ..self }),
            None => Err(Error::ValidityBits { elements, offset, bytes }),
        }
    }

    /// The same view, with this backend instead of the active one.
    #[inline]
    pub fn with_backend(self, backend: Backend) -> Self {
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

    /// The number of elements, nulls among them: the product of the sizes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.tensor.len()
    }

    /// Whether there is no element, not even a null.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of valid elements. All others are null.
    #[must_use]
    pub fn valid_count(&self) -> usize {
        self.validity.map_or(self.len(), |validity| validity.count(self.backend))
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.tensor.sizes()
    }

    /// The format of the elements.
    #[must_use]
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The coordinate of the element with this row-major index.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [1.0f32, 2.0, f32::NAN, f32::INFINITY];
    /// let view = TensorView::shaped(&x, &[2, 2])?;
    /// let nan = view.position(Predicate::Nan).unwrap();
    /// assert!(view.coordinate(nan)?.eq([1, 0]));
    /// assert_eq!(format!("NaN at {:?}", view.coordinate(nan)?), "NaN at [1, 0]");
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Index`] if there is no such element.
    pub fn coordinate(&self, index: usize) -> Result<Coordinate<'_>, Error> {
        match self.len() {
            elements if index < elements => Ok(Coordinate { shape: self.shape(), index }),
            elements => Err(Error::Index { index, elements }),
        }
    }

    /// The rows that run along dimension `axis`, counted from 0, the outermost.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [0.0f32, 1.0, f32::NAN, 3.0, 4.0, 5.0];
    /// let view = TensorView::shaped(&x, &[2, 3])?;
    /// let (mut rows, mut columns) = ([false; 2], [false; 3]);
    /// view.rows(1)?.any(Predicate::Nan, &mut rows)?;
    /// view.rows(0)?.any(Predicate::Nan, &mut columns)?;
    /// assert_eq!((rows, columns), ([true, false], [false, false, true]));
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axis`] if there is no such dimension.
    pub fn rows(self, axis: usize) -> Result<Rows<'a>, Error> {
        let dimensions = self.shape().len();
        if axis >= dimensions {
            return Err(Error::Axis { axis, dimensions });
        }
        Ok(Rows { view: self, axis })
    }
}

/// The strides of a view: a reference to a slice, an array or a vector of `isize`, or to another
/// type that gives such a slice.
///
/// ```compile_fail,E0277
/// let strides: Vec<usize> = vec![3, 1];
/// let view = nonfinite::TensorView::strided(&[0.0f32; 6], 0, &[2, 3], &strides);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no strides of type `isize`",
    note = "strides can be negative: `strides.iter().map(|&stride| stride as isize)`"
)]
pub trait Strides<'a> {
    /// The strides, outermost dimension first.
    fn strides(self) -> &'a [isize];
}

#[diagnostic::do_not_recommend]
impl<'a, S: AsRef<[isize]> + ?Sized> Strides<'a> for &'a S {
    #[inline]
    fn strides(self) -> &'a [isize] {
        self.as_ref()
    }
}

/// One dimension: of a slice, an array, a vector or [`Elements`].
impl<'a, E> From<E> for TensorView<'a>
where
    Elements<'a>: From<E>,
{
    #[inline]
    fn from(elements: E) -> Self {
        let Elements { format, bytes } = Elements::from(elements);
        Self::new(format, Tensor::flat(bytes, format.size_in_bytes()))
    }
}

/// The shape and the layout of the array, of `ndarray` 0.17. Bytes between its elements are not
/// read.
#[cfg(feature = "ndarray-0_17")]
impl<'a, T, S, D> From<&'a ndarray::ArrayBase<S, D>> for TensorView<'a>
where
    T: crate::Element,
    S: ndarray::Data<Elem = T>,
    D: ndarray::Dimension,
{
    fn from(x: &'a ndarray::ArrayBase<S, D>) -> Self {
        Self::new(T::FORMAT, Tensor::from(x))
    }
}
