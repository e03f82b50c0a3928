//! Checksums of parts of a file.

use std::ops::Range;

/// A part of a file with its checksum, by the file. The scan verifies it.
pub(crate) struct Checksum {
    /// The name of the part, such as that of a member of an archive.
    pub(crate) name: String,
    /// Where its bytes are in the file.
    pub(crate) range: Range<usize>,
    /// The CRC-32 of them, as zip and gzip define it.
    pub(crate) crc: u32,
}
