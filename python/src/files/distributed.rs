//! A check by several processes. The tally of a file travels as JSON.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::distributed;
use nonfinite_report::inputs;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::check::check_all;
use super::document::Document;
use super::error;
use super::running::{Watch, no_progress, run};
use super::settings::Settings;

/// The name of standard input, which only this process has.
const STANDARD_INPUT: &str = "-";

/// The files to check for these arguments: shards in place of the index of their set. Some may
/// hold no tensors.
#[pyfunction]
pub(crate) fn list_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<OsString>> {
    let watch = Arc::<Watch>::default();
    let options = Settings::new(options)?.options(watch.clone());
    run(&watch, &no_progress(py), move || {
        let found = paths.iter().flat_map(|path| inputs::paths(path, &options));
        let found = found.filter(|path| path != Path::new(STANDARD_INPUT));
        let files = found.flat_map(|path| distributed::files(&path, &options));
        // Text for Python: `pathlib.Path` would change `./x` and `s3://x`.
        files.map(PathBuf::into_os_string).collect()
    })
}

/// Makes the tally of a file. None for what has no form in JSON: names of other files that are not
/// UTF-8.
#[pyfunction]
pub(crate) fn tally_file(
    py: Python<'_>,
    path: PathBuf,
    options: &Bound<'_, PyDict>,
) -> PyResult<Option<String>> {
    let watch = Arc::<Watch>::default();
    let options = Settings::new(options)?.options(watch.clone());
    let file = path.clone();
    let found = run(&watch, &no_progress(py), move || distributed::tally(&file, &options))?;
    let found = found.map_err(|error| error::of_check(py, &error, &path))?;
    Ok(serde_json::to_string(&found).ok())
}

/// The reports on the files of these arguments: from their tallies, and from a check here for the
/// files without a tally.
#[pyfunction]
pub(crate) fn merge_paths(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    found: HashMap<PathBuf, String>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Document> {
    let settings = Settings::new(options)?;
    let watch = Arc::<Watch>::default();
    let options = settings.options(watch.clone());
    let checked = run(&watch, &no_progress(py), move || {
        let found = |file: &Path| serde_json::from_str(found.get(file)?).ok();
        check_all(&paths, &options, |path| {
            if path == Path::new(STANDARD_INPUT) {
                inputs::check_path(path, &options)
            } else {
                distributed::report(path, found, &options)
            }
        })
    })?;
    let checked = checked.map_err(|(path, error)| error::of_check(py, &error, &path))?;
    Ok(Document::new(checked, settings.strict))
}
