//! Checksums of parts of a file.

use std::ops::Range;

use super::error::Error;

/// A part of a file, with the checksum that the file gives for it. The scan verifies the checksum.
pub(crate) struct Checksum {
    /// The name of the part, such as that of a member of an archive.
    pub(crate) name: String,
    /// The range of its bytes in the file.
    pub(crate) range: Range<usize>,
    /// The CRC-32 of the bytes, as zip and gzip define it.
    pub(crate) crc: u32,
}

impl Checksum {
    /// Compares the checksum with the checksum of the actual bytes.
    ///
    /// # Errors
    /// [`Error::Checksum`] if they differ.
    pub(crate) fn verify(&self, crc: u32) -> Result<(), Error> {
        if crc == self.crc { Ok(()) } else { Err(Error::Checksum { name: self.name.clone() }) }
    }
}
