//! The interface of a reader of a file format.

use std::io::Read;

use nonfinite::Format;

use super::byte_order::ByteOrder;
use super::checksum::Checksum;
use super::data::{See, ShowError};
use super::error::Error;
use super::file_format::FileFormat;
use super::source::Input;
use super::tensor::Tensor;

/// One row of the table of file formats. Holds everything that depends on the file format.
pub(crate) struct Reader {
    pub(crate) format: FileFormat,
    /// The endings of the names of such files.
    pub(crate) endings: &'static [&'static str],
    /// Whether the bytes begin like a file of this format. The first row of the table that returns
    /// true reads the file.
    pub(crate) begins: fn(&[u8]) -> bool,
    /// The contents of the bytes. Ranges are within the bytes, and the length of a tensor's data
    /// fits its shape and content.
    pub(crate) contents: fn(Input<'_>) -> Result<Contents, Error>,
    /// How a stream of this format is read, if that is possible.
    pub(crate) stream: Option<Stream>,
    /// The names of the shards, if this is the format of an index. A search of a folder does not
    /// check these files again.
    pub(crate) shards: Option<ReadShards>,
    /// Whether numbers of a file may be replaced in place. Requires that every tensor is
    /// [`Data::Input`](super::Data::Input), and that no other bytes depend on the numbers, such as
    /// checksums.
    pub(crate) is_fixable: bool,
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The tensors.
    pub(crate) tensors: Vec<Tensor>,
    /// The checksums of stored data. The scan verifies them. Checksums of compressed data are
    /// verified by the reader while it decodes.
    pub(crate) checksums: Vec<Checksum>,
}

impl Contents {
    /// Adds the contents of another part of the file.
    pub(crate) fn add(&mut self, more: Self) {
        self.tensors.extend(more.tensors);
        self.checksums.extend(more.checksums);
    }
}

impl From<Vec<Tensor>> for Contents {
    /// The contents of a file of a format without checksums.
    fn from(tensors: Vec<Tensor>) -> Self {
        Self { tensors, checksums: Vec::new() }
    }
}

/// Reads the names of the shards in an index.
pub(crate) type ReadShards = fn(&[u8]) -> Result<Vec<String>, Error>;

/// Reads a stream, shows its numbers, and returns its tensors.
pub(crate) type ReadParts = fn(&mut dyn Read, &mut dyn Columns) -> Result<Vec<Tensor>, Error>;

/// Reads the header of a file or a stream: the description of all tensors. The second argument is
/// the length of the file, and none for a stream. With a length, all tensors must lie within it.
pub(crate) type Describe = fn(&mut dyn Read, Option<usize>) -> Result<Described, Error>;

/// How a stream is read.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// The description of all tensors comes first, and this function reads it. Files are read in
    /// this way, too.
    Described(Describe),
    /// Descriptions and data alternate, and this function reads both.
    #[cfg_attr(not(feature = "arrow"), expect(dead_code, reason = "only Arrow comes in parts"))]
    InParts(ReadParts),
}

/// The result of reading a header.
pub(crate) struct Described {
    /// The tensors, in the order of their data. Ranges are [`Data::Input`](super::Data::Input),
    /// counted from the beginning of the file. A tensor of 0 bytes may lie anywhere.
    pub(crate) tensors: Vec<Tensor>,
    /// The length of the header. All of it has been read.
    pub(crate) header: usize,
    /// The end of the file.
    pub(crate) end: End,
}

/// The end of a file that is read as a stream.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// At this byte.
    At(usize),
    /// Behind the last tensor and at most this many bytes of padding.
    Padded(usize),
}

/// Looks at the columns of a stream while it is read. The check passes it to the reader.
#[cfg_attr(not(feature = "arrow"), expect(dead_code, reason = "only Arrow comes in parts"))]
pub(crate) trait Columns {
    /// Announces that this many more bytes of numbers follow.
    fn announce(&mut self, bytes: usize);

    /// Checks that this number of decoded bytes is allowed for this number of bytes of the stream.
    ///
    /// # Errors
    /// [`Error::Expansion`].
    fn bound(&self, decoded: u64, read: u64) -> Result<(), Error>;

    /// Whether to go on. Readers call this while they skip many bytes.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn proceed(&self) -> Result<(), Error>;

    /// Looks at more numbers of a column. `show` shows them; they have `length` bytes, nulls
    /// included. `column` is the index of its tensor among the tensors that the reader will return.
    ///
    /// # Errors
    /// The errors of `show` and of the check.
    fn look(
        &mut self,
        column: usize,
        numbers: (Format, ByteOrder),
        length: usize,
        show: &mut dyn FnMut(&mut See<'_>) -> Result<(), ShowError>,
    ) -> Result<(), ShowError>;
}
