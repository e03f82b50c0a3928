//! The functions that a program calls to read what the sinks wrote.
#![expect(unsafe_code, reason = "functions with C linkage")]

use std::{ffi, slice};

use nonfinite::TensorView;
use nonfinite_ops::onnx::DataType;

use super::look::Look;
use super::runtime::type_in_onnx;
use super::table::{self, Event, Row};

/// The version of the functions and structs here. It changes with each change of a struct.
#[unsafe(no_mangle)]
pub extern "C" fn nonfinite_trace_version() -> u64 {
    1
}

/// Opens a table with `rows` rows. Returns its id, never 0.
#[unsafe(no_mangle)]
pub extern "C" fn nonfinite_trace_open(rows: usize) -> u64 {
    table::open(rows)
}

/// Closes a table. An id that is not open is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn nonfinite_trace_close(id: u64) {
    table::close(id);
}

/// Forgets all calls that a table has seen. An id that is not open is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn nonfinite_trace_reset(id: u64) {
    if let Some(table) = table::find(id) {
        table.reset();
    }
}

/// Copies the rows of a table, at most `room`. Returns how many rows the table has; 0 if the id is
/// not open.
///
/// # Safety
/// `rows` is null, or has room for `room` rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nonfinite_trace_rows(id: u64, rows: *mut Row, room: usize) -> usize {
    let found = table::find(id).map(|table| table.copy_rows()).unwrap_or_default();
    // SAFETY: as the caller promises.
    unsafe { copy(&found, rows, room) }
}

/// Copies the calls that saw a NaN or an infinity, in the order of execution, at most `room`.
/// Returns how many there are. A table keeps the first 16384.
///
/// # Safety
/// `events` is null, or has room for `room` events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nonfinite_trace_events(id: u64, events: *mut Event, room: usize) -> usize {
    let found = table::find(id).map(|table| table.copy_events()).unwrap_or_default();
    // SAFETY: as the caller promises.
    unsafe { copy(&found, events, room) }
}

/// Looks at `bytes` bytes of the element type `element` of ONNX, as a sink does. Returns whether
/// the type is a floating-point type that this library knows, and the length is whole elements.
///
/// # Safety
/// `data` has `bytes` bytes, or is null and `bytes` is 0. `look` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nonfinite_trace_look(
    data: *const ffi::c_void,
    bytes: usize,
    element: ffi::c_int,
    look: *mut Look,
) -> bool {
    let format = type_in_onnx(element).and_then(DataType::format);
    let Some(format) = format else { return false };
    let data = if bytes == 0 {
        &[]
    } else {
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts(data.cast::<u8>(), bytes) }
    };
    let Ok(view) = TensorView::from_bytes(data, format) else { return false };
    // SAFETY: as the caller promises.
    unsafe { look.write(Look::new(&view.stats(), format)) };
    true
}

/// Copies at most `room` of `found`. Returns the length of `found`.
///
/// # Safety
/// `to` is null, or has room for `room` elements.
unsafe fn copy<T: Copy>(found: &[T], to: *mut T, room: usize) -> usize {
    if !to.is_null() {
        // SAFETY: `to` has room for that many elements, and is not part of `found`, which this
        // library has just allocated.
        unsafe { to.copy_from_nonoverlapping(found.as_ptr(), found.len().min(room)) };
    }
    found.len()
}
