//! The checker of files, the pieces of a cluster, and the command.
//!
//! Documents, plans, pieces and tallies pass the border to Python as JSON, in the form of the
//! checker. The Python modules `report` and `cluster` read it.

mod check;
mod cluster;
mod command;
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
    module.add_function(wrap_pyfunction!(check::list_paths, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::plan_file, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::look_at_pieces, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::add_tallies, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::merge_file, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::merge_paths, module)?)
}
