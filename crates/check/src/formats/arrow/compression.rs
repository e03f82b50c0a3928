//! Compressed buffers. The first 8 bytes are the length of the decompressed data, or -1 if the rest
//! is not compressed.

use std::io::{self, Read};
use std::ops::Range;

use super::bad;
use crate::containers::decompress;

/// How the buffers of a batch are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// LZ4 frames.
    Lz4,
    /// Zstandard.
    Zstd,
}

/// A buffer.
pub(super) enum Opened<'a> {
    /// As it lies in the file.
    Here(&'a [u8]),
    /// Compressed, with the decompressed length.
    Compressed(&'a [u8], Codec, u64),
}

/// Opens a buffer.
pub(super) fn open(buffer: &[u8], codec: Option<Codec>) -> io::Result<Opened<'_>> {
    let Some(codec) = codec.filter(|_| !buffer.is_empty()) else { return Ok(Opened::Here(buffer)) };
    let (length, data) =
        buffer.split_first_chunk().ok_or_else(|| bad("a buffer without its length"))?;
    match i64::from_le_bytes(*length) {
        -1 => Ok(Opened::Here(data)),
        length => {
            let length = u64::try_from(length).map_err(|_| bad("a buffer of negative length"))?;
            Ok(Opened::Compressed(data, codec, length))
        }
    }
}

impl Opened<'_> {
    /// Appends a range of the buffer. Fails if the buffer is shorter. The memory grows with the
    /// bytes that are there.
    pub(super) fn append(&self, range: Range<usize>, to: &mut Vec<u8>) -> io::Result<()> {
        let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match *self {
            Self::Here(bytes) => to.extend_from_slice(bytes.get(range).ok_or_else(end)?),
            Self::Compressed(_, _, length) if range.end as u64 > length => return Err(end()),
            Self::Compressed(data, codec, _) => {
                let mut stream: Box<dyn Read> = match codec {
                    Codec::Lz4 => Box::new(decompress::lz4_frame(data)),
                    Codec::Zstd => Box::new(decompress::zstd(data)?),
                };
                io::copy(&mut stream.by_ref().take(range.start as u64), &mut io::sink())?;
                if stream.take(range.len() as u64).read_to_end(to)? < range.len() {
                    return Err(end());
                }
            }
        }
        Ok(())
    }
}
