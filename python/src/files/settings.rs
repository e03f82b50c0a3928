//! The options of a check, from a dictionary.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

use nonfinite_check::{Observer, Options};
use nonfinite_cli::args::How;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options of a check. Names and defaults are those of the command.
pub(super) struct Settings {
    how: How,
    stats: bool,
    max_abs: Option<f64>,
    places: bool,
    map: bool,
}

/// The value of a name in a dictionary, or the default.
fn item<T>(options: &Bound<'_, PyDict>, name: &str, default: T) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    match options.get_item(name)? {
        Some(value) if !value.is_none() => {
            value.extract().map_err(|error: <T as FromPyObject<'_, '_>>::Error| {
                of_option(&value, name, error.into())
            })
        }
        Some(_) | None => Ok(default),
    }
}

/// The error of a value, with the name of the option. Keeps the type of the error.
fn of_option(value: &Bound<'_, PyAny>, name: &str, error: PyErr) -> PyErr {
    let py = value.py();
    let text = format!("{name}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(text)
    } else {
        PyValueError::new_err(text)
    }
}

/// The values of a name: one text or several.
pub(super) fn list<T>(options: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>>
where
    T: FromStr<Err: std::fmt::Display>,
{
    let texts = match options.get_item(name)? {
        Some(value) if value.is_none() => Vec::new(),
        Some(value) => match value.extract::<String>() {
            Ok(text) => vec![text],
            Err(_) => value.extract().map_err(|error| of_option(&value, name, error))?,
        },
        None => Vec::new(),
    };
    texts.iter().map(|text| parsed(text, name)).collect()
}

/// A value from its text.
pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str, name: &str) -> PyResult<T> {
    text.parse().map_err(|error| PyValueError::new_err(format!("{name}={text:?}: {error}")))
}

impl Settings {
    pub(super) fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let fail_on: String = item(options, "fail_on", "nan,inf".to_owned())?;
        let threads: Option<NonZeroUsize> = item(options, "threads", None)?;
        let max_abs: Option<f64> = item(options, "max_abs", None)?;
        if let Some(bound) = max_abs.filter(|bound| !bound.is_finite() || *bound < 0.0) {
            let error = nonfinite_check::Error::MaxAbs(bound);
            return Err(PyValueError::new_err(format!("max_abs: {error}")));
        }
        let how = How {
            allow: list(options, "allow")?,
            fail_on: parsed(&fail_on, "fail_on")?,
            raw_dtype: list(options, "raw_dtype")?,
            skip_unknown: item(options, "skip_unknown", false)?,
            taken_as: list(options, "as_")?,
            max_expansion: item(options, "max_expansion", Options::EXPANSION.get())?,
            max_download: item(options, "max_download", Options::DOWNLOAD.get())?,
            threads,
            mmap: item(options, "mmap", false)?,
            no_progress: true,
        };
        Ok(Self {
            how,
            stats: item(options, "stats", false)?,
            // Without the sign of -0, as in the command.
            max_abs: max_abs.map(f64::abs),
            places: item(options, "places", true)?,
            map: item(options, "map", true)?,
        })
    }

    /// Whether files of unknown formats change the status.
    pub(super) fn skip_unknown(&self) -> bool {
        self.how.skip_unknown
    }

    pub(super) fn options(&self, observer: Arc<dyn Observer>) -> Options {
        let mut options = self.how.options(self.stats, observer);
        options.max_abs = self.max_abs;
        options.places = self.places;
        options.draw = self.places && self.map;
        options
    }
}
