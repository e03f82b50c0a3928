//! The data of a tensor: the place of its bytes, or a decoder from the reader.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use super::error::Error;
use super::source::ReadAt;

/// The place of the bytes of a tensor.
pub(crate) enum Data {
    /// In the input, in this range.
    Input(Range<usize>),
    /// In another file.
    Other {
        /// The file, which tensors share.
        source: Arc<dyn ReadAt>,
        /// The range in this file.
        range: Range<usize>,
    },
    /// Bytes that the reader has copied together. For short data only.
    Owned(Vec<u8>),
    /// A decoder gives the bytes as a stream. They are never in memory as a whole.
    Decoded(Box<dyn Decode>),
    /// A column of a table, in parts, with nulls between its numbers.
    #[cfg_attr(not(feature = "tables"), allow(dead_code, reason = "only tables have columns"))]
    Column(Box<dyn Column>),
}

impl Data {
    /// Bytes of the data.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Input(range) | Self::Other { range, .. } => range.len(),
            Self::Owned(bytes) => bytes.len(),
            Self::Decoded(decode) => decode.length(),
            Self::Column(column) => column.parts().iter().sum(),
        }
    }

    /// Bytes that have to be decoded to look at the data, or that the file claims without holding
    /// them. 0 for data that lies in a file unencoded.
    pub(crate) fn decoded(&self) -> usize {
        match self {
            Self::Input(_) | Self::Other { .. } | Self::Owned(_) => 0,
            Self::Decoded(decode) => decode.length(),
            Self::Column(column) => column.decoded(),
        }
    }
}

/// Data that has to be decoded, such as deflated data.
pub(crate) trait Decode: Send + Sync {
    /// The number of bytes that [`Decode::open`] must return. Fewer or more bytes are an error when
    /// the tensor is scanned.
    fn length(&self) -> usize;

    /// A stream of the data. Its memory must depend on the bytes of the file, not on lengths that
    /// the file claims.
    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>>;
}

/// A column of a table: numbers with nulls among them, in parts (batches, row groups) that threads
/// take one by one.
pub(crate) trait Column: Send + Sync {
    /// Bytes of the numbers of each part, nulls included. The sum must not overflow: readers refuse
    /// such files.
    fn parts(&self) -> Vec<usize>;

    /// Bytes that have to be decoded to show all parts, or that the file claims without holding
    /// them. Includes the bytes that describe nulls and lists.
    fn decoded(&self) -> usize {
        self.parts().iter().sum()
    }

    /// Shows the numbers of a part in their order, run by run. Where many nulls are left out, the
    /// column shows empty runs, so that `see` can stop it. Unless `finite` numbers matter, the
    /// column may leave out runs that hold nothing else.
    fn show(&self, part: usize, finite: bool, see: &mut See<'_>) -> Result<(), ShowError>;
}

/// Consecutive numbers of a column.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The bytes of the numbers. May be empty.
    pub(crate) numbers: &'a [u8],
    /// The place in the tensor of the number at an index of the run. In lists of varying length,
    /// the place is the row. Rises with the index.
    pub(crate) place: &'a dyn Fn(usize) -> usize,
    /// The numbers that are not null. None if no number is null. The bytes of nulls have no
    /// meaning.
    pub(crate) valid: Option<&'a Valid<'a>>,
}

/// Sets a bit for each number of a range that is not null. The first number of the range has the
/// lowest bit of the first word. All bits must be 0 before, and there must be a bit for each
/// number.
pub(crate) type Valid<'a> = dyn Fn(Range<usize>, &mut [u64]) + 'a;

/// Sees a run of numbers.
pub(crate) type See<'a> = dyn FnMut(Run<'_>) -> Result<(), Error> + 'a;

/// Why a part of a column was not seen to its end.
#[derive(Debug)]
pub(crate) enum ShowError {
    /// The part cannot be read or decoded.
    Data(io::Error),
    /// The function that sees the numbers returned this error.
    Seen(Error),
}

impl ShowError {
    /// As the error of a check of the tensor with this name.
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
