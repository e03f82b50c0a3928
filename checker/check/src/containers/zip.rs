//! Members of a zip archive, for the formats that are zip archives.
//!
//! The data of stored members is used in place, and the scan verifies the checksums. Deflated
//! members are inflated as a stream. Size and checksum are verified at the end of the stream.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::{fmt, iter};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};

use crate::model::reader::{Refused, repeated, truncated};
use crate::model::source::{self, part};
use crate::model::{Checksum, Decode, span};

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name, including folders. The checksum shares the name.
    pub name: Arc<str>,
    /// How its data is stored.
    pub method: Method,
    /// The stored data.
    pub range: Range<u64>,
    /// The length of the inflated data. For a stored member, the length of `range`.
    pub size: u64,
    /// Checksum of the inflated data.
    crc: u32,
}

/// How the data of a member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Without compression.
    Stored,
    /// Deflated.
    Deflated,
    /// In an unsupported way, with its number in the zip format.
    Other(u16),
    /// Encrypted.
    Encrypted,
}

/// An archive: its members, and its place.
#[derive(Debug)]
pub struct Archive {
    /// The members in the order of the directory, without folders.
    pub members: Vec<Member>,
    /// The bytes from the first member to the end of the directory and its comment. Other bytes
    /// before or behind them may be a file of another kind.
    pub range: Range<u64>,
}

fn bad(why: impl fmt::Display) -> Refused {
    format!("bad zip archive: {why}").into()
}

/// Reads the directory of an archive.
///
/// # Errors
/// If the archive is not whole, or if names repeat or members overlap: a small archive of members
/// that overlap can inflate for hours.
pub fn read(bytes: &[u8]) -> Result<Archive, Refused> {
    read_one(bytes).map_err(|error| match (is_followed(bytes), cut(bytes)) {
        (true, _) => format!("{error}; archives one behind the other are not read").into(),
        (false, Some(why)) => format!("{error}: {why}").into(),
        (false, None) => error,
    })
}

/// How an archive is truncated: its end is missing, where the directory and a record of 22 bytes
/// are.
fn cut(bytes: &[u8]) -> Option<String> {
    let record = bytes.windows(4).rposition(|window| window == b"PK\x05\x06");
    let length = bytes.len();
    match record.map(|start| start + 22) {
        Some(end) if end > length => {
            Some(truncated(length as u64, end as u64, "its last record ends behind the file"))
        }
        None if bytes.starts_with(b"PK\x03\x04") => {
            let why = "its directory is missing, which stands at the end of an archive";
            Some(format!("truncated: the file has {length} bytes, and {why}"))
        }
        _ => None,
    }
}

/// Whether an archive without a comment seems to end before another archive.
fn is_followed(bytes: &[u8]) -> bool {
    // The record at the end of an archive has 22 bytes.
    let is_end =
        |window: &[u8]| window.starts_with(b"PK\x05\x06") && window.ends_with(b"PK\x03\x04");
    bytes.windows(22 + 4).any(is_end)
}

fn read_one(bytes: &[u8]) -> Result<Archive, Refused> {
    let archive = ZipArchive::from_slice(bytes).map_err(bad)?;
    let mut entries = archive.entries();
    let mut members = Vec::new();
    let mut begin = archive.directory_offset();
    while let Some(entry) = entries.next_entry().map_err(bad)? {
        let name = source::text(entry.file_path().as_bytes());
        let data = archive.get_entry(entry.wayfinder()).map_err(bad)?;
        let (start, end) = data.compressed_data_range();
        let size = entry.uncompressed_size_hint();
        let method = match entry.compression_method() {
            _ if entry.flags().is_encrypted() => Method::Encrypted,
            CompressionMethod::STORE => Method::Stored,
            CompressionMethod::DEFLATE => Method::Deflated,
            other => Method::Other(other.as_u16()),
        };
        let (range, crc) = (start..end, entry.crc32());
        // The limit for tensors in memory. Sums of lengths then do not overflow.
        let fits = part(bytes, range.clone()).is_some() && size <= i64::MAX as u64;
        if !fits || method == Method::Stored && size != span(&range) {
            return Err(bad_size(&name));
        }
        begin = begin.min(entry.local_header_offset());
        if !(entry.is_dir() && range.is_empty()) {
            members.push(Member { name: name.into(), method, range, size, crc });
        }
    }
    if let Some(name) = repeated(members.iter().map(|member| &*member.name)) {
        return Err(bad(format_args!("two members of the name {name:?}")));
    }
    find_overlap(&members)?;
    let length = bytes.len() as u64;
    let range = begin.min(length)..archive.end_offset().min(length);
    Ok(Archive { members, range })
}

/// Whether the bytes are an archive with a member of such a name.
pub(crate) fn has_member(bytes: &[u8], is_wanted: impl Fn(&str) -> bool) -> bool {
    let Ok(archive) = ZipArchive::from_slice(bytes) else { return false };
    let mut entries = archive.entries();
    while let Ok(Some(entry)) = entries.next_entry() {
        if is_wanted(&source::text(entry.file_path().as_bytes())) {
            return true;
        }
    }
    false
}

/// The checksums of the stored members.
pub(crate) fn checksums(members: &[Member]) -> Vec<Checksum> {
    let stored = members.iter().filter(|member| member.method == Method::Stored);
    let checksum =
        |member: &Member| Checksum::new(Arc::clone(&member.name), member.range.clone(), member.crc);
    stored.map(checksum).collect()
}

/// A member is larger than any file, or a stored member has two different sizes.
fn bad_size(name: &str) -> Refused {
    bad(format_args!("invalid size of member {name:?}"))
}

fn find_overlap(members: &[Member]) -> Result<(), Refused> {
    let mut used: Vec<_> = members.iter().filter(|member| !member.range.is_empty()).collect();
    used.sort_unstable_by_key(|member| member.range.start);
    let next = used.iter().skip(1);
    match iter::zip(&used, next).find(|(a, b)| a.range.end > b.range.start) {
        Some((_, member)) => Err(bad(format_args!("member {:?} overlaps another", member.name))),
        None => Ok(()),
    }
}

impl Member {
    /// Why the data cannot be read. None if it can be read.
    pub(crate) fn unreadable(&self) -> Option<String> {
        match self.method {
            Method::Stored | Method::Deflated => None,
            Method::Other(method) => {
                Some(format!("stored by zip method {method}, which is not supported"))
            }
            Method::Encrypted => Some("encrypted".to_owned()),
        }
    }

    /// The inflated data. Empty for unsupported methods.
    pub(crate) fn open<'a>(&self, archive: &'a [u8]) -> Box<dyn Read + 'a> {
        let data = part(archive, self.range.clone()).unwrap_or_default();
        match self.method {
            Method::Stored => Box::new(data),
            Method::Deflated => Box::new(Verified {
                inner: DeflateDecoder::new(data),
                crc: Crc::new(),
                left: self.size,
                expected: self.crc,
            }),
            Method::Other(_) | Method::Encrypted => Box::new(io::empty()),
        }
    }

    /// The data from byte `skip` of the inflated data on.
    ///
    /// # Panics
    /// If `skip` lies behind the end.
    pub(crate) fn decode(self, skip: u64) -> Box<dyn Decode> {
        assert!(skip <= self.size, "bytes to skip that are not there");
        Box::new(Inflate { member: self, skip })
    }
}

/// The inflated data of a member from byte `skip` on.
struct Inflate {
    member: Member,
    skip: u64,
}

impl Decode for Inflate {
    fn length(&self) -> u64 {
        self.member.size - self.skip
    }

    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>> {
        let mut data = self.member.open(input);
        io::copy(&mut data.by_ref().take(self.skip), &mut io::sink())?;
        Ok(data)
    }
}

/// A stream that verifies length and checksum of the data.
struct Verified<R> {
    inner: R,
    crc: Crc,
    left: u64,
    expected: u32,
}

impl Read for Verified<DeflateDecoder<&[u8]>> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bad = |why| Err(io::Error::new(io::ErrorKind::InvalidData, why));
        let count = self.inner.read(out)?;
        self.crc.update(&out[..count]);
        let Some(left) = self.left.checked_sub(count as u64) else {
            return bad("more data than the archive says");
        };
        self.left = left;
        match (count, out.len()) {
            (1.., _) | (_, 0) => Ok(count),
            _ if left > 0 => bad("less data than the archive says"),
            _ if self.crc.sum() != self.expected => bad("the checksum is wrong"),
            _ if !self.inner.get_ref().is_empty() => {
                bad("there are bytes behind the deflated data")
            }
            _ => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member overlaps if it begins before the end of another. Empty members overlap none.
    #[test]
    fn members_that_overlap() {
        for (ranges, overlaps) in [
            (&[4..9, 0..4, 2..2, 9..10][..], None),
            (&[4..9, 0..5], Some("4..9")),
            (&[0..9, 2..2, 3..4], Some("3..4")),
        ] {
            let members = ranges.iter().cloned().map(|range| Member {
                name: format!("{range:?}").into(),
                method: Method::Deflated,
                range,
                size: 1,
                crc: 0,
            });
            let found = find_overlap(&members.collect::<Vec<_>>()).err();
            let expected = overlaps.map(|name| format!("{name:?} overlaps another"));
            let is_expected = match (&found, &expected) {
                (Some(found), Some(expected)) => found.to_string().contains(expected),
                _ => found.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{found:?}, {expected:?}");
        }
    }
}
