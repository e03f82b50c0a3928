//! The data of a tensor: the place of its bytes, or a decoder from the reader.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use super::source::ReadAt;

/// The place of the bytes of a tensor.
pub(crate) enum Data {
    /// In the input, in this range.
    Input(Range<u64>),
    /// In another file.
    Other {
        /// The file, which tensors share.
        source: Arc<dyn ReadAt>,
        /// The range in this file.
        range: Range<u64>,
    },
    /// Bytes that the reader has copied together. For short data only.
    Owned(Vec<u8>),
    /// A decoder gives the bytes as a stream. They are never in memory as a whole.
    Decoded(Box<dyn Decode>),
}

/// Bytes in a range. None in a range that ends before it begins, as [`ExactSizeIterator::len`] has
/// it: rules may ask for what would lie behind a tensor.
pub(crate) fn span(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

impl Data {
    /// Bytes of the data.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Input(range) | Self::Other { range, .. } => span(range),
            Self::Owned(bytes) => bytes.len() as u64,
            Self::Decoded(decode) => decode.length(),
        }
    }

    /// Bytes that the scan has to decode. 0 for data that lies in a file unencoded.
    pub(crate) fn decoded(&self) -> u64 {
        if let Self::Decoded(decode) = self { decode.length() } else { 0 }
    }
}

/// Data that has to be decoded, such as deflated data.
pub(crate) trait Decode: Send + Sync {
    /// The number of bytes that [`Decode::open`] must return. Fewer or more bytes are an error when
    /// the tensor is scanned.
    fn length(&self) -> u64;

    /// A stream of the data. Its memory must not depend on lengths that the file claims.
    fn open<'a>(&'a self, source: &'a dyn ReadAt) -> io::Result<Box<dyn Read + 'a>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let backwards = Range { start: 5, end: 3 };
        for (range, expected) in [(3..5, 2), (5..5, 0), (backwards, 0), (0..u64::MAX, u64::MAX)] {
            assert_eq!(span(&range), expected, "{range:?}");
        }
    }
}
