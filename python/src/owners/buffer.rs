//! Objects with the buffer protocol: `array.array`, `memoryview`, ctypes.

use nonfinite_border::buffer::Buffer;
use pyo3::ffi::{self, Py_buffer};
use pyo3::prelude::*;

use super::{Array, Owner};
use crate::error::of_border;

/// A buffer that is held until it is dropped. In a box: its `shape` may point into itself.
pub(crate) struct Held(Box<Py_buffer>);

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: `read` has filled the buffer with success, and it is released once. The thread
        // holds the GIL: an `Array` has pointers, so it is not `Send`, and it is not dropped inside
        // of `Python::detach`.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.0) }
    }
}

/// An object with the buffer protocol. `None` if it has none.
///
/// # Errors
/// TypeError for raw bytes and for elements that are neither numbers nor bool.
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    // SAFETY: `x` is alive. The function only looks at its type.
    if unsafe { ffi::PyObject_CheckBuffer(x.as_ptr()) } == 0 {
        return Ok(None);
    }
    let mut buffer = Box::new(Py_buffer::new());
    // SAFETY: `x` is alive, and the buffer is writable. It is filled if the result is 0.
    if unsafe { ffi::PyObject_GetBuffer(x.as_ptr(), &raw mut *buffer, ffi::PyBUF_FULL_RO) } != 0 {
        return Err(PyErr::fetch(x.py()));
    }
    let held = Held(buffer);
    let Py_buffer { buf, len, itemsize, ndim, format, shape, strides, suboffsets, .. } = *held.0;
    let (buf, readonly) = (buf.cast(), held.0.readonly != 0);
    let buffer = Buffer { buf, len, itemsize, readonly, ndim, format, shape, strides, suboffsets };
    // SAFETY: the exporter has filled the fields. The memory stays, and is not resized, until the
    // buffer, which becomes the owner, is released.
    unsafe { buffer.array(Owner::Buffer(held)) }.map(Some).map_err(of_border)
}
