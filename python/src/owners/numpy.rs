//! Arrays of numpy, by the fields of `PyArrayObject`.
//!
//! The fields read here lie at the same place in numpy 1 and 2 (numpy/ndarraytypes.h:
//! `PyArrayObject_fields`, `PyArray_Descr`, `PyArray_DescrProto`). Importing this package does not
//! import numpy. Before a program imports numpy, no object is an array of numpy.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use nonfinite::Format;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};

use super::{Array, Kind, Owner, Shape};
use crate::error::{of_border, type_error};

#[repr(C)]
pub(super) struct ArrayObject {
    head: ffi::PyObject,
    pub(super) data: *mut u8,
    nd: c_int,
    dimensions: *const isize,
    strides: *const isize,
    base: *mut ffi::PyObject,
    descr: *const Descr,
    flags: c_int,
}

/// The type of the elements.
#[repr(C)]
pub(super) struct Descr {
    head: ffi::PyObject,
    typeobj: *mut ffi::PyTypeObject,
    kind: c_char,
    letter: c_char,
    byteorder: c_char,
    flags: c_char,
    type_num: c_int,
}

// Where `PyObject` has no known size, all places above are wrong.
const _: () = assert!(size_of::<ffi::PyObject>() >= 2 * size_of::<usize>());
// The number of `intp` in `NPY_TYPES` is that of a 64-bit machine.
const _: () = assert!(size_of::<usize>() == 8, "the wheel is for 64-bit machines");

const C_CONTIGUOUS: c_int = 0x1;
const WRITEABLE: c_int = 0x400;
/// Types behind this number are registered at run time: `NPY_USERDEF`.
const USER: c_int = 256;
/// The byte order that is not that of this machine.
const OTHER_ORDER: c_char = if cfg!(target_endian = "little") { b'>' } else { b'<' } as c_char;

/// `numpy.ndarray`, or null as long as numpy is not imported. Never freed.
pub(super) static NDARRAY: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());
/// The table of numpy's C API, written before `NDARRAY`.
pub(super) static TABLE: AtomicPtr<*mut c_void> = AtomicPtr::new(ptr::null_mut());

/// Types registered at run time, by their number from `USER` on: 0 is unknown, `INTEGER` an
/// integer, and n + 1 the format with number n. A number is given once in a process.
static USER_TYPES: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];
const INTEGER: u8 = u8::MAX;

/// The names of numpy's C module, in numpy 2 and in numpy 1.
const MODULES: [&str; 2] = ["numpy._core._multiarray_umath", "numpy.core._multiarray_umath"];

/// Whether numpy is imported. Imports numpy if `import` is set and numpy is installed.
///
/// # Errors
/// ImportError if numpy's binary interface is newer than those known here.
pub(crate) fn load(py: Python<'_>, import: bool) -> PyResult<bool> {
    if !NDARRAY.load(Ordering::Acquire).is_null() {
        return Ok(true);
    }
    if import && py.import("numpy").is_err() {
        return Ok(false);
    }
    let modules = py.import("sys")?.getattr("modules")?;
    let found = MODULES.iter().find_map(|name| modules.get_item(name).ok());
    let Some(api) = found.and_then(|module| module.getattr("_ARRAY_API").ok()) else {
        return Ok(false);
    };
    let api = api.cast_into::<PyCapsule>()?;
    let table = api.pointer_checked(None)?.cast::<*mut c_void>();
    // SAFETY: `_ARRAY_API` is the table of numpy's C API (numpy/__multiarray_api.h), which lives as
    // long as the process. Entry 0 is `PyArray_GetNDArrayCVersion`, in all versions.
    let version = unsafe {
        let function = *table.as_ptr();
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_uint>(function)()
    };
    if !matches!(version >> 24, 1 | 2) {
        let message = format!("numpy's binary interface {version:#x} is unknown to nonfinite");
        return Err(PyImportError::new_err(message));
    }
    // SAFETY: entry 2 is `PyArray_Type` in versions 1 and 2, a static type.
    let ndarray = unsafe { *table.as_ptr().add(2) };
    TABLE.store(table.as_ptr(), Ordering::Release);
    NDARRAY.store(ndarray.cast(), Ordering::Release);
    Ok(true)
}

/// Whether the type of `x` is `numpy.ndarray`, and no subclass.
#[inline]
pub(crate) fn is_exact(x: &Bound<'_, PyAny>) -> bool {
    x.get_type_ptr() == NDARRAY.load(Ordering::Acquire)
}

/// `numpy.ndarray`, if numpy is imported.
pub(crate) fn ndarray(py: Python<'_>) -> PyResult<Option<Bound<'_, PyType>>> {
    if !load(py, false)? {
        return Ok(None);
    }
    let ndarray = NDARRAY.load(Ordering::Acquire).cast::<ffi::PyObject>();
    // SAFETY: `load` has returned true, so the pointer is the type object `PyArray_Type`.
    let ndarray = unsafe { Bound::from_borrowed_ptr(py, ndarray) };
    Ok(Some(ndarray.cast_into::<PyType>()?))
}

/// The fields of an array.
///
/// # Safety
/// `x` is an instance of `numpy.ndarray` or of a subclass.
#[inline]
pub(super) unsafe fn fields<'a>(x: &'a Bound<'_, PyAny>) -> (&'a ArrayObject, &'a Descr) {
    // SAFETY: an instance begins with these fields, and its `descr` is never null.
    unsafe {
        let array = &*x.as_ptr().cast::<ArrayObject>();
        (array, &*array.descr)
    }
}

impl ArrayObject {
    /// The sizes of the dimensions.
    #[inline]
    fn sizes(&self) -> &[usize] {
        match self.nd {
            0 => &[],
            // SAFETY: numpy keeps `nd` sizes, none of them negative, at `dimensions`.
            nd => unsafe { slice::from_raw_parts(self.dimensions.cast(), nd as usize) },
        }
    }

    /// The strides of the dimensions in bytes.
    #[inline]
    fn strides(&self) -> &[isize] {
        match self.nd {
            0 => &[],
            // SAFETY: numpy keeps `nd` strides at `strides`.
            nd => unsafe { slice::from_raw_parts(self.strides, nd as usize) },
        }
    }
}

/// The format of a type of numpy or of ml_dtypes that was met before.
#[inline]
fn known(descr: &Descr) -> Option<Format> {
    match descr.type_num {
        11 => Some(Format::F32),
        12 => Some(Format::F64),
        23 => Some(Format::F16),
        number => {
            let code = user_type(number)?.load(Ordering::Relaxed);
            (code != INTEGER).then_some(())?;
            Format::ALL.get(usize::from(code).wrapping_sub(1)).copied()
        }
    }
}

#[inline]
fn user_type(number: c_int) -> Option<&'static AtomicU8> {
    USER_TYPES.get(usize::try_from(number - USER).ok()?)
}

/// The elements of an exact array that lie one after the other. `None` for everything else, which
/// [`read`] may know.
#[inline]
pub(super) fn flat<'a>(x: &'a Bound<'_, PyAny>) -> Option<(&'a [u8], Format)> {
    if !is_exact(x) {
        return None;
    }
    // SAFETY: `is_exact` has returned true.
    let (array, descr) = unsafe { fields(x) };
    let format = known(descr)?;
    if array.flags & C_CONTIGUOUS == 0 || descr.byteorder == OTHER_ORDER {
        return None;
    }
    let len = array.sizes().iter().product::<usize>() * format.size_in_bytes();
    // SAFETY: the elements of a contiguous array lie one after the other from `data` on, which is
    // not null. The array, which is borrowed, keeps them alive.
    Some((unsafe { slice::from_raw_parts(array.data, len) }, format))
}

/// An instance of `numpy.ndarray` or of a subclass.
///
/// # Errors
/// TypeError if the elements are no numbers, or numbers that have no [`Kind`].
///
/// # Safety
/// `x` is an instance of `numpy.ndarray` or of a subclass.
unsafe fn read_fields<'py>(x: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    // SAFETY: by the contract of this function.
    let (array, descr) = unsafe { fields(x) };
    let (kind, item) = kind(x, descr)?;
    let (sizes, strides) = (array.sizes(), array.strides());
    let shape = Shape::new(sizes.len(), |i| (sizes[i].cast_signed(), strides[i]));
    let mut shape = shape.map_err(of_border)?;
    let unit = if shape.in_elements(item) { item } else { 1 };
    let (writable, owner) = (array.flags & WRITEABLE != 0, Owner::Object(x.clone()));
    // SAFETY: numpy's sizes and strides name elements of one allocation. The owner, a reference to
    // the array, keeps it alive. An integer has at least `item` bytes.
    let result = unsafe { Array::new(kind, array.data, (unit, item), shape, writable, owner) };
    let mut result = result.map_err(of_border)?;
    result.swapped = descr.byteorder == OTHER_ORDER;
    Ok(result)
}

/// An array of numpy. `None` if `x` is none.
///
/// # Errors
/// TypeError for masked arrays, and for elements that are no real numbers of a known format.
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    if is_exact(x) {
        // SAFETY: `is_exact` has returned true.
        return unsafe { read_fields(x) }.map(Some);
    }
    let Some(ndarray) = ndarray(x.py())? else { return Ok(None) };
    // The type decides: `isinstance` also believes an attribute `__class__`.
    if !x.get_type().is_subclass(&ndarray)? {
        return Ok(None);
    }
    // By its attributes, since `numpy.ma` may not be imported.
    if x.hasattr("_sharedmask")? && x.hasattr("filled")? {
        return Err(type_error(
            "x is a masked array: pass x.compressed() to leave the masked elements out, or x.data \
             to look at them too",
        ));
    }
    // SAFETY: the type of `x` is a subclass of `numpy.ndarray`.
    unsafe { read_fields(x) }.map(Some)
}

/// What the elements are, and the bytes of one. For integers, which are not read, always 1 byte.
fn kind(x: &Bound<'_, PyAny>, descr: &Descr) -> PyResult<(Kind, usize)> {
    if let Some(format) = known(descr) {
        return Ok((Kind::Float(format), format.size_in_bytes()));
    }
    match descr.type_num {
        0 => return Ok((Kind::Bool, 1)),
        1..=10 => return Ok((Kind::Integer, 1)),
        _ => {}
    }
    let dtype = x.getattr("dtype")?;
    let advice = match descr.type_num {
        13 => "pass x.astype(\"float64\"), which overflows above 1.8e308",
        14 | 15 => "pass x.view(x.real.dtype) to ask about real and imaginary parts",
        16 => "pass x.real and x.imag as float64",
        17 => "pass x.astype(\"float64\") if the objects are numbers",
        20 => "pass one field of the record, such as x[\"name\"]",
        21 | 22 => "ask for NaT with numpy.isnat",
        number if number >= USER => return user_kind(&dtype, number),
        _ => "pass an array of floating-point numbers",
    };
    Err(type_error(format!("x has the dtype {dtype}, which has no answers here: {advice}")))
}

/// What the elements of a type registered at run time are: one of ml_dtypes.
fn user_kind(dtype: &Bound<'_, PyAny>, number: c_int) -> PyResult<(Kind, usize)> {
    let py = dtype.py();
    let class = dtype.getattr("type")?;
    let name: String = class.getattr("__name__")?.extract()?;
    let modules = py.import("sys")?.getattr("modules")?;
    let own = modules.get_item("ml_dtypes").and_then(|module| module.getattr(name.as_str()));
    let found = own.is_ok_and(|own| own.is(&class)).then(|| match name.parse::<Format>() {
        Ok(format) => Some((Kind::Float(format), format.size_in_bytes(), format as u8 + 1)),
        Err(_) if name.starts_with("int") || name.starts_with("uint") => {
            Some((Kind::Integer, 1, INTEGER))
        }
        Err(_) => None,
    });
    let Some((kind, item, code)) = found.flatten() else {
        return Err(type_error(format!("x has the dtype {dtype}, which is unknown to nonfinite")));
    };
    if let Some(known) = user_type(number) {
        known.store(code, Ordering::Relaxed);
    }
    Ok((kind, item))
}
