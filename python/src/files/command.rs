//! The command `nonfinite`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `nonfinite` with these arguments, of which the first is the name of the
/// program. Returns the exit status.
#[pyfunction]
pub(super) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        open_standard_streams();
        nonfinite_cli::command::run(arguments.into_iter())
    })
}

/// Opens /dev/null for each standard stream that is closed. Otherwise the next file that is opened
/// takes the place of the stream, and messages are written into that file. A program in Rust does
/// this when it starts. Python does not.
#[cfg(unix)]
fn open_standard_streams() {
    use std::fs::OpenOptions;
    use std::os::fd::{AsRawFd, IntoRawFd};
    while let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        if null.as_raw_fd() > 2 {
            break;
        }
        let _ = null.into_raw_fd();
    }
}

#[cfg(not(unix))]
fn open_standard_streams() {}
