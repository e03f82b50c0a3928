//! The data of a tensor: where its bytes are, and how readers hand over what has to be decoded.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use super::error::Error;
use super::source::ReadAt;

/// Where the bytes of a tensor are.
#[non_exhaustive]
pub enum Data {
    /// In the input, in this range.
    Input(Range<usize>),
    /// In another file.
    Other {
        /// The file; tensors share it.
        source: Arc<dyn ReadAt>,
        /// The bytes in it.
        range: Range<usize>,
    },
    /// The reader put them together. For short data only.
    Owned(Vec<u8>),
    /// They come out of a decoder as a stream, and are never in memory as a whole.
    Decoded(Box<dyn Decode>),
    /// A column of a table, in parts, with nulls between its numbers.
    Column(Box<dyn Column>),
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(range) => f.debug_tuple("Input").field(range).finish(),
            Self::Other { source, range } => {
                f.debug_struct("Other").field("source", source).field("range", range).finish()
            }
            Self::Owned(bytes) => f.debug_tuple("Owned").field(&bytes.len()).finish(),
            Self::Decoded(decode) => f.debug_tuple("Decoded").field(&decode.length()).finish(),
            Self::Column(column) => f.debug_tuple("Column").field(&column.parts()).finish(),
        }
    }
}

impl Data {
    /// Bytes of the data.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Input(range) | Self::Other { range, .. } => range.len(),
            Self::Owned(bytes) => bytes.len(),
            Self::Decoded(decode) => decode.length(),
            Self::Column(column) => column.parts().iter().sum(),
        }
    }

    /// Bytes that are decoded to look at the data, or that the file claims without holding them. 0
    /// for data that lies in a file as it is.
    #[must_use]
    pub fn decoded(&self) -> usize {
        match self {
            Self::Input(_) | Self::Other { .. } | Self::Owned(_) => 0,
            Self::Decoded(decode) => decode.length(),
            Self::Column(column) => column.decoded(),
        }
    }
}

/// Data that has to be decoded, such as deflated data.
pub trait Decode: Send + Sync {
    /// How many bytes [`Decode::open`] has to give. Fewer or more bytes are an error when the
    /// tensor is scanned.
    fn length(&self) -> usize;

    /// The file that the data is in, if that is not the one that was read.
    fn other(&self) -> Option<&dyn ReadAt> {
        None
    }

    /// A stream of the data. Memory must depend on what the file holds, not on what it claims.
    ///
    /// # Errors
    /// Whatever keeps the data from being decoded.
    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>>;
}

/// A column of a table: numbers with nulls among them, in parts (batches, row groups) that threads
/// take one by one.
pub trait Column: Send + Sync {
    /// Bytes of the numbers of each part, nulls included. The sum must not overflow: readers refuse
    /// such files.
    fn parts(&self) -> Vec<usize>;

    /// The file that the data is in, if that is not the one that was read.
    fn other(&self) -> Option<&dyn ReadAt> {
        None
    }

    /// Bytes that are decoded to show all parts, or that the file claims without holding them.
    /// Includes the bytes that describe nulls and lists.
    fn decoded(&self) -> usize {
        self.parts().iter().sum()
    }

    /// Shows the numbers of a part in their order, run by run. Where many nulls are left out, the
    /// column shows runs of no numbers, so that `see` can stop it there. Each thread takes the
    /// memory of a page, or of the bytes that describe nulls and lists of the part: a few hundred
    /// MiB at most, whatever the file claims.
    ///
    /// # Errors
    /// Whatever keeps the numbers from being read, and what `see` returns.
    fn show(&self, input: &[u8], part: usize, see: &mut See<'_>) -> Result<(), ShowError>;
}

/// Numbers of a column that follow one another.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Their bytes; there may be none.
    pub numbers: &'a [u8],
    /// The place of the number at an index among the numbers of the tensor; in lists of varying
    /// length, the row. Rises with the index.
    pub place: &'a dyn Fn(usize) -> usize,
    /// Which of them are not null; none if all are not. The bytes of nulls may be anything.
    pub valid: Option<&'a Valid<'a>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Run");
        text.field("bytes", &self.numbers.len())
            .field("nulls", &self.valid.is_some())
            .finish_non_exhaustive()
    }
}

/// Sets a bit for each number of a range that is not null. The first number of the range has the
/// lowest bit of the first word. All bits must be 0 before, and no fewer than there are numbers.
pub type Valid<'a> = dyn Fn(Range<usize>, &mut [u64]) + 'a;

/// Sees a run of numbers.
pub type See<'a> = dyn FnMut(Run<'_>) -> Result<(), Error> + 'a;

/// Why a part of a column was not seen to its end.
#[derive(Debug)]
pub enum ShowError {
    /// The part cannot be read or decoded.
    Data(io::Error),
    /// The function that sees the numbers returned this error.
    Seen(Error),
}

impl ShowError {
    /// The error of a check, of a tensor of this name.
    pub(crate) fn of(self, name: impl FnOnce() -> String) -> Error {
        match self {
            Self::Data(error) => Error::Decode { tensor: name(), error },
            Self::Seen(error) => error,
        }
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Data(error)
    }
}
