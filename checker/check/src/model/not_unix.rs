//! Files on Windows and on other systems that are no Unix.

use std::fs::{File, Metadata};
use std::io;

/// Never called: on these systems all files are kept open.
pub(super) fn same_file(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                out = &mut out[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(windows))]
pub(super) fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
