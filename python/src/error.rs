//! Errors as exceptions of Python.

use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};

/// An argument of a kind that has no answer.
#[cold]
pub(crate) fn type_error(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// An argument of the right kind with a wrong value.
#[cold]
pub(crate) fn value(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// An error of the crate `nonfinite-border`: TypeError, ValueError or MemoryError with its message.
#[cold]
pub(crate) fn of_border(error: nonfinite_border::Error) -> PyErr {
    use nonfinite_border::Error;
    let message = error.to_string();
    match error {
        Error::Kind(_) => type_error(message),
        Error::Layout(_) => value(message),
        Error::Memory(_) => PyMemoryError::new_err(message),
    }
}

/// An error of the crate `nonfinite`: ValueError with its message.
#[cold]
pub(crate) fn of_crate(error: nonfinite::Error) -> PyErr {
    value(error.to_string())
}
