//! Buffers that are compressed: each begins with its length, decompressed, in 8 bytes; -1 says that it is not.

use std::borrow::Cow;
use std::io::{self, Read};

use super::super::decompress;

/// How the buffers of a batch are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// LZ4 frames.
    Lz4,
    /// Zstandard.
    Zstd,
}

/// The longest buffer of bits or offsets that is decompressed into memory.
const MAX_IN_MEMORY: usize = 256 << 20;

/// The data of a buffer, as it lies in the file or as a stream.
pub(super) enum Opened<'a> {
    Here(&'a [u8]),
    Stream(Box<dyn Read + 'a>),
}

/// Opens a buffer.
pub(super) fn open(buffer: &[u8], codec: Option<Codec>) -> io::Result<Opened<'_>> {
    let Some(codec) = codec else { return Ok(Opened::Here(buffer)) };
    if buffer.is_empty() {
        return Ok(Opened::Here(buffer));
    }
    let bad = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    let (length, data) = buffer.split_first_chunk().ok_or_else(|| bad("a buffer without its length"))?;
    let length = match i64::from_le_bytes(*length) {
        -1 => return Ok(Opened::Here(data)),
        0 => return Ok(Opened::Here(&[])),
        length => u64::try_from(length).map_err(|_| bad("a buffer of negative length"))?,
    };
    let stream: Box<dyn Read> = match codec {
        Codec::Lz4 => Box::new(decompress::lz4_frame(data)),
        Codec::Zstd => Box::new(decompress::zstd(data)?),
    };
    Ok(Opened::Stream(Box::new(stream.take(length))))
}

/// The first bytes of a buffer, all of which must be there.
pub(super) fn load(buffer: &[u8], codec: Option<Codec>, length: usize) -> io::Result<Cow<'_, [u8]>> {
    let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
    match open(buffer, codec)? {
        Opened::Here(bytes) => bytes.get(..length).map(Cow::Borrowed).ok_or_else(end),
        Opened::Stream(_) if length > MAX_IN_MEMORY => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "too many rows in a compressed batch"))
        }
        Opened::Stream(stream) => {
            // Grows with what is there, not with what is claimed.
            let mut bytes = Vec::new();
            stream.take(length as u64).read_to_end(&mut bytes)?;
            if bytes.len() == length { Ok(Cow::Owned(bytes)) } else { Err(end()) }
        }
    }
}
