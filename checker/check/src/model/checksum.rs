//! Checksums of parts of a file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use super::source::ReadAt;
use super::tensor::FullDescription;

/// A part of a file, with the checksum that the file gives for it. The scan verifies the checksum.
#[derive(Debug)]
pub(crate) struct Checksum {
    /// The name of the part, such as that of a member of an archive.
    pub(crate) name: Arc<str>,
    /// The file with the part, if it is not the input but a shard.
    pub(crate) other: Option<Arc<dyn ReadAt>>,
    /// The range of its bytes in the file.
    pub(crate) range: Range<u64>,
    /// The CRC-32 of the bytes, as zip and gzip define it.
    pub(crate) crc: u32,
}

impl Checksum {
    /// The checksum of a part of the input.
    pub(crate) fn new(name: Arc<str>, range: Range<u64>, crc: u32) -> Self {
        Self { name, other: None, range, crc }
    }

    /// The path or URL of the file with the part. None for the input.
    pub(crate) fn file(&self) -> Option<Arc<Path>> {
        // Bytes in memory are no file beside the input.
        self.other.as_deref()?.file().map(Arc::from)
    }
}

/// The result of the comparison of a checksum: None if it is right. A part of another file, such as
/// a shard, is damaged if it is wrong, and the rest of the set stays checked.
///
/// # Errors
/// [`Error::Checksum`] if the checksum of a part of the input is wrong.
pub(crate) fn verified(
    name: &str,
    file: Option<Arc<Path>>,
    is_right: bool,
) -> Result<Option<FullDescription>, Error> {
    match file {
        _ if is_right => Ok(None),
        Some(file) => {
            let why = "the checksum is wrong".to_owned();
            Ok(Some(FullDescription::damaged(name, file, why)))
        }
        None => Err(Error::Checksum { name: name.to_owned() }),
    }
}
