//! The native module of the Python package `nonfinite`.

mod arrays;
#[allow(unsafe_code, reason = "reads the structures of other owners")]
mod border;
mod error;
mod files;

use pyo3::prelude::*;

/// The native part of the package `nonfinite`.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    arrays::register(module)?;
    files::register(module)
}
