//! Checksums of parts of a file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use super::source::ReadAt;

/// A part of a file with its checksum, by the file. The scan verifies it.
#[derive(Debug)]
pub(crate) struct Checksum {
    /// The name of the part, such as that of a member of an archive.
    pub(crate) name: String,
    /// The file that the part is in, if that is not the input: a shard.
    pub(crate) other: Option<Arc<dyn ReadAt>>,
    /// Where its bytes are in the file.
    pub(crate) range: Range<usize>,
    /// The CRC-32 of the bytes, as zip and gzip define it.
    pub(crate) crc: u32,
}

impl Checksum {
    /// The checksum of a part of the input.
    pub(crate) fn new(name: String, range: Range<usize>, crc: u32) -> Self {
        Self { name, other: None, range, crc }
    }

    /// The path of the file that the part is in, if that is not the input and has one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.other.as_deref().and_then(ReadAt::file)
    }

    /// Compares the checksum with that of the bytes that are there.
    ///
    /// # Errors
    /// [`Error::Checksum`] if they differ, in [`Error::Other`] for a part of another file.
    pub(crate) fn verify(&self, crc: u32) -> Result<(), Error> {
        if crc == self.crc { Ok(()) } else { Err(Error::checksum(&self.name, self.file())) }
    }
}
