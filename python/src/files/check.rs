//! Checks of files.

use std::io;
use std::path::{Path, PathBuf};

use nonfinite_check::lint::Linter;
use nonfinite_check::{Error, Options, Report};
use nonfinite_report::inputs::{self, Inputs};
use nonfinite_report::linted::Linted;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::document::{AllChecked, Document};
use super::error;
use super::running::{Watch, run};
use super::settings::{self, Settings};

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
    let checked = run(&watch, progress, move || {
        check_all(&paths, &options, |path| inputs::check_path(path, &options))
    })?;
    let checked = checked.map_err(|(path, error)| error::of_check(py, &error, &path))?;
    Ok(Document::new(checked, settings.strict))
}

/// Applies the rules of lint to the models in files, folders and patterns.
#[pyfunction]
pub(crate) fn lint_paths(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Document> {
    let (allow, least) = settings::listed(options)?;
    let settings = Settings::of_lint(options)?;
    let watch = Watch::new(progress);
    let options = settings.options(watch.clone());
    let linted = run(&watch, progress, move || {
        let mut linter = Linter::new(options.clone());
        let (files, no_format) = check_all(&paths, &options, |path| linter.check(path))?;
        let linted = Linted::new(linter.findings(), &allow, least, files, no_format);
        let status = linted.summary.status(settings.strict);
        Ok(Document::of_texts(linted.json(), linted.page(), status))
    })?;
    linted.map_err(|(path, error)| error::of_check(py, &error, &path))
}

/// Checks the files of all arguments with a function.
///
/// # Errors
/// The path and the error of an argument that leads to no file, or to one that cannot be read.
pub(super) fn check_all(
    arguments: &[PathBuf],
    options: &Options,
    mut check: impl FnMut(&Path) -> Result<Report, Error>,
) -> Result<AllChecked, (PathBuf, Error)> {
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
    Ok((results, inputs.searched.no_format))
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
    let report = run(&watch, progress, work)?;
    let report = report.map_err(|error| error::of_check(py, &error, &path))?;
    Ok(Document::of_one(&path, report, settings.strict))
}
