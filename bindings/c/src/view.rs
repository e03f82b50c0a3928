//! Questions about strided tensors.
#![expect(unsafe_code, reason = "functions for C")]

use core::mem::MaybeUninit;

use nonfinite::{MaskView, TensorView};

use crate::backend;
use crate::codes::{self, PredicateCode};
use crate::ffi::{self, Places, Slot, border};
use crate::flat::{self, Census};
use crate::status::Status;
use crate::tensor::{Extent, Tensor, View, optional, status};

/// For the element at each coordinate `c`, sets `out[out_offset + c[0] * out_strides[0] + ...]` to
/// 1 if `predicate` holds, otherwise to 0, and to 0 for a null. Bytes between results keep their
/// values. If `out_strides` is null, the results are row-major without padding.
///
/// No two coordinates may share a byte of the output: sort the dimensions larger than 1 by absolute
/// stride; each must step over all bytes that the dimensions before it reach.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, `NF_ERR_OUTPUT_STRIDES`, and with `NF_ERR_OVERLAP` if the
/// bytes from the first to the last result overlap the bytes from the first to the last element,
/// sizes, strides or bits of validity.
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
        let predicate = codes::predicate(predicate, x.format)?;
        // SAFETY: null, or one stride a dimension, as the caller vouches.
        let strides = unsafe { optional(out_strides, x.sizes.len())? };
        let extent = Extent::new(x.sizes, strides.map(|(strides, _)| strides), out_offset)?;
        let span = extent.span(out.cast(), 1)?;
        x.apart_from(&span)?;
        if let Some((_, strides)) = strides {
            strides.apart_from(&span)?;
        }
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let view = unsafe { x.view()? };
        // SAFETY: writable and ours alone, as the caller vouches, and not the input; any byte is a
        // `MaybeUninit`.
        let out = unsafe { span.output::<MaybeUninit<bool>>() };
        let out = match strides {
            Some((strides, _)) => MaskView::strided(out, extent.offset(), x.sizes, strides),
            None => MaskView::shaped(out, x.sizes),
        }
        .map_err(status)?;
        view.mask_into(predicate, out).map_err(status)
    })
}

/// Sets bit `(bit_offset + i) % 8` of `bitmap[(bit_offset + i) / 8]` to 1 if `predicate` holds for
/// the element of row-major index `i`, otherwise to 0, and to 0 for a null. All other bits keep
/// their values, and bytes without results are not touched.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`, with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the
/// last result or before bit `bit_offset`, and with `NF_ERR_OVERLAP` if bytes with results overlap
/// the bytes from the first to the last element, sizes, strides or bytes with bits of `validity`.
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
        let predicate = codes::predicate(predicate, x.format)?;
        let (bitmap, shift) = ffi::bitmap(bitmap, bitmap_bytes, bit_offset, x.len)?;
        x.apart_from(&bitmap)?;
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let view = unsafe { x.view()? };
        // SAFETY: writable, initialised and ours alone, as the caller vouches, and not the input.
        let bitmap = unsafe { bitmap.output::<u8>() };
        view.bits(predicate, bitmap, shift).map_err(status)
    })
}

/// Sets `*result` to whether `predicate` holds for any element that is not null. Stops soon after
/// the first hit.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
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
    unsafe { reduce(x, result, |view| Ok(view.any(codes::predicate(predicate, view.format())?))) }
}

/// Sets `*result` to whether `predicate` holds for all elements that are not null: true if there
/// are none. Stops soon after the first element for which the predicate does not hold.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
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
    unsafe { reduce(x, result, |view| Ok(view.all(codes::predicate(predicate, view.format())?))) }
}

/// Sets `*result` to the number of elements that are not null for which `predicate` holds. A
/// broadcast element counts for each of its coordinates.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
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
    unsafe {
        reduce(x, result, |view| Ok(view.count(codes::predicate(predicate, view.format())?) as u64))
    }
}

/// Finds the first element, in row-major order, that is not null and for which `predicate` holds.
/// Sets `*index` to its row-major index, or to `NF_NONE` if there is none. Writes its coordinate,
/// one number for each dimension, outermost first. `coordinate` may be null, and is left alone if
/// there is no such element.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `x` leads to an nf_view, its pointers to what it describes, `index` to a
/// uint64_t, and `coordinate` is null or leads to one size_t a dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_view_first(
    x: *const View,
    predicate: PredicateCode,
    index: *mut u64,
    coordinate: *mut usize,
) -> Status {
    border(|| {
        // SAFETY: it leads to memory for one, as the caller vouches.
        let result = unsafe { Slot::new(index)? };
        // SAFETY: as the caller vouches.
        let x = unsafe { Tensor::new(x)? };
        // SAFETY: null, or one number a dimension, as the caller vouches.
        let places = unsafe { Places::new(coordinate, x.sizes.len())? };
        let predicate = codes::predicate(predicate, x.format)?;
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches; nothing is written before the
        // answer is there.
        let view = unsafe { x.view()? };
        let first = view.position(predicate);
        result.set(flat::index(first));
        if let Some(first) = first {
            places.set(view.coordinate(first).map_err(status)?);
        }
        Ok(())
    })
}

/// Counts NaN, +Inf and -Inf that are not null, and finds the first of each by row-major index.
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

/// One result for all elements.
///
/// # Safety
/// Unless refused, `x` leads to a `View`, its pointers to what it describes, and `result` to memory
/// for a `T`.
#[inline]
pub(crate) unsafe fn reduce<T>(
    x: *const View,
    result: *mut T,
    answer: impl FnOnce(&TensorView<'_>) -> Result<T, Status>,
) -> Status {
    border(|| {
        // SAFETY: it leads to memory for a `T`, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        // SAFETY: as the caller vouches.
        let x = unsafe { Tensor::new(x)? };
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches; nothing is written before the
        // answer is there.
        let view = unsafe { x.view()? };
        result.set(answer(&view)?);
        Ok(())
    })
}
