//! Arrays of Arrow by the C data interface.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::read_unaligned;

use nonfinite::Format;

use crate::{Array, Error, Kind, Shape, at, kind, layout};

/// `ArrowSchema`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of the C data interface")]
pub struct Schema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut Schema,
    pub dictionary: *mut Schema,
    pub release: Option<unsafe extern "C" fn(*mut Schema)>,
    pub private_data: *mut c_void,
}

/// `ArrowArray`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of the C data interface")]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *const *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// The array that these structures describe.
///
/// # Errors
/// [`Error::Kind`] for elements that are neither numbers nor bool, and [`Error::Layout`] for
/// structures that were released, or contradict themselves.
///
/// # Safety
/// Such structures lie there. If they were not released, `format` is null or a string, and
/// `n_buffers` pointers lie at `buffers` if that is not null. The first buffer, if not null, has a
/// bit for each of `offset + length` elements, and the second one has as many elements, provided
/// that their addresses do not overflow. `owner` keeps them alive.
pub unsafe fn array<O>(
    schema: *const Schema,
    array: *const ArrowArray,
    owner: O,
) -> Result<Array<O>, Error> {
    // SAFETY: by the contract of this function.
    let (schema, array) = unsafe { (read_unaligned(schema), read_unaligned(array)) };
    if schema.release.is_none() || array.release.is_none() || schema.format.is_null() {
        return Err(layout("x has given its memory to somebody else: its structures are released"));
    }
    // SAFETY: by the contract of this function.
    let format = unsafe { CStr::from_ptr(schema.format) };
    let dictionary = !array.dictionary.is_null() || !schema.dictionary.is_null();
    let (kind, item) = kind_of(format, dictionary)?;
    let (Ok(len), Ok(offset)) = (usize::try_from(array.length), usize::try_from(array.offset))
    else {
        return Err(layout("x has a negative length"));
    };
    if array.n_buffers != 2 || array.buffers.is_null() {
        return Err(layout("x has not the two buffers of an array of numbers"));
    }
    // SAFETY: two pointers lie at `buffers`.
    let (bitmap, data) = unsafe { (at(array.buffers, 0), at(array.buffers, 1)) };
    // -1: the producer has not counted.
    let wrong = array.null_count < -1
        || array.null_count > array.length
        || array.null_count > 0 && bitmap.is_null();
    if wrong {
        let text = format!("x claims {} nulls, which its bitmap cannot have", array.null_count);
        return Err(layout(text));
    }
    let data = data.cast::<u8>().cast_mut();
    let start = offset.checked_mul(item).filter(|&start| data.addr().checked_add(start).is_some());
    let start = start.ok_or_else(|| layout("the offset of x leads out of memory"))?;
    let data = if data.is_null() { data } else { data.wrapping_add(start) };
    // SAFETY: by the contract of this function (Arrow columnar format, "Primitive layout"). Of
    // integers, `view` reads none.
    let result = unsafe { Array::new(kind, data, (item, item), Shape::flat(len), false, owner)? };
    if bitmap.is_null() || array.null_count == 0 || len == 0 {
        return Ok(result);
    }
    // SAFETY: by the contract of this function.
    unsafe { result.with_validity(bitmap.cast(), offset) }
}

/// What the elements are, and the bytes of one: the format strings of the C data interface.
fn kind_of(format: &CStr, dictionary: bool) -> Result<(Kind, usize), Error> {
    let known = match format.to_bytes() {
        _ if dictionary => None,
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
    known.ok_or_else(|| {
        let format = format.to_string_lossy();
        kind(format!(
            "x has the Arrow format \"{format}\", which has no answers here: pass an array of \
             floating-point numbers, such as a field of a struct or the values of a list"
        ))
    })
}
