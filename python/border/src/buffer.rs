//! Buffers of Python (PEP 3118).

use std::ffi::{CStr, c_char};

use nonfinite::Format;

use crate::{Array, Error, Kind, Shape, at, kind, layout, rank};

/// What the fields of `Py_buffer` say, under their names there.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of Py_buffer")]
pub struct Buffer {
    pub buf: *mut u8,
    pub len: isize,
    pub itemsize: isize,
    pub readonly: bool,
    pub ndim: i32,
    pub format: *const c_char,
    pub shape: *const isize,
    pub strides: *const isize,
    pub suboffsets: *const isize,
}

impl Buffer {
    /// The array that the buffer describes.
    ///
    /// # Errors
    /// [`Error::Kind`] for raw bytes, for elements that are neither numbers nor bool, and for rows
    /// behind pointers. [`Error::Layout`] for a description that contradicts itself.
    ///
    /// # Safety
    /// An exporter has filled the fields: `format` is null or a string, pointers that are not null
    /// point to `ndim` numbers, and `buf` to memory with all elements if their addresses do not
    /// overflow. `owner` keeps the memory alive, which may be written to unless `readonly` is set.
    pub unsafe fn array<O>(&self, owner: O) -> Result<Array<O>, Error> {
        let rank = rank(self.ndim, self.shape)?;
        let item = usize::try_from(self.itemsize).ok().filter(|&item| item > 0);
        let item = item.ok_or_else(|| kind("x has elements without a size"))?;
        let format = match self.format.is_null() {
            true => c"B",
            // SAFETY: a format that is not null is a string.
            false => unsafe { CStr::from_ptr(self.format) },
        };
        let (kind, swapped) = kind_of(format.to_bytes(), item)?;
        // SAFETY: pointers that are not null point to `ndim` numbers, and `rank` has refused a
        // `shape` that is null.
        let dimension = |i| unsafe {
            match self.strides.is_null() {
                true => (at(self.shape, i), 1),
                false => (at(self.shape, i), at(self.strides, i)),
            }
        };
        let mut shape = Shape::new(rank, dimension)?;
        // SAFETY: as above.
        let indirect = |i| unsafe { at(self.suboffsets, i) >= 0 };
        if !self.suboffsets.is_null() && (0..rank).any(indirect) {
            return Err(crate::kind("x has rows behind pointers: pass a contiguous copy"));
        }
        // The bytes of all elements without gaps, whatever the strides are.
        let bytes =
            shape.elements().checked_mul(item).and_then(|bytes| isize::try_from(bytes).ok());
        if bytes != Some(self.len) {
            let len = self.len;
            return Err(layout(format!(
                "x has a buffer of {len} bytes, which its sizes do not fill"
            )));
        }
        // Without strides, as ctypes has it, the elements lie one after the other.
        let unit = match self.strides.is_null() {
            true => {
                shape = shape.row_major();
                item
            }
            false if shape.in_elements(item) => item,
            false => 1,
        };
        // SAFETY: by the contract of this function.
        let mut array =
            unsafe { Array::new(kind, self.buf, (unit, item), shape, !self.readonly, owner)? };
        array.swapped = swapped;
        Ok(array)
    }
}

/// What the elements are, and whether their bytes are in the order of other machines: the format
/// strings of the module `struct`.
fn kind_of(format: &[u8], item: usize) -> Result<(Kind, bool), Error> {
    let (order, letters) = match format {
        [order @ (b'@' | b'=' | b'<' | b'>' | b'!'), letters @ ..] => (*order, letters),
        letters => (b'@', letters),
    };
    let known = match (letters, item) {
        (b"e", 2) => Some(Kind::Float(Format::F16)),
        (b"f", 4) => Some(Kind::Float(Format::F32)),
        (b"d", 8) => Some(Kind::Float(Format::F64)),
        (b"?", 1) => Some(Kind::Bool),
        (b"h" | b"H" | b"i" | b"I" | b"l" | b"L" | b"q" | b"Q" | b"n" | b"N", _) => {
            Some(Kind::Integer)
        }
        (b"" | b"B" | b"b" | b"c", _) => {
            return Err(kind(
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
    known.map(|known| (known, swapped)).ok_or_else(|| {
        let format = String::from_utf8_lossy(format);
        kind(format!("x has the buffer format \"{format}\", which has no answers here"))
    })
}
