//! The data of a tensor: the place of its bytes, or a decoder from the reader.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

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
}

impl Data {
    /// Bytes of the data.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Input(range) | Self::Other { range, .. } => range.len(),
            Self::Owned(bytes) => bytes.len(),
            Self::Decoded(decode) => decode.length(),
        }
    }

    /// Bytes that the scan has to decode. 0 for data that lies in a file unencoded.
    pub(crate) fn decoded(&self) -> usize {
        match self {
            Self::Input(_) | Self::Other { .. } | Self::Owned(_) => 0,
            Self::Decoded(decode) => decode.length(),
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
