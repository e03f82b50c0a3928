//! The bytes of a zip archive outside of all its parts. A reader of members never sees them.

use std::iter;
use std::ops::Range;

use rawzip::ZipArchive;

use super::zip::Error;

/// The record at the end of an archive without its comment.
const END: u64 = 22;

/// The longest data descriptor behind a member: signature, checksum, two sizes of 8 bytes.
const DESCRIPTOR: u64 = 24;

/// The ranges outside of all local headers, members, data descriptors and directories: data before
/// the archive, between its members, and behind it (including the comment). Ranges of zeros are
/// padding and are left out.
///
/// # Errors
/// [`Error::Archive`] if the archive is not whole.
pub(crate) fn gaps(bytes: &[u8]) -> Result<Vec<Range<usize>>, Error> {
    let archive = ZipArchive::from_slice(bytes).map_err(Error::Archive)?;
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    let mut parts = Vec::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(Error::Archive)? {
        let data = archive.get_entry(entry.wayfinder()).map_err(Error::Archive)?;
        let (_, end) = data.compressed_data_range();
        parts.push(place(entry.local_header_offset())..place(end));
        let described = data.data_descriptor().ok().flatten().is_some();
        if described {
            parts.push(place(end)..place(end.saturating_add(DESCRIPTOR)));
        }
    }
    parts.push(place(archive.directory_offset())..place(archive.eocd_offset() + END));
    parts.sort_unstable_by_key(|part| part.start);
    let mut gaps = Vec::new();
    let mut at = 0;
    for part in parts.into_iter().chain(iter::once(bytes.len()..bytes.len())) {
        if part.start > at && bytes[at..part.start].iter().any(|&byte| byte != 0) {
            gaps.push(at..part.start);
        }
        at = at.max(part.end);
    }
    Ok(gaps)
}
