//! Tensors by the method `__dlpack__`, which returns a capsule that owns the tensor (dlpack.h of
//! DLPack 1.3, and DLPack's specification for Python).

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use super::dlpack::{Tensor, Version, check_device, explain};
use super::{Array, Owner};
use crate::arrays::error::{type_error, value};

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    version: Version,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

/// `DLManagedTensor`, of DLPack before 1.0.
#[repr(C)]
struct Unversioned {
    tensor: Tensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Unversioned)>,
}

/// Flags of tensors that must not be written to: those with `DLPACK_FLAG_BITMASK_READ_ONLY`, and
/// those with `DLPACK_FLAG_BITMASK_IS_COPIED`, since results in a copy would be lost.
const NOT_WRITABLE: u64 = 1 | 2;

/// A tensor that this process owns until it is dropped.
pub(crate) enum Managed {
    Versioned(NonNull<c_void>),
    Unversioned(NonNull<c_void>),
}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: only `take` makes this value. The pointer came from a capsule of this kind, which
        // was renamed, so the tensor is ours and its deleter runs once. Version 1 and all others
        // have the deleter at the same place. The thread holds the GIL: an `Array` has pointers, so
        // it is not `Send`, and it is not dropped inside of `Python::detach`.
        unsafe {
            match self {
                Self::Versioned(tensor) => {
                    let tensor = tensor.cast::<Versioned>();
                    if let Some(delete) = tensor.as_ref().deleter {
                        delete(tensor.as_ptr());
                    }
                }
                Self::Unversioned(tensor) => {
                    let tensor = tensor.cast::<Unversioned>();
                    if let Some(delete) = tensor.as_ref().deleter {
                        delete(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

/// An object with the method `__dlpack__`. `None` if it has none.
///
/// # Errors
/// As [`read_known`].
pub(crate) fn read_by_method<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let py = x.py();
    let Some(method) = x.getattr_opt(intern!(py, "__dlpack__"))? else { return Ok(None) };
    if let Some(device) = x.getattr_opt(intern!(py, "__dlpack_device__"))? {
        let pair = device.call0().map_err(explain)?.extract();
        let (kind, id): (i32, i32) =
            pair.map_err(|_| type_error("x.__dlpack_device__() is no pair of numbers"))?;
        check_device(kind, id)?;
    }
    let arguments = PyDict::new(py);
    arguments.set_item("max_version", (1, 3))?;
    let capsule = match method.call((), Some(&arguments)) {
        // Before DLPack 1.0 the method has no such argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call0(),
        result => result,
    };
    let capsule = capsule.map_err(explain)?;
    let capsule = capsule.cast_into::<PyCapsule>();
    take(&capsule.map_err(|_| type_error("x.__dlpack__() is no capsule"))?).map(Some)
}

/// The tensor of the capsule, which becomes ours.
fn take<'py>(capsule: &Bound<'py, PyCapsule>) -> PyResult<Array<'py>> {
    let rename = |name: &'static CStr| {
        // SAFETY: the capsule is alive, and the name is a constant. By DLPack's protocol a capsule
        // with this name does not free its tensor any more.
        match unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    };
    if let Ok(tensor) = capsule.pointer_checked(Some(c"dltensor_versioned")) {
        rename(c"used_dltensor_versioned")?;
        let owner = Owner::Tensor(Managed::Versioned(tensor.cast()));
        // SAFETY: a capsule of this name holds this structure, which is ours now.
        let managed = unsafe { tensor.cast::<Versioned>().as_ref() };
        if managed.version.major != 1 {
            return Err(value("x has a version of DLPack that is unknown to nonfinite"));
        }
        // Copied, since an error frees the structure.
        let (writable, tensor) = (managed.flags & NOT_WRITABLE == 0, managed.tensor);
        // SAFETY: the producer described the tensor, which the owner keeps alive.
        let mut array = unsafe { tensor.array(owner)? };
        array.writable = writable;
        return Ok(array);
    }
    let tensor = capsule.pointer_checked(Some(c"dltensor"))?;
    rename(c"used_dltensor")?;
    let owner = Owner::Tensor(Managed::Unversioned(tensor.cast()));
    // SAFETY: a capsule of this name holds this structure, which is ours now. The tensor is copied,
    // since an error frees the structure.
    let tensor = unsafe { tensor.cast::<Unversioned>().as_ref().tensor };
    // DLPack before 1.0 has no flag for read-only memory, so this memory is not written to.
    // SAFETY: the producer described the tensor, which the owner keeps alive.
    unsafe { tensor.array(owner) }
}
