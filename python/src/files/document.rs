//! The results of a check.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::json::{self, Listed};
use nonfinite_check::{Error, Report};
use nonfinite_cli::html;
use nonfinite_cli::report::Summary;
use pyo3::prelude::*;

/// A path as it was given or found, and its report or its error.
pub(super) type Checked = (PathBuf, Result<Report, Error>);

/// The results of a check, or some of them.
#[pyclass(frozen, module = "nonfinite._native")]
pub(crate) struct Document {
    content: Content,
    /// The exit status of the command, for all files.
    #[pyo3(get)]
    status: u8,
}

enum Content {
    /// Results of this process: these of all.
    Results { all: Arc<Vec<Checked>>, these: Range<usize> },
    /// The texts of results of another process.
    Texts { json: String, page: String },
}

impl Document {
    pub(super) fn new(results: Vec<Checked>, skip_unknown: bool) -> Self {
        let mut summary = Summary::default();
        for (_, result) in &results {
            match result {
                Ok(report) => summary.count(report),
                Err(error) => summary.fail(error),
            }
        }
        let these = 0..results.len();
        let content = Content::Results { all: Arc::new(results), these };
        Self { content, status: summary.status(skip_unknown) }
    }

    pub(super) fn of_one(path: &Path, report: Report, skip_unknown: bool) -> Self {
        Self::new(vec![(path.to_owned(), Ok(report))], skip_unknown)
    }
}

#[pymethods]
impl Document {
    /// The document of `pickle`.
    #[new]
    fn of_texts(json: String, page: String, status: u8) -> Self {
        Self { content: Content::Texts { json, page }, status }
    }

    /// The JSON document of `nonfinite check --json`, without the line feed at the end.
    fn json(&self, py: Python<'_>) -> String {
        match &self.content {
            Content::Results { all, these } => {
                py.detach(|| json::document(&all[these.clone()], Listed::All))
            }
            Content::Texts { json, .. } => json.clone(),
        }
    }

    /// The page of `nonfinite check --html`.
    fn page(&self, py: Python<'_>) -> String {
        match &self.content {
            Content::Results { all, these } => py.detach(|| html::document(&all[these.clone()])),
            Content::Texts { page, .. } => page.clone(),
        }
    }

    /// The document of one file, by its number. None for a document that comes from `pickle`.
    fn file(&self, number: usize) -> Option<Self> {
        match &self.content {
            Content::Results { all, these } if number < these.len() => {
                let at = these.start + number;
                let content = Content::Results { all: Arc::clone(all), these: at..at + 1 };
                Some(Self { content, status: self.status })
            }
            Content::Results { .. } | Content::Texts { .. } => None,
        }
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, pyo3::types::PyType>, (String, String, u8)) {
        let (py, document) = (slf.py(), slf.get());
        let texts = (document.json(py), document.page(py), document.status);
        (slf.get_type(), texts)
    }
}
