//! Exit statuses, and messages on standard error.

use std::io::{self, Write};

/// Everything is finite or allowed; the work is done.
pub const CLEAN: u8 = 0;
/// A tensor is bad.
pub const FOUND: u8 = 1;
/// A file or a tensor was not looked at or could not be checked, or the usage is wrong.
pub const FAILED: u8 = 2;

/// The status, unless the output could not be written. A reader that has enough, such as `head`, is
/// no error.
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

/// A line on standard error. If even that cannot be written, the exit status has to do.
pub fn complain(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "nonfinite: {message}");
}
