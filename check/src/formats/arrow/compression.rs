//! Compressed buffers. The first 8 bytes are the length of the decompressed data, or -1 if the rest
//! is not compressed.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use crate::containers::decompress;

/// How the buffers of a batch are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// LZ4 frames.
    Lz4,
    /// Zstandard.
    Zstd,
}

/// The most bytes of validity bits and offsets that a thread keeps in memory for a part of a
/// column, all levels together. For a file only decompressed bytes count, for a stream all.
pub(super) const MAX_IN_MEMORY: usize = 256 << 20;

/// The data of a buffer, as it lies in the file or as a stream.
pub(super) enum Opened<'a> {
    Here(&'a [u8]),
    Stream(Box<dyn Read + 'a>),
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Opens a buffer.
pub(super) fn open(buffer: &[u8], codec: Option<Codec>) -> io::Result<Opened<'_>> {
    let Some(codec) = codec.filter(|_| !buffer.is_empty()) else { return Ok(Opened::Here(buffer)) };
    let (&length, data) = buffer.split_first_chunk().ok_or_else(|| bad(NO_LENGTH))?;
    Ok(match decompressed(length)? {
        None => Opened::Here(data),
        Some(0) => Opened::Here(&[]),
        Some(length) => Opened::Stream(codec.decompress(data, length)?),
    })
}

/// Opens the buffer that begins at the place of a stream and has this many bytes.
pub(super) fn open_stream<'a>(
    mut stream: impl Read + 'a,
    length: usize,
    codec: Option<Codec>,
) -> io::Result<Opened<'a>> {
    let Some(codec) = codec.filter(|_| length > 0) else {
        return Ok(Opened::Stream(Box::new(stream)));
    };
    let mut prefix = [0; 8];
    if length < prefix.len() {
        return Err(bad(NO_LENGTH));
    }
    stream.read_exact(&mut prefix)?;
    Ok(match decompressed(prefix)? {
        None => Opened::Stream(Box::new(stream)),
        Some(0) => Opened::Here(&[]),
        Some(length) => Opened::Stream(codec.decompress(BufReader::new(stream), length)?),
    })
}

const NO_LENGTH: &str = "a buffer without its length";

/// The decompressed length that the prefix of a buffer gives; none if the buffer is not compressed.
fn decompressed(prefix: [u8; 8]) -> io::Result<Option<u64>> {
    match i64::from_le_bytes(prefix) {
        -1 => Ok(None),
        length => u64::try_from(length).map(Some).map_err(|_| bad("a buffer of negative length")),
    }
}

impl Codec {
    fn decompress<'a>(
        self,
        data: impl BufRead + 'a,
        length: u64,
    ) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Lz4 => Box::new(decompress::lz4_frame(data).take(length)),
            Self::Zstd => Box::new(decompress::zstd(data)?.take(length)),
        })
    }
}

/// The first `length` bytes of a buffer. Fails if the buffer is shorter. At most `left` bytes are
/// read into memory.
pub(super) fn load(opened: Opened<'_>, length: usize, left: usize) -> io::Result<Cow<'_, [u8]>> {
    let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
    match opened {
        Opened::Here(bytes) => bytes.get(..length).map(Cow::Borrowed).ok_or_else(end),
        Opened::Stream(stream) => {
            if length > left {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "too many rows in a compressed batch",
                ));
            }
            // The memory grows with the bytes that are there, not with the claimed length.
            let mut bytes = Vec::new();
            stream.take(length as u64).read_to_end(&mut bytes)?;
            if bytes.len() == length { Ok(Cow::Owned(bytes)) } else { Err(end()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lz4_flex::frame::FrameEncoder;

    use super::*;

    #[test]
    fn memory_is_bounded() {
        let mut encoder = FrameEncoder::new(Vec::new());
        encoder.write_all(&[7; 64]).expect("a vector takes all");
        let buffer = [&64i64.to_le_bytes()[..], &encoder.finish().expect("a whole frame")].concat();
        let opened = || open(&buffer, Some(Codec::Lz4)).expect("a length and a frame");
        for (length, left) in [(64, 64), (36, 36), (0, 0)] {
            assert_eq!(load(opened(), length, left).expect("there is enough"), &[7; 64][..length]);
        }
        let refused = load(opened(), 64, 63).expect_err("there is too little");
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
        let short = load(opened(), 65, 100).expect_err("there are no more");
        assert_eq!(short.kind(), io::ErrorKind::UnexpectedEof);
        // A buffer that is not compressed is borrowed, so a limit of 0 bytes is enough.
        assert!(matches!(load(Opened::Here(&[7; 64]), 64, 0), Ok(Cow::Borrowed([7, ..]))));
    }
}
