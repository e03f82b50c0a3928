//! A file in pieces, for a cluster. Plans, pieces and tallies are JSON.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::work::{self, Piece, Plan, Tallies};
use nonfinite_check::{Error, Options, Report};
use nonfinite_cli::command::inputs;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use super::check::check_all;
use super::document::Document;
use super::error;
use super::running::{Watch, no_progress, run};
use super::settings::{self, Settings};

/// A plan without its pieces. Then each piece: its bytes, and itself.
type Planned = (String, Vec<(u64, String)>);

/// Reads the header of a file, and cuts the data into pieces.
#[pyfunction]
pub(crate) fn plan_file(
    py: Python<'_>,
    path: &str,
    most: NonZeroUsize,
    options: &Bound<'_, PyDict>,
) -> PyResult<Planned> {
    let watch = Arc::<Watch>::default();
    let options = Settings::new(options)?.options(watch.clone());
    let file = path.to_owned();
    let planned = run(&watch, &no_progress(py), move || {
        work::plan(&file, most, &options).map(|mut plan| {
            let pieces = plan.take_pieces();
            let piece = |piece: &Piece| Ok((piece.length(), serde_json::to_string(piece)?));
            let pieces = pieces.iter().map(piece).collect::<serde_json::Result<_>>()?;
            Ok((serde_json::to_string(&plan)?, pieces))
        })
    })?;
    let written: serde_json::Result<_> =
        planned.map_err(|error| error::of_work(py, &error, Path::new(path)))?;
    written.map_err(|error| error::of_json(py, &error))
}

/// Reads values from JSON.
fn read<T: DeserializeOwned>(py: Python<'_>, texts: &[String]) -> PyResult<Vec<T>> {
    let texts = texts.iter();
    let values: serde_json::Result<Vec<T>> = texts.map(|text| serde_json::from_str(text)).collect();
    values.map_err(|error| error::of_json(py, &error))
}

/// Looks at pieces, and returns their tallies.
#[pyfunction]
pub(crate) fn look_at_pieces(
    py: Python<'_>,
    pieces: Vec<String>,
    threads: Option<isize>,
) -> PyResult<String> {
    let threads = settings::threads(threads)?;
    let pieces: Vec<Piece> = read(py, &pieces)?;
    let path = pieces.first().map_or("", Piece::file).to_owned();
    let watch = Arc::<Watch>::default();
    let options = Options { threads, observer: Some(watch.clone()), ..Options::default() };
    let work = move || work::check_pieces(&pieces, &options);
    let tallies = run(&watch, &no_progress(py), work)?;
    write(py, &tallies.map_err(|error| error::of_work(py, &error, Path::new(&path)))?)
}

fn write(py: Python<'_>, tallies: &Tallies) -> PyResult<String> {
    serde_json::to_string(tallies).map_err(|error| error::of_json(py, &error))
}

/// The sum of tallies of one plan.
#[pyfunction]
pub(crate) fn add_tallies(py: Python<'_>, tallies: Vec<String>) -> PyResult<String> {
    let mut tallies = read::<Tallies>(py, &tallies)?.into_iter();
    let sum = tallies.try_fold(Tallies::default(), Tallies::merge);
    write(py, &sum.map_err(|error| error::of_work(py, &error, Path::new("")))?)
}

/// The report on a file, from its plan and the tallies of all pieces.
#[pyfunction]
pub(crate) fn merge_file(
    py: Python<'_>,
    path: PathBuf,
    plan: &str,
    tallies: Vec<String>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Document> {
    let settings = Settings::new(options)?;
    let options = settings.options(Arc::<Watch>::default());
    let plan: Plan = serde_json::from_str(plan).map_err(|error| error::of_json(py, &error))?;
    let tallies = read::<Tallies>(py, &tallies)?;
    let report = py.detach(|| work::merge(&plan, tallies, &options));
    let report = report.map_err(|error| error::of_work(py, &error, &path))?;
    Ok(Document::of_one(&path, report, settings.strict()))
}

/// The reports on the files of these arguments: from a plan and tallies where there are some, and
/// from a check here for the other files.
#[pyfunction]
pub(crate) fn merge_paths(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    planned: HashMap<PathBuf, (String, Vec<String>)>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Document> {
    let settings = Settings::new(options)?;
    let watch = Arc::<Watch>::default();
    let options = settings.options(watch.clone());
    let mut merged: HashMap<PathBuf, Result<Report, Error>> = HashMap::new();
    for (path, (plan, tallies)) in planned {
        let plan: Plan = serde_json::from_str(&plan).map_err(|error| error::of_json(py, &error))?;
        let tallies = read::<Tallies>(py, &tallies)?;
        let result = match py.detach(|| work::merge(&plan, tallies, &options)) {
            Ok(report) => Ok(report),
            Err(work::Error::Check(error)) => Err(error),
            Err(error) => return Err(error::of_work(py, &error, &path)),
        };
        merged.insert(path, result);
    }
    let checked = run(&watch, &no_progress(py), move || {
        check_all(&paths, &options, |path| match merged.remove(path) {
            Some(result) => result,
            None => inputs::check_path(path, &options),
        })
    })?;
    let checked = checked.map_err(|(path, error)| error::of_check(py, &error, &path))?;
    Ok(Document::new(checked, settings.strict()))
}
