//! Magnitudes above a threshold.
#![expect(unsafe_code, reason = "functions for C")]

use core::ffi::c_void;
use core::mem::MaybeUninit;

use nonfinite::{Exceeds, TensorView};

use crate::backend;
use crate::codes::{FormatCode, NF_IS_NEVER};
use crate::ffi::{Slot, Span, border};
use crate::flat::{index, question};
use crate::status::{NF_ERR_INTERNAL, NF_ERR_THRESHOLD, Status};

/// Sets `out[i]` to 1 if the magnitude (absolute value) of element `i` is above the threshold,
/// otherwise to 0. Infinity exceeds every threshold, and so does NaN: if no element exceeds a
/// threshold, all elements are numbers from `-threshold` to `threshold`.
///
/// `data` and `out` may be null if `count` is 0.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_OVERLAP`, and with
/// `NF_ERR_THRESHOLD` if the threshold is negative, infinite or NaN, or if the format is
/// `NF_FORMAT_F8E8M0FNU`, whose elements are scales without a sign.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `out` to `count`
/// bytes that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_exceeds_mask(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    threshold: f64,
    out: *mut u8,
) -> Status {
    border(|| {
        // A threshold asks for no predicate.
        let (x, format, _) = question(data, format, count, NF_IS_NEVER)?;
        let out = Span::new(out.cast(), count, 1)?;
        x.apart_from(&out)?;
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches, and not the output.
        let x = unsafe { x.elements(format)? };
        let above = TensorView::from(x).exceeds(threshold).map_err(|_| NF_ERR_THRESHOLD)?;
        // SAFETY: writable and ours alone, as the caller vouches, and not the input; any byte is a
        // `MaybeUninit`.
        let out = unsafe { out.output::<MaybeUninit<bool>>() };
        above.mask(out).map_err(|_| NF_ERR_INTERNAL)
    })
}

/// Sets `*result` to whether a magnitude is above the threshold, as `nf_exceeds_mask` has it. Stops
/// soon after the first.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_THRESHOLD`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
/// bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_exceeds_any(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    threshold: f64,
    result: *mut bool,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(data, format, count, threshold, result, |above| above.any()) }
}

/// Sets `*result` to the number of elements whose magnitude is above the threshold, as
/// `nf_exceeds_mask` has it.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_THRESHOLD`,
/// `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
/// uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_exceeds_count(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    threshold: f64,
    result: *mut u64,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(data, format, count, threshold, result, |above| above.count() as u64) }
}

/// Sets `*result` to the index of the first element whose magnitude is above the threshold, as
/// `nf_exceeds_mask` has it, or to `NF_NONE`.
///
/// `data` may be null if `count` is 0; `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`, `NF_ERR_THRESHOLD`,
/// `NF_ERR_MISALIGNED`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to a
/// uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_exceeds_first(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    threshold: f64,
    result: *mut u64,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe { reduce(data, format, count, threshold, result, |above| index(above.position())) }
}

/// One result for all elements.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements that nothing writes to, and `result` to memory
/// for a `T`.
unsafe fn reduce<T>(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    threshold: f64,
    result: *mut T,
    answer: impl FnOnce(Exceeds<'_>) -> T,
) -> Status {
    border(|| {
        let (x, format, _) = question(data, format, count, NF_IS_NEVER)?;
        // SAFETY: it leads to memory for a `T`, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches; nothing is written before the
        // answer is there.
        let x = unsafe { x.elements(format)? };
        result.set(answer(TensorView::from(x).exceeds(threshold).map_err(|_| NF_ERR_THRESHOLD)?));
        Ok(())
    })
}
