//! The results of a check.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::Report;
use nonfinite_check::json::{self, Listed};
use nonfinite_report::html::{self, Checked};
use nonfinite_report::summary::Summary;
use pyo3::prelude::*;

/// The results, and the files of no known format in folders.
pub(super) type AllChecked = (Vec<Checked>, Vec<PathBuf>);

/// The results of a check, or some of them.
#[pyclass(frozen, module = "nonfinite._native")]
pub(crate) struct Document {
    content: Content,
    /// The exit status of the command, for all files.
    #[pyo3(get)]
    status: u8,
}

enum Content {
    /// Results of this process: these of all, and the files of no known format.
    Results { all: Arc<Vec<Checked>>, these: Range<usize>, no_format: Vec<PathBuf> },
    /// The texts of results of another process.
    Texts { json: String, page: String },
}

impl Document {
    pub(super) fn new((results, no_format): AllChecked, strict: bool) -> Self {
        let summary = Summary::of(&results, no_format.len());
        let these = 0..results.len();
        let content = Content::Results { all: Arc::new(results), these, no_format };
        Self { content, status: summary.status(strict) }
    }

    pub(super) fn of_one(path: &Path, report: Report, strict: bool) -> Self {
        Self::new((vec![(path.to_owned(), Ok(report))], Vec::new()), strict)
    }
}

#[pymethods]
impl Document {
    /// The document of `pickle`.
    #[new]
    pub(super) fn of_texts(json: String, page: String, status: u8) -> Self {
        Self { content: Content::Texts { json, page }, status }
    }

    /// The JSON document of `nonfinite check --json`, without the line feed at the end.
    fn json(&self, py: Python<'_>) -> String {
        match &self.content {
            Content::Results { all, these, no_format } => {
                py.detach(|| json::document(&all[these.clone()], no_format, Listed::All))
            }
            Content::Texts { json, .. } => json.clone(),
        }
    }

    /// The page of `nonfinite check --html`.
    fn page(&self, py: Python<'_>) -> String {
        match &self.content {
            Content::Results { all, these, .. } => {
                py.detach(|| html::document(&all[these.clone()]))
            }
            Content::Texts { page, .. } => page.clone(),
        }
    }

    /// The document of one file, by its number. None for a document that comes from `pickle`.
    fn file(&self, number: usize) -> Option<Self> {
        match &self.content {
            Content::Results { all, these, .. } if number < these.len() => {
                let (at, no_format) = (these.start + number, Vec::new());
                let all = Arc::clone(all);
                let content = Content::Results { all, these: at..at + 1, no_format };
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
