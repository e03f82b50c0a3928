//! The native module of the Python package `nonfinite`.

mod arrays;
mod error;
mod files;
#[allow(unsafe_code, reason = "reads the structures of other owners")]
mod owners;

use pyo3::prelude::*;

/// The native part of the package `nonfinite`.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    arrays::register(module)?;
    files::register(module)
}
