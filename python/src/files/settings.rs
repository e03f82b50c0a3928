//! The options of a check, from a dictionary.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

use nonfinite_check::{Observer, Options};
use nonfinite_cli::command::args::{Form, How, Limits, Lint};
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
    let Some(value) = options.get_item(name)?.filter(|value| !value.is_none()) else {
        return Ok(default);
    };
    value
        .extract()
        .map_err(|error: <T as FromPyObject<'_, '_>>::Error| of_option(&value, name, error.into()))
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

/// The number of threads that a caller asks for.
///
/// # Errors
/// ValueError for less than 1.
fn threads(threads: Option<isize>) -> PyResult<Option<NonZeroUsize>> {
    let number = |threads: isize| {
        let number = usize::try_from(threads).ok().and_then(NonZeroUsize::new);
        number.ok_or_else(|| {
            PyValueError::new_err(format!("threads={threads}, and the least is 1; None means all"))
        })
    };
    threads.map(number).transpose()
}

/// The values of a name: one text or several.
fn list<T>(options: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>>
where
    T: FromStr<Err: std::fmt::Display>,
{
    let texts = match options.get_item(name)?.filter(|value| !value.is_none()) {
        Some(value) => match value.extract::<String>() {
            Ok(text) => vec![text],
            Err(_) => value.extract().map_err(|error| of_option(&value, name, error))?,
        },
        None => Vec::new(),
    };
    texts.iter().map(|text| parsed(text, name)).collect()
}

/// A value from its text.
fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str, name: &str) -> PyResult<T> {
    text.parse().map_err(|error| PyValueError::new_err(format!("{name}={text:?}: {error}")))
}

/// The arguments of `nonfinite lint`.
pub(super) fn lint(options: &Bound<'_, PyDict>) -> PyResult<Lint> {
    let warnings: String = item(options, "warnings", "on".to_owned())?;
    Ok(Lint {
        files: Vec::new(),
        format: Form::Json,
        json: true,
        quiet: false,
        allow: list(options, "allow")?,
        warnings: parsed(&warnings, "warnings")?,
        html: None,
        rules: false,
        limits: limits(options)?,
    })
}

fn limits(options: &Bound<'_, PyDict>) -> PyResult<Limits> {
    Ok(Limits {
        strict: item(options, "strict", false)?,
        max_bytes: item(options, "max_bytes", None)?,
        threads: threads(item(options, "threads", None)?)?,
    })
}

impl Settings {
    pub(super) fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let fail_on: String = item(options, "fail_on", "nan,inf".to_owned())?;
        let max_abs: Option<f64> = item(options, "max_abs", None)?;
        if let Some(bound) = max_abs.filter(|bound| !bound.is_finite() || *bound < 0.0) {
            let error = nonfinite_check::Error::MaxAbs(bound);
            return Err(PyValueError::new_err(format!("max_abs: {error}")));
        }
        let how = How {
            allow: list(options, "allow")?,
            fail_on: parsed(&fail_on, "fail_on")?,
            limits: limits(options)?,
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

    /// Whether whatever was not looked at changes the status.
    pub(super) fn strict(&self) -> bool {
        self.how.limits.strict
    }

    pub(super) fn options(&self, observer: Arc<dyn Observer>) -> Options {
        let mut options = self.how.options(self.stats, observer);
        options.max_abs = self.max_abs;
        options.places = self.places;
        options.draw = self.places && self.map;
        options
    }
}
