//! Checks of files.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::{Error, Options, Report};
use nonfinite_cli::inputs::{self, Inputs};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::document::{Checked, Document};
use super::error;
use super::running::{Ending, Watch, no_progress, run};
use super::settings::Settings;

/// Checks files, folders and patterns.
#[pyfunction]
pub(crate) fn check_paths(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Document> {
    let settings = Settings::new(options)?;
    let watch = Watch::new(progress);
    let options = settings.options(watch.clone());
    let checked = run(&watch, progress, Ending::Read, move || {
        check_all(&paths, &options, |path| inputs::check_path(path, &options))
    })?;
    let results = checked.map_err(|(path, error)| error::of_check(py, &error, &path))?;
    Ok(Document::new(results, settings.skip_unknown()))
}

/// Checks the files of all arguments with a function.
///
/// # Errors
/// The path and the error of an argument that leads to no file, or to one that cannot be read.
pub(super) fn check_all(
    arguments: &[PathBuf],
    options: &Options,
    mut check: impl FnMut(&Path) -> Result<Report, Error>,
) -> Result<Vec<Checked>, (PathBuf, Error)> {
    let (mut inputs, mut results, mut refused) = (Inputs::default(), Vec::new(), None);
    for argument in arguments {
        let taken = inputs.check_with(argument, options, &mut check, |path, result| match result {
            Err(error @ (Error::Io(_) | Error::Directory)) if path == argument => {
                refused = Some((path.to_owned(), error));
                Err(io::ErrorKind::Other.into())
            }
            result => {
                results.push((path.to_owned(), result));
                Ok(())
            }
        });
        if let (Err(_), Some(refused)) = (taken, refused.take()) {
            return Err(refused);
        }
    }
    let finished = inputs.finish(|path, result| {
        results.push((path.to_owned(), result));
        Ok(())
    });
    // The closure returns no error.
    debug_assert!(finished.is_ok());
    Ok(results)
}

/// Checks a file, or the file of a URL.
#[pyfunction]
pub(crate) fn check_one(
    py: Python<'_>,
    path: PathBuf,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Document> {
    let settings = Settings::new(options)?;
    let watch = Watch::new(progress);
    let options = settings.options(watch.clone());
    let file = path.clone();
    let work = move || inputs::check_path(&file, &options);
    let report = run(&watch, progress, Ending::Read, work)?;
    let report = report.map_err(|error| error::of_check(py, &error, &path))?;
    Ok(Document::of_one(&path, report, settings.skip_unknown()))
}

/// The files that these arguments lead to. Some may hold no tensors.
#[pyfunction]
pub(crate) fn list_paths(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<OsString>> {
    let watch = Arc::<Watch>::default();
    let options = Settings::new(options)?.options(watch.clone());
    run(&watch, &no_progress(py), Ending::Read, move || {
        // Text for Python: `pathlib.Path` would change `./x` and `s3://x`.
        let found = paths.iter().flat_map(|path| inputs::paths(path, &options));
        found.map(PathBuf::into_os_string).collect()
    })
}
