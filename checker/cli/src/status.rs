//! The end of a run, and messages on standard error.

use std::io::{self, Write};

use nonfinite_report::status::FAILED;

/// A signal ended the run: 128 and the number of Ctrl-C's signal, as in shells.
pub const INTERRUPTED: u8 = 130;

/// The status, or 2 if the output could not be written. A reader that stops early, such as `head`,
/// is not an error.
#[must_use]
pub fn finish(written: io::Result<()>, status: u8) -> u8 {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(format_args!("standard output: {error}"));
            FAILED
        }
        _ => status,
    }
}

/// Prints a line on standard error. If this fails too, only the exit status tells of the failure.
pub fn complain(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nonfinite: {message}");
}
