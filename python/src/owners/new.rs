//! New arrays of numpy.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::slice;
use std::sync::atomic::Ordering;

use pyo3::ffi;
use pyo3::prelude::*;

use super::numpy::{NDARRAY, TABLE, fields};

/// A new array in row-major order, filled by `write`.
///
/// # Errors
/// Those of numpy, and those of `write`.
///
/// # Panics
/// If numpy is not loaded.
pub(crate) fn filled<'py, T: Item>(
    py: Python<'py>,
    sizes: &[usize],
    write: impl FnOnce(&mut [T]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    type Make = unsafe extern "C" fn(
        *mut ffi::PyTypeObject,
        c_int,
        *const isize,
        c_int,
        *const isize,
        *mut c_void,
        c_int,
        c_int,
        *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    let (table, ndarray) = (TABLE.load(Ordering::Acquire), NDARRAY.load(Ordering::Acquire));
    assert!(!table.is_null(), "numpy is loaded");
    let (null, nothing) = (ptr::null_mut(), ptr::null());
    // SAFETY: entry 93 of the table is `PyArray_New` in versions 1 and 2 of the interface, which
    // `load` has checked. It reads `sizes.len()` sizes, and allocates the memory itself. It returns
    // null with an exception set, or a new reference.
    let array = unsafe {
        let make = std::mem::transmute::<*mut c_void, Make>(*table.add(93));
        let (nd, sizes) = (sizes.len() as c_int, sizes.as_ptr().cast());
        let array = make(ndarray, nd, sizes, T::NUMBER, nothing, null, 0, 0, ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, array)?
    };
    // SAFETY: `PyArray_New` returns an exact array here.
    let (fields, _) = unsafe { fields(&array) };
    let len = sizes.iter().product::<usize>();
    // SAFETY: the array is new, so no other code has a reference to its memory. It has `len`
    // elements of type `T`. They are initialised here if `T` needs it: zero bytes are a value of
    // `bool`, `usize` and `isize`.
    let elements = unsafe {
        if T::NEEDS_VALUE {
            ptr::write_bytes(fields.data.cast::<T>(), 0, len);
        }
        slice::from_raw_parts_mut(fields.data.cast::<T>(), len)
    };
    write(elements)?;
    Ok(array)
}

/// Types of the elements of new arrays.
pub(crate) trait Item: sealed::Sealed {
    /// The number of the type in numpy's `NPY_TYPES`.
    const NUMBER: c_int;
    /// Whether the memory must be initialised before there is a slice of it.
    const NEEDS_VALUE: bool = true;
}

mod sealed {
    use std::mem::MaybeUninit;

    /// Implemented for the types below only, since `new` relies on them.
    pub(crate) trait Sealed {}
    impl Sealed for bool {}
    impl Sealed for usize {}
    impl Sealed for isize {}
    impl Sealed for MaybeUninit<bool> {}
}

impl Item for MaybeUninit<bool> {
    const NUMBER: c_int = 0;
    const NEEDS_VALUE: bool = false;
}

impl Item for bool {
    const NUMBER: c_int = 0;
}

/// `intp`: `long long` on Windows, elsewhere `long`. No count is negative.
impl Item for usize {
    const NUMBER: c_int = if cfg!(windows) { 9 } else { 7 };
}

/// `intp`.
impl Item for isize {
    const NUMBER: c_int = usize::NUMBER;
}
