//! The checker of files, and the command.

use std::ffi::OsString;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_command, module)?)
}

/// Runs the command `nonfinite` with these arguments, of which the first is the name of the
/// program. Returns the exit status.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| nonfinite_cli::command::run(arguments.into_iter()))
}
