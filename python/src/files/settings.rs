//! The options of a check, from a dictionary.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

use nonfinite_check::lint::{Severity, Suppression};
use nonfinite_check::{Observer, Options};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options of a check. Names and defaults are those of the command.
pub(super) struct Settings {
    options: Options,
    /// Whether whatever was not looked at changes the status.
    pub(super) strict: bool,
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

/// What lint lists: the findings that are not allowed, of at least this severity.
pub(super) fn listed(options: &Bound<'_, PyDict>) -> PyResult<(Vec<Suppression>, Severity)> {
    let warnings: String = item(options, "warnings", "on".to_owned())?;
    let allow = list(options, "allow")?;
    let least = match warnings.as_str() {
        "off" => Severity::Error,
        "on" => Severity::Warning,
        "notes" => Severity::Note,
        _ => {
            let error = format!("warnings={warnings:?}: is none of off, on and notes");
            return Err(PyValueError::new_err(error));
        }
    };
    Ok((allow, least))
}

impl Settings {
    pub(super) fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let fail_on: String = item(options, "fail_on", "nan,inf".to_owned())?;
        let max_abs: Option<f64> = item(options, "max_abs", None)?;
        if let Some(bound) = max_abs.filter(|bound| !bound.is_finite() || *bound < 0.0) {
            let error = nonfinite_check::Error::MaxAbs(bound);
            return Err(PyValueError::new_err(format!("max_abs: {error}")));
        }
        let (allow, fail_on) = (list(options, "allow")?, parsed(&fail_on, "fail_on")?);
        let limits = Self::limits(options)?;
        let places = item(options, "places", true)?;
        let options = Options {
            allow,
            fail_on,
            stats: item(options, "stats", false)?,
            // Without the sign of -0, as in the command.
            max_abs: max_abs.map(f64::abs),
            places,
            draw: item(options, "map", true)? && places,
            ..limits.options
        };
        Ok(Self { options, ..limits })
    }

    /// The options of lint. The page has maps.
    pub(super) fn of_lint(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let limits = Self::limits(options)?;
        Ok(Self { options: Options { draw: true, ..limits.options }, ..limits })
    }

    fn limits(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let strict = item(options, "strict", false)?;
        let max_bytes = item(options, "max_bytes", None)?;
        let threads = threads(item(options, "threads", None)?)?;
        Ok(Self { options: Options { max_bytes, threads, ..Options::default() }, strict })
    }

    pub(super) fn options(&self, observer: Arc<dyn Observer>) -> Options {
        Options { observer: Some(observer), ..self.options.clone() }
    }
}
