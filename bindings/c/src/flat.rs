//! Questions about `count` adjacent elements.
#![expect(unsafe_code, reason = "functions for C")]

use core::ffi::c_void;
use core::mem::MaybeUninit;

use nonfinite::{Format, Predicate, TensorView};

use crate::backend;
use crate::codes::{self, FormatCode, NF_IS_NEVER, PredicateCode};
use crate::ffi::{self, Slot, Span, border};
use crate::status::{NF_ERR_INTERNAL, Status};

/// The index if there is no such element.
pub const NF_NONE: u64 = u64::MAX;

/// Elements of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Occurrences {
    /// The number of elements.
    pub count: u64,
    /// The index of the first, or `NF_NONE`. In a view, the row-major index.
    pub first: u64,
}

/// The NaN and infinities, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Census {
    /// Not a number.
    pub nan: Occurrences,
    /// +Inf.
    pub pos_inf: Occurrences,
    /// -Inf.
    pub neg_inf: Occurrences,
}

impl From<nonfinite::Occurrences> for Occurrences {
    fn from(class: nonfinite::Occurrences) -> Self {
        Self { count: class.count as u64, first: index(class.first) }
    }
}

impl From<nonfinite::Census> for Census {
    fn from(census: nonfinite::Census) -> Self {
        Self {
            nan: census.nan.into(),
            pos_inf: census.pos_inf.into(),
            neg_inf: census.neg_inf.into(),
        }
    }
}

pub(crate) fn index(position: Option<usize>) -> u64 {
    position.map_or(NF_NONE, |position| position as u64)
}

/// Sets `out[i]` to 1 if `predicate` holds for element `i`, otherwise to 0.
///
/// `data` and `out` may be null if `count` is 0.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_OVERLAP`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `out` to `count`
/// bytes that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_mask(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    out: *mut u8,
) -> Status {
    border(|| {
        let (x, format, predicate) = question(data, format, count, predicate)?;
        let out = Span::new(out.cast(), count, 1)?;
        x.apart_from(&out)?;
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let x = unsafe { x.elements(format)? };
        // SAFETY: writable and ours alone, as the caller vouches, and not the input; any byte is a
        // `MaybeUninit`.
        let out = unsafe { out.output::<MaybeUninit<bool>>() };
        TensorView::from(x).mask(predicate, out).map_err(|_| NF_ERR_INTERNAL)
    })
}

/// Sets bit `(bit_offset + i) % 8` of `bitmap[(bit_offset + i) / 8]` to 1 if `predicate` holds for
/// element `i`, otherwise to 0: the order of Apache Arrow. All other bits keep their values, and
/// bytes without results are not touched.
///
/// `bitmap_bytes` is the size of the bitmap. `data` may be null if `count` is 0, and `bitmap` if
/// `bitmap_bytes` is 0.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_OVERLAP`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the
/// last result or before bit `bit_offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `bitmap` to
/// `bitmap_bytes` bytes. Those with results are initialised, and nothing else uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_bits(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    bitmap: *mut u8,
    bitmap_bytes: usize,
    bit_offset: usize,
) -> Status {
    border(|| {
        let (x, format, predicate) = question(data, format, count, predicate)?;
        let (bitmap, shift) = ffi::bitmap(bitmap, bitmap_bytes, bit_offset, count)?;
        x.apart_from(&bitmap)?;
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let x = unsafe { x.elements(format)? };
        // SAFETY: writable, initialised and ours alone, as the caller vouches, and not the input.
        let bitmap = unsafe { bitmap.output::<u8>() };
        TensorView::from(x).bits(predicate, bitmap, shift).map_err(|_| NF_ERR_INTERNAL)
    })
}

/// Sets `*result` to whether `predicate` holds for any element. Stops soon after the first hit.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_any(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    result: *mut bool,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(data, format, count, predicate, result, |x, predicate| x.any(predicate)) }
}

/// Sets `*result` to whether `predicate` holds for all elements: true if there are none. Stops soon
/// after the first element for which the predicate does not hold.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_all(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    result: *mut bool,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(data, format, count, predicate, result, |x, predicate| x.all(predicate)) }
}

/// Sets `*result` to the number of elements for which `predicate` holds.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
/// uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_count(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    result: *mut u64,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        reduce(data, format, count, predicate, result, |x, predicate| x.count(predicate) as u64)
    }
}

/// Sets `*result` to the index of the first element for which `predicate` holds, or to `NF_NONE`.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_THRESHOLD`, `NF_ERR_LENGTH`,
/// `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
/// uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_first(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    result: *mut u64,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        reduce(data, format, count, predicate, result, |x, predicate| index(x.position(predicate)))
    }
}

/// Counts NaN, +Inf and -Inf and finds the first of each, in one pass.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to an
/// nf_census.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_take_census(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    result: *mut Census,
) -> Status {
    // SAFETY: as the caller vouches. A census asks for no predicate.
    unsafe { reduce(data, format, count, NF_IS_NEVER, result, |x, _| x.census().into()) }
}

/// The arguments that these functions share, after their checks.
pub(crate) fn question(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
) -> Result<(Span, Format, Predicate), Status> {
    let format = codes::format(format)?;
    let predicate = codes::predicate(predicate, format)?;
    Ok((Span::new(data, count, format.size_in_bytes())?, format, predicate))
}

/// One result for all elements.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to memory
/// for a `T`.
#[inline]
pub(crate) unsafe fn reduce<T>(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    result: *mut T,
    answer: impl FnOnce(TensorView<'_>, Predicate) -> T,
) -> Status {
    border(|| {
        let (x, format, predicate) = question(data, format, count, predicate)?;
        // SAFETY: it leads to memory for a `T`, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches; nothing is written before the
        // answer is there.
        let x = unsafe { x.elements(format)? };
        result.set(answer(x.into(), predicate));
        Ok(())
    })
}
