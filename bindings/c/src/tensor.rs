//! The elements, sizes and strides of an `nf_view`, with all checks.
#![expect(unsafe_code, reason = "C's pointers become slices")]

use core::ffi::c_void;

use nonfinite::{Error, Format, LayoutError, TensorView};

use crate::codes::{self, FormatCode};
use crate::ffi::{self, Span};
use crate::status::{
    NF_ERR_INTERNAL, NF_ERR_LENGTH, NF_ERR_NULL, NF_ERR_OUTPUT_LENGTH, NF_ERR_OUTPUT_STRIDES,
    Status,
};

/// A strided tensor: the element at coordinate `c` is `data[offset + c[0] * strides[0] + ... +
/// c[rank - 1] * strides[rank - 1]]`. Offset and strides are in elements, as in DLPack and
/// DirectML. (numpy has strides in bytes.)
///
/// Strides may be negative or 0 (a broadcast dimension), dimensions may overlap, and one of size 1
/// may have any stride. A rank of 0 is one element. If a size is 0 there are no elements, and
/// `data` may be null and `offset` and strides anything.
///
/// All bytes from the first to the last element must be readable, including the bytes between
/// elements, and nothing may write to them during a call. The same goes for the bytes of `validity`
/// with bits of elements.
///
/// With `validity`, some elements are null. No predicate holds for a null: masks and bits are 0
/// there, and nulls change no other answer. What the memory of a null holds makes no difference,
/// and indices count nulls too.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    /// The address that offset and strides count from. Needs no alignment.
    pub data: *const c_void,
    /// The format of the elements.
    pub format: FormatCode,
    /// The number of dimensions, at most 64.
    pub rank: usize,
    /// One size for each dimension, outermost first. May be null if `rank` is 0.
    pub sizes: *const usize,
    /// One stride for each dimension, outermost first. Null means row-major without padding.
    pub strides: *const isize,
    /// The index of the element at coordinate 0.
    pub offset: isize,
    /// Which elements are valid, in the order of Apache Arrow: bit `(validity_offset + i) % 8` of
    /// `validity[(validity_offset + i) / 8]` is 1 if the element of row-major index `i` is valid,
    /// and 0 if it is null. Null means that all elements are valid.
    pub validity: *const u8,
    /// The bit of the first element. Without `validity` of no meaning.
    pub validity_offset: usize,
}

/// A `View` after the checks of its pointers and of the addresses of its elements.
pub(crate) struct Tensor<'a> {
    pub(crate) format: Format,
    pub(crate) sizes: &'a [usize],
    strides: Option<&'a [isize]>,
    extent: Extent,
    pub(crate) len: usize,
    /// The bytes of elements, sizes and strides.
    data: Span,
    shape: [Span; 2],
    /// The bytes with the bits of elements, and the bit of the first element.
    validity: Option<(Span, usize)>,
}

impl<'a> Tensor<'a> {
    /// # Safety
    /// Unless null or misaligned, `x` must lead to a `View`, and its `sizes` and `strides`, unless
    /// null or misaligned, to `rank` values that nothing writes to during `'a`.
    pub(crate) unsafe fn new(x: *const View) -> Result<Self, Status> {
        ffi::check(x)?;
        // SAFETY: not null and aligned (just checked); a `View` of which any value of the right
        // type will do (the caller).
        let x = unsafe { x.read() };
        let format = codes::format(x.format)?;
        // SAFETY: `rank` values (the caller).
        let (sizes, sizes_span) = unsafe { ffi::array(x.sizes, x.rank)? };
        // SAFETY: null or `rank` values (the caller).
        let strides = unsafe { optional(x.strides, x.rank)? };
        let extent = Extent::new(sizes, strides.map(|(strides, _)| strides), x.offset)?;
        let data = extent.span(x.data, format.size_in_bytes())?;
        // Broadcast dimensions can name more elements than there are bytes.
        let len = if sizes.contains(&0) {
            Some(0)
        } else {
            sizes.iter().try_fold(1usize, |len, &size| len.checked_mul(size))
        };
        let len = len.ok_or(NF_ERR_LENGTH)?;
        Ok(Self {
            format,
            sizes,
            strides: strides.map(|(strides, _)| strides),
            extent,
            len,
            data,
            shape: [sizes_span, strides.map_or(sizes_span, |(_, span)| span)],
            validity: ffi::validity(x.validity, x.validity_offset, len)?,
        })
    }

    pub(crate) fn apart_from(&self, output: &Span) -> Result<(), Status> {
        let validity = self.validity.iter().map(|(span, _)| span);
        let mut spans = self.shape.iter().chain([&self.data]).chain(validity);
        spans.try_for_each(|span| span.apart_from(output))
    }

    /// # Safety
    /// For all of `'b` all bytes from the first to the last element must be readable and
    /// initialised, and nothing may write to them. The same goes for those of the validity bitmap.
    pub(crate) unsafe fn view<'b>(&self) -> Result<TensorView<'b>, Status>
    where
        'a: 'b,
    {
        // SAFETY: as the caller vouches.
        let elements = unsafe { self.data.elements(self.format)? };
        let view = match self.strides {
            Some(strides) => {
                TensorView::strided(elements, self.extent.offset(), self.sizes, strides)
            }
            None => TensorView::shaped(elements, self.sizes),
        }
        .map_err(status)?;
        let Some((bitmap, shift)) = self.validity else { return Ok(view) };
        // SAFETY: as the caller vouches.
        let bitmap = unsafe { bitmap.bytes() };
        view.with_validity(bitmap, shift).map_err(status)
    }
}

/// The range of elements of a layout, counted from the pointer of C.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    first: isize,
    /// Coordinate 0.
    origin: isize,
    /// The number of elements from the first to the last, both included. 0 if there is none.
    elements: usize,
}

impl Extent {
    pub(crate) fn new(
        sizes: &[usize],
        strides: Option<&[isize]>,
        origin: isize,
    ) -> Result<Self, Status> {
        if sizes.contains(&0) {
            return Ok(Self { first: 0, origin: 0, elements: 0 });
        }
        let (first, last) = match strides {
            Some(strides) => reach(sizes, strides, origin),
            None => {
                let len = sizes
                    .iter()
                    .try_fold(1isize, |len, &size| len.checked_mul(size.try_into().ok()?));
                len.and_then(|len| Some((origin, origin.checked_add(len - 1)?)))
            }
        }
        .ok_or(NF_ERR_LENGTH)?;
        let elements = last
            .checked_sub(first)
            .and_then(|distance| distance.checked_add(1))
            .ok_or(NF_ERR_LENGTH)?;
        Ok(Self { first, origin, elements: elements.unsigned_abs() })
    }

    /// The bytes from the first element to the last.
    pub(crate) fn span(&self, data: *const c_void, item: usize) -> Result<Span, Status> {
        if self.elements == 0 {
            return Span::new(core::ptr::null(), 0, item);
        }
        if data.is_null() {
            return Err(NF_ERR_NULL);
        }
        let distance = isize::try_from(item)
            .ok()
            .and_then(|item| self.first.checked_mul(item))
            .ok_or(NF_ERR_LENGTH)?;
        data.addr().checked_add_signed(distance).ok_or(NF_ERR_LENGTH)?;
        Span::new(data.wrapping_byte_offset(distance), self.elements, item)
    }

    /// Coordinate 0, counted from the first element.
    pub(crate) fn offset(&self) -> usize {
        // Fits: the origin is between the first and the last element.
        self.origin.wrapping_sub(self.first).unsigned_abs()
    }
}

/// The first and the last element; there is at least one.
fn reach(sizes: &[usize], strides: &[isize], origin: isize) -> Option<(isize, isize)> {
    let (mut first, mut last) = (origin, origin);
    for (&size, &stride) in sizes.iter().zip(strides) {
        let steps = size - 1;
        let distance = if steps == 0 || stride == 0 {
            0
        } else {
            isize::try_from(steps).ok()?.checked_mul(stride)?
        };
        first = first.checked_add(distance.min(0))?;
        last = last.checked_add(distance.max(0))?;
    }
    Some((first, last))
}

/// The strides and their bytes. None if the pointer is null.
///
/// # Safety
/// As [`ffi::array`], or null.
pub(crate) unsafe fn optional<'a>(
    strides: *const isize,
    rank: usize,
) -> Result<Option<(&'a [isize], Span)>, Status> {
    if strides.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller vouches.
    unsafe { ffi::array(strides, rank) }.map(Some)
}

/// The status of an error of a [`Tensor`] or an output.
pub(crate) fn status(error: impl Into<Error>) -> Status {
    match error.into() {
        Error::Layout(
            LayoutError::TooManyElements { .. } | LayoutError::TooManyDimensions { .. },
        ) => NF_ERR_LENGTH,
        Error::Layout(LayoutError::Overlap { .. }) => NF_ERR_OUTPUT_STRIDES,
        Error::OutputBits { .. } => NF_ERR_OUTPUT_LENGTH,
        // Cannot happen: spans cover the whole layout, and both sides have the same sizes.
        _ => NF_ERR_INTERNAL,
    }
}
