//! Arrays of Arrow, by `__arrow_c_array__` (Arrow C data interface, and its PyCapsule interface).

use std::ffi::{CStr, c_char, c_void};

use nonfinite::Format;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::{Array, Kind, Owner, Shape};
use crate::arrays::error::{type_error, value};

/// The beginning of `ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// An object with the method `__arrow_c_array__`. `None` if it has none.
///
/// # Errors
/// TypeError for chunked arrays, and for elements that are neither numbers nor bool.
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let py = x.py();
    let Some(method) = x.getattr_opt(intern!(py, "__arrow_c_array__"))? else {
        return read_column(x);
    };
    let capsules = method.call0()?.cast_into::<PyTuple>()?;
    let pointer = |index, name: &'static CStr| {
        let capsule = capsules.get_item(index)?.cast_into::<PyCapsule>()?;
        capsule.pointer_checked(Some(name))
    };
    let (schema, array) = (pointer(0, c"arrow_schema")?, pointer(1, c"arrow_array")?);
    // SAFETY: capsules with these names hold these structures (Arrow PyCapsule interface). The
    // tuple, which lives as long as this function and the result, keeps the capsules alive. Only a
    // consumer moves the content out of a capsule, and this function, the only consumer, does not.
    let (format, array) = unsafe {
        let schema = schema.cast::<Schema>().as_ref();
        (CStr::from_ptr(schema.format), array.cast::<ArrowArray>().as_ref())
    };
    let (kind, item) = kind(format, array)?;
    let count = |number: i64| usize::try_from(number).map_err(|_| value("x has a negative length"));
    let (len, offset, buffers) =
        (count(array.length)?, count(array.offset)?, count(array.n_buffers)?);
    if buffers != 2 {
        return Err(value("x has not the two buffers of an array of numbers"));
    }
    // SAFETY: `n_buffers` pointers lie at `buffers`.
    let (bitmap, data) = unsafe { (*array.buffers, *array.buffers.add(1)) };
    let data = data.cast::<u8>().cast_mut();
    let data = if data.is_null() { data } else { data.wrapping_add(offset * item) };
    let owner = Owner::Object(capsules.clone().into_any());
    // SAFETY: the second buffer holds `offset + length` elements (Arrow columnar format, "Primitive
    // layout"). Of integers, `view` reads none. The capsules keep the buffers alive.
    let mut result = unsafe { Array::new(kind, data, (item, item), Shape::flat(len), owner)? };
    if !bitmap.is_null() && array.null_count != 0 && len != 0 {
        // The first buffer is the bitmap, with one bit for each of `offset + length` elements.
        result.validity = Some((bitmap.cast(), offset));
    }
    Ok(Some(result))
}

/// A column with the method `__arrow_c_stream__`. `None` if `x` has no such method, and for a
/// Series or a DataFrame of pandas, which numpy makes an array of.
fn read_column<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let py = x.py();
    if !x.hasattr(intern!(py, "__arrow_c_stream__"))? {
        return Ok(None);
    }
    // A Series of Polars becomes one array of pyarrow.
    if let Some(to_arrow) = x.getattr_opt(intern!(py, "to_arrow"))? {
        let array = to_arrow.call0()?;
        if array.hasattr(intern!(py, "__arrow_c_array__"))? {
            return read(&array);
        }
    } else if !x.hasattr(intern!(py, "combine_chunks"))?
        && x.hasattr(intern!(py, "__array__"))?
        && x.hasattr(intern!(py, "iloc"))?
    {
        return Ok(None);
    }
    Err(type_error(
        "x is a table, or a column of several chunks: ask about one column, and about each of \
         x.chunks or about x.combine_chunks()",
    ))
}

/// What the elements are: the format strings of the C data interface.
fn kind(format: &CStr, array: &ArrowArray) -> PyResult<(Kind, usize)> {
    let kind = match format.to_bytes() {
        _ if !array.dictionary.is_null() => None,
        b"e" => Some((Kind::Float(Format::F16), 2)),
        b"f" => Some((Kind::Float(Format::F32), 4)),
        b"g" => Some((Kind::Float(Format::F64), 8)),
        // One bit each. No bit is read.
        b"b" => Some((Kind::Integer, 0)),
        b"c" | b"C" => Some((Kind::Integer, 1)),
        b"s" | b"S" => Some((Kind::Integer, 2)),
        b"i" | b"I" => Some((Kind::Integer, 4)),
        b"l" | b"L" => Some((Kind::Integer, 8)),
        _ => None,
    };
    kind.ok_or_else(|| {
        let format = format.to_string_lossy();
        type_error(format!(
            "x has the Arrow format \"{format}\", which has no answers here: pass an array of \
             floating-point numbers, such as a field of a struct or the values of a list"
        ))
    })
}
