//! Which bytes of a zip archive are its own: headers, directory, fields that APPNOTE.TXT or a
//! common writer defines. A reader of members never sees the others, and they could be anything.

use std::ops::Range;

use rawzip::ZipFileHeaderRecord;

/// Bytes of a local header and of an entry of the directory, before names and fields.
const LOCAL: usize = 30;
const ENTRY: usize = 46;
/// Bytes of the records at the end: of zip64, its locator, and the last one without its comment.
const END64: usize = 56;
const LOCATOR: usize = 20;
const END: usize = 22;

/// Extra fields that hold no data of a user: the id, and the most bytes behind id and length.
const FIELDS: [(u16, usize); 9] = [
    (0x0001, 28), // sizes and offset of zip64
    (0x000A, 32), // times of NTFS
    (0x5455, 13), // times of Unix
    (0x5855, 12), // times and owner of Unix
    (0x7855, 4),  // owner of Unix
    (0x7875, 19), // owner of Unix, any size of ids
    (0x9901, 7),  // AES
    (0x7075, 5),  // the name in UTF-8: version and checksum, before the text
    (0x6375, 5),  // the comment in UTF-8, likewise
];

/// The bytes of an archive that are its own, or the data of its members.
pub(super) struct Used<'a> {
    archive: &'a [u8],
    ranges: Vec<Range<usize>>,
    /// The extra fields of the local headers.
    extras: Vec<Range<usize>>,
    /// Where the entries of the directory end.
    directory: usize,
}

impl<'a> Used<'a> {
    /// Of an archive whose directory begins here.
    pub(super) fn new(archive: &'a [u8], directory: u64) -> Self {
        let directory = place(directory, archive);
        Self { archive, ranges: Vec::new(), extras: Vec::new(), directory }
    }

    /// Adds a member, whose data lies at `data`.
    pub(super) fn member(&mut self, entry: &ZipFileHeaderRecord<'_>, data: &Range<usize>) {
        let name = entry.file_path().as_bytes();
        let local = place(entry.local_header_offset(), self.archive);
        let (length, extra) = (self.u16(local + 26), self.u16(local + 28));
        self.add(local, LOCAL);
        let same_name = self.archive.get(local + LOCAL..local + LOCAL + length) == Some(name);
        if same_name {
            self.add(local + LOCAL, length);
        }
        let extras = local + LOCAL + length;
        self.extras.push(extras..extras + extra);
        self.add(data.start, data.len());
        self.descriptor(entry, data.end);

        let at = place(entry.central_directory_offset(), self.archive);
        let (length, extra) = (self.u16(at + 28), self.u16(at + 30));
        let comment = self.u16(at + 32);
        self.add(at, ENTRY + length);
        let extras = at + ENTRY + length;
        self.fields(extras..extras + extra);
        self.directory = self.directory.max(at + ENTRY + length + extra + comment);
    }

    /// Adds the known extra fields in this range. A field counts once: no writer repeats one.
    fn fields(&mut self, extras: Range<usize>) {
        let (mut at, end) = (extras.start, extras.end.min(self.archive.len()));
        let mut fields = FIELDS;
        while at + 4 <= end {
            let (id, size) = (self.u16(at), self.u16(at + 2));
            let known = fields.iter_mut().find(|(known, _)| usize::from(*known) == id);
            let most = known.map_or(0, |(_, most)| std::mem::take(most));
            self.add(at, 4 + size.min(most).min(end - at - 4));
            at += 4 + size;
        }
    }

    /// The data descriptor that may follow the data of a member.
    fn descriptor(&mut self, entry: &ZipFileHeaderRecord<'_>, at: usize) {
        let crc = entry.crc32().to_le_bytes();
        let sizes = [entry.compressed_size_hint(), entry.uncompressed_size_hint()];
        let narrow = sizes.map(|size| (size as u32).to_le_bytes()).concat();
        let wide = sizes.map(u64::to_le_bytes).concat();
        for sizes in [wide, narrow] {
            for signature in [&b"PK\x07\x08"[..], b""] {
                let expected = [signature, &crc, &sizes].concat();
                let rest = self.archive.get(at..).unwrap_or_default();
                if rest.starts_with(&expected) {
                    return self.add(at, expected.len());
                }
            }
        }
    }

    /// The ranges, with the records at the end of the archive, the last of which is at `end`.
    pub(super) fn finish(mut self, end: u64) -> Vec<Range<usize>> {
        // Many entries of a hostile directory may share one local header, so that time and memory
        // would grow with the square of the length. Each byte is looked at once.
        let mut extras = std::mem::take(&mut self.extras);
        extras.sort_unstable_by_key(|range| (range.start, range.end));
        let mut done = 0;
        for extras in extras.into_iter().filter(|range| !range.is_empty()) {
            if extras.start >= done {
                done = extras.end;
                self.fields(extras);
            }
        }

        let end = place(end, self.archive);
        self.add(end, END);
        let locator = end.saturating_sub(LOCATOR);
        if locator >= self.directory && self.starts(locator, b"PK\x06\x07") {
            self.add(locator, LOCATOR);
            // Its offset counts from the first byte of the archive, which may lie in a file.
            let record = (self.directory..locator).find(|&at| self.starts(at, b"PK\x06\x06"));
            if let Some(record) = record {
                self.add(record, END64);
            }
        }
        self.ranges
    }

    fn add(&mut self, at: usize, length: usize) {
        let most = self.archive.len();
        self.ranges.push(at.min(most)..at.saturating_add(length).min(most));
    }

    fn starts(&self, at: usize, signature: &[u8]) -> bool {
        self.archive.get(at..).is_some_and(|rest| rest.starts_with(signature))
    }

    fn u16(&self, at: usize) -> usize {
        let bytes = self.archive.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes).into())
    }
}

fn place(at: u64, archive: &[u8]) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX).min(archive.len())
}
