//! The checker of files, and the command.
//!
//! Documents pass the border to Python as JSON, in the form of the checker. The Python module
//! `report` reads it.

mod check;
mod command;
mod distributed;
mod document;
mod error;
mod running;
mod settings;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<document::Document>()?;
    module.add_function(wrap_pyfunction!(command::run_command, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_paths, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_one, module)?)?;
    module.add_function(wrap_pyfunction!(check::lint_paths, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::list_files, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::tally_file, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::merge_paths, module)?)
}
