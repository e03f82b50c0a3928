//! Members of a zip archive, for the formats that are zip archives.
//!
//! The directory and the headers of members are read, and of the members what readers need. The
//! data of stored members is scanned where it lies, and the scan verifies the checksums. Deflated
//! members are inflated as a stream. Size and checksum are verified at the end of the stream.

use std::borrow::BorrowMut;
use std::cell::RefCell;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::Arc;
use std::{fmt, iter};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive,
    ZipLocator,
};

use crate::model::ranges::{ReadAhead, Stream, at_most};
use crate::model::reader::{Refused, repeated, truncated};
use crate::model::{Checksum, Decode, ReadAt, source, span};

/// The first bytes of an archive with members.
pub const MAGIC: &[u8] = b"PK\x03\x04";

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

/// An error of the crate. One that reads behind the end says so in its words.
fn failed(error: rawzip::Error) -> Refused {
    match error.kind() {
        ErrorKind::IO(error) if error.kind() == io::ErrorKind::UnexpectedEof => bad(ErrorKind::Eof),
        _ => bad(error),
    }
}

/// A file as the crate reads it.
struct Archived<'a>(RefCell<ReadAhead<'a>>);

impl ReaderAt for Archived<'_> {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        let mut ahead = self.0.borrow_mut();
        let count = at_most(out.len(), ahead.source.length().saturating_sub(at));
        out[..count].copy_from_slice(ahead.get(at..at + count as u64)?);
        Ok(count)
    }
}

/// Opens the directory of an archive. The second value has room for an entry of the directory.
fn open(source: &dyn ReadAt) -> Result<(ZipArchive<Archived<'_>>, Vec<u8>), rawzip::Error> {
    let mut room = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let archived = Archived(RefCell::new(ReadAhead::new(source)));
    let archive = ZipLocator::new().locate_in_reader(archived, &mut room, source.length());
    archive.map(|archive| (archive, room)).map_err(|(_, error)| error)
}

/// Reads the directory of an archive.
///
/// # Errors
/// If the archive is not whole, or if names repeat or members overlap: a small archive of members
/// that overlap can inflate for hours.
pub fn read(source: &dyn ReadAt) -> Result<Archive, Refused> {
    read_one(source).map_err(|error| match why(source) {
        Ok(Some(why)) => format!("{error}{why}").into(),
        Ok(None) => error,
        Err(failed) => failed.into(),
    })
}

/// Bytes of the record at the end of an archive, without its comment.
const RECORD: u64 = 22;

/// What is wrong with an archive that cannot be read. Another archive may follow the first record
/// of an end. Or the end is missing, where the directory and this record are.
fn why(source: &dyn ReadAt) -> io::Result<Option<String>> {
    /// Bytes that are searched together.
    const STEP: u64 = 64 << 10;
    let (mut bytes, length) = (ReadAhead::new(source), source.length());
    let mut record = None;
    for start in (0..length).step_by(STEP as usize) {
        let searched = bytes.get(start..(start + STEP + RECORD + 4 - 1).min(length))?;
        for (at, window) in (start..start + STEP).zip(searched.windows(4)) {
            if window == b"PK\x05\x06" {
                record = Some(at);
                let behind = searched.get((at - start + RECORD) as usize..).unwrap_or_default();
                if behind.starts_with(MAGIC) {
                    return Ok(Some("; archives one behind the other are not read".to_owned()));
                }
            }
        }
    }
    let is_zip = bytes.get(0..length.min(4))? == MAGIC;
    Ok(match record.map(|start| start + RECORD) {
        Some(end) if end > length => {
            let why = truncated(length, end, "its last record ends behind the file");
            Some(format!(": {why}"))
        }
        None if is_zip => {
            let why = "its directory is missing, which stands at the end of an archive";
            Some(format!(": truncated: the file has {length} bytes, and {why}"))
        }
        _ => None,
    })
}

fn read_one(source: &dyn ReadAt) -> Result<Archive, Refused> {
    let (archive, mut room) = open(source).map_err(failed)?;
    let mut entries = archive.entries(&mut room);
    let mut members = Vec::new();
    let (mut begin, length) = (archive.directory_offset(), source.length());
    while let Some(entry) = entries.next_entry().map_err(failed)? {
        let name = source::text(entry.file_path().as_bytes());
        let data = archive.get_entry(entry.wayfinder()).map_err(failed)?;
        let (start, end) = data.compressed_data_range();
        if end > length {
            return Err(bad(ErrorKind::Eof));
        }
        let size = entry.uncompressed_size_hint();
        let method = match entry.compression_method() {
            _ if entry.flags().is_encrypted() => Method::Encrypted,
            CompressionMethod::STORE => Method::Stored,
            CompressionMethod::DEFLATE => Method::Deflated,
            other => Method::Other(other.as_u16()),
        };
        let (range, crc) = (start..end, entry.crc32());
        // No file is longer. Sums of lengths then do not overflow.
        let is_long = size > i64::MAX as u64;
        if is_long || method == Method::Stored && size != span(&range) {
            return Err(bad(format_args!("invalid size of member {name:?}")));
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
    Ok(Archive { members, range: begin.min(length)..archive.end_offset().min(length) })
}

/// Whether the file is an archive with a member of such a name.
pub(crate) fn has_member(source: &dyn ReadAt, is_wanted: impl Fn(&str) -> bool) -> bool {
    let Ok((archive, mut room)) = open(source) else { return false };
    let mut entries = archive.entries(&mut room);
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
    pub(crate) fn open<'a: 's, 's>(
        &self,
        archive: impl BorrowMut<ReadAhead<'a>> + 's,
    ) -> Box<dyn Read + 's> {
        let data = Stream::new(archive, self.range.clone());
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

    fn open<'a>(&'a self, source: &'a dyn ReadAt) -> io::Result<Box<dyn Read + 'a>> {
        let mut data = self.member.open(ReadAhead::new(source));
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

impl<R: BufRead> Read for Verified<DeflateDecoder<R>> {
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
            _ if !self.inner.get_mut().fill_buf()?.is_empty() => {
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
