//! Copies of files with other numbers in the place of NaN and infinity.

use std::io;
use std::path::PathBuf;

use nonfinite_check::ByKind;
use nonfinite_check::fix::{FixOptions, Fixed, FixedTensor, fix_file, fix_to};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error;
use super::running::{Ending, Watch, run};
use super::settings::{list, parsed};

/// The name, the dtype and the shape of a tensor, and how many numbers of each kind were replaced.
type Replaced = (Option<String>, String, Vec<usize>, (usize, usize, usize));

/// Writes a copy of a file. Without an output, writes nothing. Returns the format and the tensors.
#[pyfunction]
pub(crate) fn fix_one(
    py: Python<'_>,
    input: PathBuf,
    output: Option<PathBuf>,
    values: (String, String, String),
    options: &Bound<'_, PyDict>,
    force: bool,
    progress: &Bound<'_, PyAny>,
) -> PyResult<(&'static str, Vec<Replaced>)> {
    let watch = Watch::new(progress);
    let (nan, posinf, neginf) = values;
    let options = FixOptions {
        values: ByKind {
            nan: parsed(&nan, "nan")?,
            pos_inf: parsed(&posinf, "posinf")?,
            neg_inf: parsed(&neginf, "neginf")?,
        },
        allow: list(options, "allow")?,
        taken_as: list(options, "as_")?,
        force,
        observer: Some(watch.clone()),
    };
    let (from, to) = (input.clone(), output.clone());
    let fixed = run(&watch, progress, Ending::CleanUp, move || match to {
        Some(to) => fix_file(&from, &to, &options),
        None => fix_to(&from, io::sink(), &options),
    })?;
    let output = output.unwrap_or_default();
    let fixed = fixed.map_err(|error| error::of_fix(py, &error, &input, &output))?;
    let Fixed { format, tensors } = fixed;
    let replaced = |FixedTensor { name, dtype, shape, replaced }| {
        let ByKind { nan, pos_inf, neg_inf } = replaced;
        (name, dtype, shape, (nan, pos_inf, neg_inf))
    };
    Ok((format.name(), tensors.into_iter().map(replaced).collect()))
}
