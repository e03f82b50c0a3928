//! Decoders of what tables are compressed with, for their readers.

use std::io::{self, Read};

#[cfg(feature = "arrow")]
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// The largest window of Zstandard that is decoded: as much memory as a frame may ask for. All levels but the two `--ultra`
/// ones above 20 stay within.
const WINDOW: u64 = 32 << 20;

/// LZ4 in frames.
#[cfg(feature = "arrow")]
pub(super) fn lz4_frame<'a>(data: &'a [u8]) -> impl Read + 'a {
    Lz4Decoder::new(data)
}

/// Zstandard, one frame after the other.
pub(super) fn zstd(data: &[u8]) -> io::Result<Zstd<'_>> {
    let frame = StreamingDecoder::new_with_max_window_size(data, WINDOW).map_err(io::Error::other)?;
    Ok(Zstd { frame })
}

/// See [`zstd`].
pub(super) struct Zstd<'a> {
    frame: StreamingDecoder<&'a [u8], FrameDecoder>,
}

impl Read for Zstd<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.frame.read(out)?;
            let rest = *self.frame.get_ref();
            if count > 0 || out.is_empty() || rest.is_empty() {
                return Ok(count);
            }
            *self = zstd(rest)?;
        }
    }
}
