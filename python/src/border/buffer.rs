//! Objects with the buffer protocol: `array.array`, `memoryview`, ctypes.

use std::ffi::CStr;

use nonfinite::Format;
use pyo3::ffi;
use pyo3::prelude::*;

use super::{Array, Kind, Owner, Shape};
use crate::arrays::error::{type_error, value};

/// A buffer that is held until it is dropped. In a box: its `shape` may point into itself.
pub(crate) struct Held(Box<ffi::Py_buffer>);

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
    let mut buffer = Box::new(ffi::Py_buffer::new());
    // SAFETY: `x` is alive, and the buffer is writable. It is filled if the result is 0.
    if unsafe { ffi::PyObject_GetBuffer(x.as_ptr(), &raw mut *buffer, ffi::PyBUF_FULL_RO) } != 0 {
        return Err(PyErr::fetch(x.py()));
    }
    let held = Held(buffer);
    let buffer = &*held.0;
    let rank = usize::try_from(buffer.ndim).map_err(|_| value("x has negative dimensions"))?;
    let item = usize::try_from(buffer.itemsize).ok().filter(|&item| item > 0);
    let item = item.ok_or_else(|| type_error("x has elements without a size"))?;
    let format = match buffer.format.is_null() {
        true => c"B",
        // SAFETY: a format that is not null is a string that lives as long as the buffer.
        false => unsafe { CStr::from_ptr(buffer.format) },
    };
    let (kind, swapped) = kind(format.to_bytes(), item)?;
    // SAFETY: pointers that are not null point to `ndim` numbers, and `shape` is not null.
    let (shape, indirect) = unsafe {
        let number = |numbers: *const isize, i: usize| *numbers.add(i);
        let dimension = |i| match buffer.strides.is_null() {
            true => (number(buffer.shape, i), 1),
            false => (number(buffer.shape, i), number(buffer.strides, i)),
        };
        let offsets = buffer.suboffsets;
        let indirect = !offsets.is_null() && (0..rank).any(|i| number(offsets, i) >= 0);
        (Shape::new(rank, dimension), indirect)
    };
    if indirect {
        return Err(type_error("x has rows behind pointers: pass a contiguous copy"));
    }
    let mut shape = shape.ok_or_else(|| value("a size of x is negative"))?;
    // Without strides, as ctypes has it, the elements lie one after the other.
    let unit = match buffer.strides.is_null() {
        true => {
            shape = shape.row_major();
            item
        }
        false if shape.in_elements(item) => item,
        false => 1,
    };
    let (data, writable) = (buffer.buf.cast(), buffer.readonly == 0);
    // SAFETY: the exporter's sizes and strides name elements of one piece of memory. It stays, and
    // is not resized, until the buffer, which becomes the owner, is released.
    let mut array = unsafe { Array::new(kind, data, (unit, item), shape, Owner::Buffer(held))? };
    (array.swapped, array.writable) = (swapped, writable);
    Ok(Some(array))
}

/// What the elements are, and whether their bytes are in the order of other machines: the format
/// strings of the module `struct`.
fn kind(format: &[u8], item: usize) -> PyResult<(Kind, bool)> {
    let (order, letters) = match format {
        [order @ (b'@' | b'=' | b'<' | b'>' | b'!'), letters @ ..] => (*order, letters),
        letters => (b'@', letters),
    };
    let kind = match (letters, item) {
        (b"e", 2) => Some(Kind::Float(Format::F16)),
        (b"f", 4) => Some(Kind::Float(Format::F32)),
        (b"d", 8) => Some(Kind::Float(Format::F64)),
        (b"?", 1) => Some(Kind::Bool),
        (b"h" | b"H" | b"i" | b"I" | b"l" | b"L" | b"q" | b"Q" | b"n" | b"N", _) => {
            Some(Kind::Integer)
        }
        (b"" | b"B" | b"b" | b"c", _) => {
            return Err(type_error(
                "x holds raw bytes, which may be anything: say what they are, for example \
                 memoryview(x).cast(\"f\") or numpy.frombuffer(x, dtype)",
            ));
        }
        _ => None,
    };
    let swapped = match order {
        b'<' => cfg!(target_endian = "big"),
        b'>' | b'!' => cfg!(target_endian = "little"),
        _ => false,
    };
    kind.map(|kind| (kind, swapped)).ok_or_else(|| {
        let format = String::from_utf8_lossy(format);
        type_error(format!("x has the buffer format \"{format}\", which has no answers here"))
    })
}
