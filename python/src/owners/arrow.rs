//! Arrays of Arrow, by `__arrow_c_array__` (Arrow C data interface, and its PyCapsule interface).

use std::ffi::CStr;

use nonfinite_border::arrow;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::{Array, Owner};
use crate::error::of_border;

/// An object with the method `__arrow_c_array__`. `None` if it has none.
///
/// # Errors
/// TypeError for elements that are neither numbers nor bool.
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let py = x.py();
    let Some(method) = x.getattr_opt(intern!(py, "__arrow_c_array__"))? else { return Ok(None) };
    let capsules = method.call0()?.cast_into::<PyTuple>()?;
    let pointer = |index, name: &'static CStr| {
        let capsule = capsules.get_item(index)?.cast_into::<PyCapsule>()?;
        capsule.pointer_checked(Some(name))
    };
    let (schema, array) = (pointer(0, c"arrow_schema")?, pointer(1, c"arrow_array")?);
    let owner = Owner::Object(capsules.clone().into_any());
    // SAFETY: capsules with these names hold these structures (Arrow PyCapsule interface). The
    // tuple, which becomes the owner, keeps the capsules alive, and with them the buffers. Only a
    // consumer moves the content out of a capsule, and this function, the only consumer, does not.
    unsafe { arrow::array(schema.cast().as_ptr(), array.cast().as_ptr(), owner) }
        .map(Some)
        .map_err(of_border)
}
