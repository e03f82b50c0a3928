//! Questions about strided tensors.
#![expect(unsafe_code, reason = "functions for C")]

use core::ffi::c_void;
use core::mem::MaybeUninit;

use nonfinite::{Error, MaskView, TensorView};

use crate::codes::{self, FormatCode, PredicateCode};
use crate::ffi::{self, Slot, Span, border};
use crate::flat::{Census, index};
use crate::status::{
    NF_ERR_INDEX, NF_ERR_INTERNAL, NF_ERR_LENGTH, NF_ERR_NULL, NF_ERR_OUTPUT_LENGTH,
    NF_ERR_OUTPUT_STRIDES, Status,
};

/// A strided tensor: the element at coordinate `c` is `data[offset + c[0] * strides[0] + ... +
/// c[rank - 1] * strides[rank - 1]]`. All in elements, as numpy, DLPack and DirectML have it, but
/// numpy's strides in bytes.
///
/// Strides may be negative or 0 (a broadcast dimension), dimensions may overlap, and one of size 1
/// may have any stride. A rank of 0 is one element. If a size is 0 there are no elements, and
/// `data` may be null and `offset` and strides anything.
///
/// All bytes from the first to the last element must be readable, and nothing may write to them
/// during a call, also those between elements; only elements are read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    /// What offsets and strides count from. Any address.
    pub data: *const c_void,
    /// The format of the elements.
    pub format: FormatCode,
    /// The number of dimensions.
    pub rank: usize,
    /// One size a dimension, outermost first. May be null if `rank` is 0.
    pub sizes: *const usize,
    /// One stride a dimension, outermost first. Null: row-major without padding.
    pub strides: *const isize,
    /// Where coordinate 0 is.
    pub offset: isize,
}

/// For the element at each coordinate `c`, `out[out_offset + c[0] * out_strides[0] + ...]` becomes
/// 1 if `predicate` holds, else 0. Bytes between results stay as they are. If `out_strides` is
/// null, the results are row-major without padding.
///
/// No two coordinates may share a byte of the output: of the dimensions larger than 1, in order of
/// their absolute strides, each must step over all bytes that those before it reach.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, `NF_ERR_OUTPUT_STRIDES`, and with `NF_ERR_OVERLAP` if the bytes from the
/// first to the last result have any in common with those from the first to the last element, or
/// with sizes or strides.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, and its pointers to what it describes; `out_strides` is
/// null or leads to one stride a dimension, and nothing else uses the bytes from the first to the
/// last result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_mask(
    x: *const View,
    predicate: PredicateCode,
    out: *mut u8,
    out_offset: isize,
    out_strides: *const isize,
) -> Status {
    border(|| {
        // SAFETY: as the caller vouches.
        let x = unsafe { Tensor::new(x)? };
        let predicate = codes::predicate(predicate)?;
        // SAFETY: null, or one stride a dimension, as the caller vouches.
        let strides = unsafe { optional(out_strides, x.sizes.len())? };
        let extent = Extent::new(x.sizes, strides.map(|(strides, _)| strides), out_offset)?;
        let span = extent.span(out.cast(), 1)?;
        x.apart_from(&span)?;
        if let Some((_, strides)) = strides {
            strides.apart_from(&span)?;
        }
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let view = unsafe { x.view()? };
        // SAFETY: writable and ours alone, as the caller vouches, and not the input; any byte is a
        // `MaybeUninit`.
        let out = unsafe { span.output::<MaybeUninit<bool>>() };
        let mut out = match strides {
            Some((strides, _)) => MaskView::strided(out, extent.offset(), x.sizes, strides),
            None => MaskView::shaped(out, x.sizes),
        }
        .map_err(status)?;
        view.mask_into(predicate, &mut out).map_err(status)
    })
}

/// Bit `(bit_offset + i) % 8` of `bitmap[(bit_offset + i) / 8]` becomes 1 if `predicate` holds for
/// the element of row-major index `i`, else 0. All other bits stay as they are, and bytes without
/// results are not touched.
///
/// Refused as `nf_view_mask`, but with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the last
/// result or before bit `bit_offset`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, and its pointers to what it describes; `bitmap` leads
/// to `bitmap_bytes` bytes. Those with results are initialised, and nothing else uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_bits(
    x: *const View,
    predicate: PredicateCode,
    bitmap: *mut u8,
    bitmap_bytes: usize,
    bit_offset: usize,
) -> Status {
    border(|| {
        // SAFETY: as the caller vouches.
        let x = unsafe { Tensor::new(x)? };
        let predicate = codes::predicate(predicate)?;
        let (bitmap, shift) = ffi::bitmap(bitmap, bitmap_bytes, bit_offset, x.len)?;
        x.apart_from(&bitmap)?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let view = unsafe { x.view()? };
        // SAFETY: writable, initialised and ours alone, as the caller vouches, and not the input.
        let bitmap = unsafe { bitmap.output::<u8>() };
        view.bits(predicate, bitmap, shift).map_err(status)
    })
}

/// `*result` becomes true if `predicate` holds for an element. Stops soon after one was found.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
/// bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_any(
    x: *const View,
    predicate: PredicateCode,
    result: *mut bool,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, result, |view| Ok(view.any(codes::predicate(predicate)?))) }
}

/// `*result` becomes true if `predicate` holds for all elements, and if there are none. Stops soon
/// after one was found for which it does not.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
/// bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_all(
    x: *const View,
    predicate: PredicateCode,
    result: *mut bool,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, result, |view| Ok(view.all(codes::predicate(predicate)?))) }
}

/// `*result` becomes the number of elements for which `predicate` holds. One that is broadcast
/// counts as often as coordinates name it.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
/// uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_count(
    x: *const View,
    predicate: PredicateCode,
    result: *mut u64,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, result, |view| Ok(view.count(codes::predicate(predicate)?) as u64)) }
}

/// `*result` becomes the row-major index of the first element for which `predicate` holds, or
/// `NF_NONE`. `nf_view_coordinate` makes a coordinate of it.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to a
/// uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_first(
    x: *const View,
    predicate: PredicateCode,
    result: *mut u64,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, result, |view| Ok(index(view.position(codes::predicate(predicate)?)))) }
}

/// Counts NaN, +Inf and -Inf and finds the first of each by row-major index.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `result` to an
/// nf_census.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_census(x: *const View, result: *mut Census) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, result, |view| Ok(view.census().into())) }
}

/// Writes the coordinate of the element of this row-major index: one number a dimension, outermost
/// first. No element is read.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, with
/// `NF_ERR_OVERLAP` if the coordinate shares bytes with elements, sizes or strides, and with
/// `NF_ERR_INDEX` if there is no such element.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, and `coordinate` to
/// one size_t a dimension that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_coordinate(
    x: *const View,
    index: u64,
    coordinate: *mut usize,
) -> Status {
    border(|| {
        // SAFETY: as the caller vouches.
        let x = unsafe { Tensor::new(x)? };
        let index =
            usize::try_from(index).ok().filter(|&index| index < x.len).ok_or(NF_ERR_INDEX)?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output, which is
        // approved before it is made.
        let view = unsafe { x.view()? };
        // SAFETY: one `size_t` a dimension that is ours alone (the caller).
        let places = unsafe { ffi::places(coordinate, x.sizes.len(), |span| x.apart_from(span))? };
        view.coordinate(index, places).map_err(status)
    })
}

/// One result for all elements.
///
/// # Safety
/// Unless refused, `x` leads to a `View`, its pointers to what it describes, and `result` to memory
/// for a `T`.
#[inline]
unsafe fn reduce<T>(
    x: *const View,
    result: *mut T,
    answer: impl FnOnce(&TensorView<'_>) -> Result<T, Status>,
) -> Status {
    border(|| {
        // SAFETY: it leads to memory for a `T`, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        // SAFETY: as the caller vouches.
        let x = unsafe { Tensor::new(x)? };
        // SAFETY: readable and left alone, as the caller vouches; nothing is written before the
        // answer is there.
        let view = unsafe { x.view()? };
        result.set(answer(&view)?);
        Ok(())
    })
}

/// A `View` whose pointers were checked, and that names no element that cannot be.
struct Tensor<'a> {
    format: nonfinite::Format,
    sizes: &'a [usize],
    strides: Option<&'a [isize]>,
    extent: Extent,
    len: usize,
    /// The bytes of elements, sizes and strides.
    data: Span,
    shape: [Span; 2],
}

impl<'a> Tensor<'a> {
    /// # Safety
    /// Unless null or misaligned, `x` must lead to a `View`, and its `sizes` and `strides`, unless
    /// null or misaligned, to `rank` values that nothing writes to during `'a`.
    unsafe fn new(x: *const View) -> Result<Self, Status> {
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
        // Broadcast, more elements can be named than there are bytes.
        let len = if sizes.contains(&0) {
            Some(0)
        } else {
            sizes.iter().try_fold(1usize, |len, &size| len.checked_mul(size))
        };
        Ok(Self {
            format,
            sizes,
            strides: strides.map(|(strides, _)| strides),
            extent,
            len: len.ok_or(NF_ERR_LENGTH)?,
            data,
            shape: [sizes_span, strides.map_or(sizes_span, |(_, span)| span)],
        })
    }

    fn apart_from(&self, output: &Span) -> Result<(), Status> {
        self.shape.iter().chain([&self.data]).try_for_each(|span| span.apart_from(output))
    }

    /// # Safety
    /// For all of `'b` all bytes from the first to the last element must be readable and
    /// initialised, and nothing may write to them.
    unsafe fn view<'b>(&self) -> Result<TensorView<'b>, Status>
    where
        'a: 'b,
    {
        // SAFETY: as the caller vouches.
        let elements = unsafe { self.data.elements(self.format)? };
        match self.strides {
            Some(strides) => {
                TensorView::strided(elements, self.extent.offset(), self.sizes, strides)
            }
            None => TensorView::shaped(elements, self.sizes),
        }
        .map_err(status)
    }
}

/// From which to which element a layout reaches, counted from the pointer of C.
#[derive(Clone, Copy)]
struct Extent {
    first: isize,
    /// Coordinate 0.
    origin: isize,
    /// From the first element to the last, with both; 0 if there is none.
    elements: usize,
}

impl Extent {
    fn new(sizes: &[usize], strides: Option<&[isize]>, origin: isize) -> Result<Self, Status> {
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
    fn span(&self, data: *const c_void, item: usize) -> Result<Span, Status> {
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
    fn offset(&self) -> usize {
        // Neither below 0 nor too much: the origin is between the first and the last element.
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

/// Strides, and their bytes, unless there are none.
///
/// # Safety
/// As [`ffi::array`], or null.
unsafe fn optional<'a>(
    strides: *const isize,
    rank: usize,
) -> Result<Option<(&'a [isize], Span)>, Status> {
    if strides.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller vouches.
    unsafe { ffi::array(strides, rank) }.map(Some)
}

fn status(error: Error) -> Status {
    match error {
        Error::TooManyElements { .. } => NF_ERR_LENGTH,
        Error::Overlap { .. } => NF_ERR_OUTPUT_STRIDES,
        Error::OutputBits { .. } => NF_ERR_OUTPUT_LENGTH,
        // Spans are as long as layouts reach, and sizes are the same for both sides.
        _ => NF_ERR_INTERNAL,
    }
}
