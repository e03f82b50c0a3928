//! Questions about `count` adjacent elements of which some are null.
#![expect(unsafe_code, reason = "functions for C")]

use core::ffi::c_void;

use nonfinite::{Predicate, TensorView, ValidView};

use crate::backend;
use crate::codes::{FormatCode, NF_IS_NEVER, PredicateCode};
use crate::ffi::{self, Slot, border};
use crate::flat::{Census, index, question};
use crate::stats::Stats;
use crate::status::{NF_ERR_INTERNAL, NF_ERR_OUTPUT_LENGTH, Status};

/// Which elements are valid, in the order of Apache Arrow: bit `(offset + i) % 8` of
/// `bitmap[(offset + i) / 8]` is 1 if element `i` is valid, and 0 if it is null. What the memory of
/// a null holds makes no difference to any answer, and indices count nulls too. An array without a
/// bitmap has no nulls: `nf_any` and so on are the functions for it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Validity {
    /// The bits. May be null if `bytes` is 0.
    pub bitmap: *const u8,
    /// The size of the bitmap in bytes. Bits behind the last element are not looked at.
    pub bytes: usize,
    /// The bit of the first element.
    pub offset: usize,
}

/// Sets `*result` to whether `predicate` holds for any valid element.
///
/// `data` may be null if `count` is 0; `validity` and `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the bit of the
/// last element or before bit `offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to an nf_validity, and its bitmap
/// to that many bytes; nothing writes to all these. `result` leads to a bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_valid_any(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    validity: *const Validity,
    result: *mut bool,
) -> Status {
    let x = (data, format, count);
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, predicate, validity, result, |x, predicate| x.any(predicate)) }
}

/// Sets `*result` to whether `predicate` holds for all valid elements: true if there are none.
///
/// `data` may be null if `count` is 0; `validity` and `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the bit of the
/// last element or before bit `offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to an nf_validity, and its bitmap
/// to that many bytes; nothing writes to all these. `result` leads to a bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_valid_all(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    validity: *const Validity,
    result: *mut bool,
) -> Status {
    let x = (data, format, count);
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, predicate, validity, result, |x, predicate| x.all(predicate)) }
}

/// Sets `*result` to the number of valid elements for which `predicate` holds.
///
/// `data` may be null if `count` is 0; `validity` and `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the bit of the
/// last element or before bit `offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to an nf_validity, and its bitmap
/// to that many bytes; nothing writes to all these. `result` leads to a uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_valid_count(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    validity: *const Validity,
    result: *mut u64,
) -> Status {
    let x = (data, format, count);
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, predicate, validity, result, |x, predicate| x.count(predicate) as u64) }
}

/// Sets `*result` to the index of the first valid element for which `predicate` holds, or to
/// `NF_NONE`.
///
/// `data` may be null if `count` is 0; `validity` and `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_PREDICATE`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the bit of the
/// last element or before bit `offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to an nf_validity, and its bitmap
/// to that many bytes; nothing writes to all these. `result` leads to a uint64_t.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_valid_first(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    predicate: PredicateCode,
    validity: *const Validity,
    result: *mut u64,
) -> Status {
    let x = (data, format, count);
    // SAFETY: as the caller vouches.
    unsafe { reduce(x, predicate, validity, result, |x, predicate| index(x.position(predicate))) }
}

/// `nf_take_census` of the valid elements.
///
/// `data` may be null if `count` is 0; `validity` and `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the bit of the
/// last element or before bit `offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to an nf_validity, and its bitmap
/// to that many bytes; nothing writes to all these. `result` leads to an nf_census.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_valid_census(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    validity: *const Validity,
    result: *mut Census,
) -> Status {
    let x = (data, format, count);
    // SAFETY: as the caller vouches. No predicate is asked for.
    unsafe { reduce(x, NF_IS_NEVER, validity, result, |x, _| x.census().into()) }
}

/// `nf_take_stats` of the valid elements.
///
/// `data` may be null if `count` is 0; `validity` and `result` never.
///
/// Refused with `NF_ERR_FORMAT`, `NF_ERR_LENGTH`, `NF_ERR_NULL`,
/// `NF_ERR_MISALIGNED`, and with `NF_ERR_OUTPUT_LENGTH` if the bitmap ends before the bit of the
/// last element or before bit `offset`.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to an nf_validity, and its bitmap
/// to that many bytes; nothing writes to all these. `result` leads to an nf_stats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nf_valid_stats(
    data: *const c_void,
    format: FormatCode,
    count: usize,
    validity: *const Validity,
    result: *mut Stats,
) -> Status {
    let x = (data, format, count);
    // SAFETY: as the caller vouches. No predicate is asked for.
    unsafe { reduce(x, NF_IS_NEVER, validity, result, |x, _| x.stats().into()) }
}

/// One result for all valid elements.
///
/// # Safety
/// Unless refused, `data` leads to `count` elements, `validity` to a `Validity`, and its bitmap to
/// that many bytes; nothing writes to all these. `result` leads to memory for a `T`.
unsafe fn reduce<T>(
    (data, format, count): (*const c_void, FormatCode, usize),
    predicate: PredicateCode,
    validity: *const Validity,
    result: *mut T,
    answer: impl FnOnce(ValidView<'_>, Predicate) -> T,
) -> Status {
    border(|| {
        let (x, format, predicate) = question(data, format, count, predicate)?;
        // SAFETY: it leads to memory for a `T`, as the caller vouches.
        let result = unsafe { Slot::new(result)? };
        // SAFETY: one `Validity` that nothing writes to, as the caller vouches.
        let (validity, _) = unsafe { ffi::array(validity, 1)? };
        let &[Validity { bitmap, bytes, offset }] = validity else { return Err(NF_ERR_INTERNAL) };
        // SAFETY: that many bytes that nothing writes to, as the caller vouches.
        let (bitmap, _) = unsafe { ffi::array(bitmap, bytes)? };
        backend::choose()?;
        // SAFETY: readable and left alone, as the caller vouches; nothing is written before the
        // answer is there.
        let x = unsafe { x.elements(format)? };
        let x = TensorView::from(x).with_validity(bitmap, offset);
        result.set(answer(x.map_err(|_| NF_ERR_OUTPUT_LENGTH)?, predicate));
        Ok(())
    })
}
