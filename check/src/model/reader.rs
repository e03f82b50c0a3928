//! What a reader of a file format is made of.

use std::io::Read;

use nonfinite::Format;

use super::byte_order::ByteOrder;
use super::checksum::Checksum;
use super::data::{See, ShowError};
use super::error::Error;
use super::file_format::FileFormat;
use super::source::Input;
use super::tensor::Tensor;

/// One row of the table of file formats: everything that the crate decides by file format.
pub(crate) struct Reader {
    pub(crate) format: FileFormat,
    /// The endings of the names of such files.
    pub(crate) endings: &'static [&'static str],
    /// Whether a file begins as one of this format does. The first row that says yes counts.
    pub(crate) begins: fn(&[u8]) -> bool,
    /// What the bytes hold. Ranges are within the bytes, and those of tensors as long as shape and
    /// content say.
    pub(crate) contents: fn(Input<'_>) -> Result<Contents, Error>,
    /// How a stream of this format is read, if that is possible.
    pub(crate) stream: Option<Stream>,
    /// The names of the files that a file stands for, if this is the format of an index. A search
    /// of a folder leaves these files to the index.
    pub(crate) shards: Option<ReadShards>,
    /// Whether new numbers may be written over the old ones. Requires that every tensor is
    /// [`Data::Input`](super::Data::Input), and that nothing in the file depends on the numbers.
    pub(crate) is_fixable: bool,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The tensors.
    pub(crate) tensors: Vec<Tensor>,
    /// The checksums of stored data, which the scan verifies. Those of compressed data are verified
    /// when it is decoded.
    pub(crate) checksums: Vec<Checksum>,
}

impl Contents {
    /// Adds what another part of the file holds.
    pub(crate) fn add(&mut self, more: Self) {
        self.tensors.extend(more.tensors);
        self.checksums.extend(more.checksums);
    }
}

impl From<Vec<Tensor>> for Contents {
    /// Of a format without checksums.
    fn from(tensors: Vec<Tensor>) -> Self {
        Self { tensors, checksums: Vec::new() }
    }
}

/// Reads the names of the shards in an index.
pub(crate) type ReadShards = fn(&[u8]) -> Result<Vec<String>, Error>;

/// Reads a stream, shows its numbers, and returns its tensors.
pub(crate) type ReadParts = fn(&mut dyn Read, &mut dyn Columns) -> Result<Vec<Tensor>, Error>;

/// Reads the header of a file or a stream: the description of all tensors. The length is that of the
/// file, and none for a stream. With a length, the tensors are known to lie within it.
pub(crate) type Describe = fn(&mut dyn Read, Option<usize>) -> Result<Described, Error>;

/// How a file that comes as a stream is read.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// The description of all tensors comes first: this function reads it. Files are read in this
    /// way, too.
    Described(Describe),
    /// Descriptions and data alternate: this function reads both.
    #[cfg_attr(not(feature = "arrow"), expect(dead_code, reason = "only Arrow comes in parts"))]
    InParts(ReadParts),
}

/// What a reader knows when it has read the header.
pub(crate) struct Described {
    /// The tensors, in the order of their data. Ranges are [`Data::Input`](super::Data::Input),
    /// counted from the begin of the file. A tensor of no bytes may lie anywhere.
    pub(crate) tensors: Vec<Tensor>,
    /// Bytes of the header, all of which have been read.
    pub(crate) header: usize,
    /// Where the file ends.
    pub(crate) end: End,
}

/// Where a file ends that comes as a stream.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// At this byte.
    At(usize),
    /// Behind the last tensor and padding of at most so many bytes.
    Padded(usize),
}

/// Looks at the columns of a stream while it is read. A reader gets it from the check.
#[cfg_attr(not(feature = "arrow"), expect(dead_code, reason = "only Arrow comes in parts"))]
pub(crate) trait Columns {
    /// Announces that so many more bytes of numbers are to be looked at.
    fn announce(&mut self, bytes: usize);

    /// Whether so many decoded bytes may be taken of so many bytes of the stream.
    ///
    /// # Errors
    /// [`Error::Expansion`].
    fn bound(&self, decoded: u64, read: u64) -> Result<(), Error>;

    /// Whether to go on. Readers ask where they read over much that nobody looks at.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn proceed(&self) -> Result<(), Error>;

    /// Looks at more numbers of a column: those that `show` shows, `length` bytes of them with the
    /// nulls. `column` is the place of its tensor among those that the reader will return.
    ///
    /// # Errors
    /// Those of `show` and of the check.
    fn look(
        &mut self,
        column: usize,
        numbers: (Format, ByteOrder),
        length: usize,
        show: &mut dyn FnMut(&mut See<'_>) -> Result<(), ShowError>,
    ) -> Result<(), ShowError>;
}
