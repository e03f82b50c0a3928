//! The end of a run, and messages on standard error.

use std::io::{self, Write};

use nonfinite_report::status::{CLEAN, FAILED};

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

/// As [`finish`], at the end of a check: if its reader stops early, nobody has read that all is
/// well, so 0 becomes 2.
#[must_use]
pub fn finish_check(written: io::Result<()>, status: u8) -> u8 {
    let is_unread = written.is_err() && status == CLEAN;
    finish(written, if is_unread { FAILED } else { status })
}

/// Prints a line on standard error. If this fails too, only the exit status tells of the failure.
pub fn complain(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nonfinite: {message}");
}
