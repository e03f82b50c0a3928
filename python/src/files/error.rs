//! Exceptions for the errors of the checker.

use std::io;
use std::path::Path;

use nonfinite_check::Error;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// An exception of the module `nonfinite.errors`.
fn of_class(py: Python<'_>, class: &str, message: String, path: &Path) -> PyErr {
    let path = path.to_string_lossy();
    let made = py
        .import("nonfinite.errors")
        .and_then(|errors| errors.getattr(class)?.call1((message, path)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The exception for a file that could not be checked. `OSError` is that of Python.
pub(super) fn of_check(py: Python<'_>, error: &Error, path: &Path) -> PyErr {
    let class = match error {
        Error::Io(error) => return of_system(error, path),
        Error::Other { path, error } if matches!(**error, Error::Io(_)) => {
            return of_check(py, error, path);
        }
        Error::Directory => return of_system(&io::ErrorKind::IsADirectory.into(), path),
        Error::MaxAbs(_) => return PyValueError::new_err(error.to_string()),
        Error::Expansion { .. } | Error::Download { .. } | Error::StreamTooLong { .. } => {
            "LimitError"
        }
        Error::Changed(_) => "ChangedError",
        Error::Remote { .. } => "RemoteError",
        Error::NotBuilt => "NotBuiltError",
        _ if error.is_unknown() => "UnknownFormatError",
        _ => "InvalidFileError",
    };
    let hint = if error.exceeds_max_bytes() { " (max_bytes)" } else { "" };
    of_class(py, class, format!("{error}{hint}"), path)
}

/// An `OSError` with the number of the error and the path, as `open` raises it. Python chooses the
/// class, such as `FileNotFoundError`.
fn of_system(error: &io::Error, path: &Path) -> PyErr {
    let text = error.to_string();
    let file = path.as_os_str().to_owned();
    match (error.raw_os_error(), error.kind()) {
        // Rust adds the number to the text. Python reads the second number on Windows only, where
        // it is the number of the error.
        (Some(number), _) => {
            let text = text.replace(&format!(" (os error {number})"), "");
            PyOSError::new_err((number, text, file, number))
        }
        (None, io::ErrorKind::NotFound) => PyOSError::new_err((ENOENT, text, file)),
        (None, io::ErrorKind::IsADirectory) => PyOSError::new_err((EISDIR, text, file)),
        (None, _) => PyOSError::new_err(format!("{}: {text}", path.display())),
    }
}

/// Numbers of errors in C, the same on all systems with a wheel.
const ENOENT: i32 = 2;
const EISDIR: i32 = 21;
