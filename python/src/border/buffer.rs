//! Objects with the buffer protocol: `array.array`, `memoryview`, ctypes.

use nonfinite::Format;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::ffi;
use pyo3::prelude::*;

use super::{Array, Kind, Owner, Shape};
use crate::arrays::error::{type_error, value};

/// An object with the buffer protocol. `None` if it has none.
///
/// # Errors
/// TypeError for raw bytes and for elements that are neither numbers nor bool.
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    // SAFETY: `x` is alive. The function only looks at its type.
    if unsafe { ffi::PyObject_CheckBuffer(x.as_ptr()) } == 0 {
        return Ok(None);
    }
    let buffer = PyUntypedBuffer::get(x)?;
    if buffer.suboffsets().is_some_and(|all| all.iter().any(|&offset| offset >= 0)) {
        return Err(type_error("x has rows behind pointers: pass a contiguous copy"));
    }
    let (kind, swapped) = kind(buffer.format().to_bytes(), buffer.item_size())?;
    let item = buffer.item_size();
    let (sizes, strides) = (buffer.shape(), buffer.strides());
    let shape = Shape::new(sizes.len(), |i| (sizes[i].cast_signed(), strides[i]));
    let mut shape = shape.ok_or_else(|| value("a size of x is negative"))?;
    let unit = if shape.in_elements(item) { item } else { 1 };
    let (data, writable) = (buffer.buf_ptr().cast(), !buffer.readonly());
    // SAFETY: the exporter's sizes and strides name elements of one piece of memory. It stays, and
    // is not resized, until the buffer, which becomes the owner, is released.
    let mut array = unsafe { Array::new(kind, data, (unit, item), shape, Owner::Buffer(buffer))? };
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
