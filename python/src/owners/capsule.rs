//! Tensors by the method `__dlpack__`, which returns a capsule that owns the tensor (dlpack.h of
//! DLPack 1.3, and DLPack's specification for Python).

use std::ffi::CStr;

use nonfinite_border::dlpack::check_device;
use nonfinite_border::managed::Managed;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use super::dlpack::explain;
use super::{Array, Owner};
use crate::error::{of_border, type_error};

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
        check_device(kind, id).map_err(of_border)?;
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
    let managed = if let Ok(tensor) = capsule.pointer_checked(Some(c"dltensor_versioned")) {
        rename(c"used_dltensor_versioned")?;
        // SAFETY: a capsule of this name holds this structure. It is ours, since the capsule is
        // renamed. `Owner` drops it, in a thread that holds the GIL.
        unsafe { Managed::versioned(tensor.cast()) }
    } else {
        let tensor = capsule.pointer_checked(Some(c"dltensor"))?;
        rename(c"used_dltensor")?;
        // SAFETY: as above.
        unsafe { Managed::unversioned(tensor.cast()) }
    };
    // SAFETY: the producer described the tensor, which the owner keeps alive.
    unsafe { managed.array(Owner::Tensor) }.map_err(of_border)
}
