//! Checksums of parts of a file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use super::source::ReadAt;

/// A part of a file, with the checksum that the file gives for it. The scan verifies the checksum.
#[derive(Debug)]
pub(crate) struct Checksum {
    /// The name of the part, such as that of a member of an archive.
    pub(crate) name: String,
    /// The file with the part, if it is not the input but a shard.
    pub(crate) other: Option<Arc<dyn ReadAt>>,
    /// The range of its bytes in the file.
    pub(crate) range: Range<usize>,
    /// The CRC-32 of the bytes, as zip and gzip define it.
    pub(crate) crc: u32,
}

impl Checksum {
    /// The checksum of a part of the input.
    pub(crate) fn new(name: String, range: Range<usize>, crc: u32) -> Self {
        Self { name, other: None, range, crc }
    }

    /// The path of the file with the part. None for the input, and for a file without a path.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.other.as_deref().and_then(ReadAt::file)
    }

    /// Compares the checksum with the checksum of the actual bytes.
    ///
    /// # Errors
    /// [`Error::Checksum`] if they differ, in [`Error::Other`] for a part of another file.
    pub(crate) fn verify(&self, crc: u32) -> Result<(), Error> {
        if crc == self.crc { Ok(()) } else { Err(Error::checksum(&self.name, self.file())) }
    }
}
