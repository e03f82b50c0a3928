//! The status of a call.

use core::ffi::{CStr, c_char};

/// The result of a call: `NF_OK`, or the reason of a refusal. `nf_status_message` returns it in
/// words.
pub type Status = i32;

/// The results are written.
pub const NF_OK: Status = 0;
/// A required pointer is null.
pub const NF_ERR_NULL: Status = 1;
/// No format has this number.
pub const NF_ERR_FORMAT: Status = 2;
/// No predicate has this number.
pub const NF_ERR_PREDICATE: Status = 3;
/// The elements, their results or their bits of validity take more bytes than an object can have
/// (`PTRDIFF_MAX`) or end behind the last address.
pub const NF_ERR_LENGTH: Status = 4;
/// A pointer to a result, or to sizes, strides or a view, is not aligned to its type.
pub const NF_ERR_MISALIGNED: Status = 5;
/// The bitmap ends before the last result or before the first bit.
pub const NF_ERR_OUTPUT_LENGTH: Status = 6;
/// Input and output have bytes in common.
pub const NF_ERR_OVERLAP: Status = 7;
/// No format or backend has this name.
pub const NF_ERR_NAME: Status = 8;
/// The backend is known, but this CPU cannot run it.
pub const NF_ERR_UNAVAILABLE: Status = 9;
/// The index is behind the end.
pub const NF_ERR_INDEX: Status = 10;
/// The output strides send two results to one byte.
pub const NF_ERR_OUTPUT_STRIDES: Status = 11;
/// Either NONFINITE_BACKEND names no backend that this build and CPU have, or this is a mistake in
/// the library. Please report the latter.
pub const NF_ERR_INTERNAL: Status = 12;
/// The threshold is negative, infinite or NaN, or the format has no -0.
pub const NF_ERR_THRESHOLD: Status = 13;

/// In the order of the numbers.
const MESSAGES: [&CStr; 14] = [
    c"no error",
    c"a pointer is null that must not be",
    c"no format has this number",
    c"no predicate has this number",
    c"the elements take more bytes than an object can have, or end behind the last address",
    c"a pointer to a result, or to sizes, strides or a view, is not aligned to its type",
    c"the bitmap ends before the last result or before the first bit asked for",
    c"input and output overlap",
    c"no format or backend has this name",
    c"this CPU cannot run this backend",
    c"there is nothing at this index",
    c"the output strides send two results to one byte",
    c"NONFINITE_BACKEND names no backend that is here, or this is a mistake in nonfinite",
    c"the threshold is negative, infinite or NaN, or the format has no -0",
];

/// The meaning of a status, in English. Also has a text for unknown numbers.
#[expect(unsafe_code, reason = "the name that C links")]
#[unsafe(no_mangle)]
pub extern "C" fn nf_status_message(status: Status) -> *const c_char {
    let message = usize::try_from(status).ok().and_then(|status| MESSAGES.get(status));
    message.map_or(c"no status has this number", |message| message).as_ptr()
}
