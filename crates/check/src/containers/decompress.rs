//! Decompression, for the readers of tables.

use std::io::{self, BufRead, Read};

#[cfg(feature = "arrow")]
use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// The largest window of a Zstandard frame, which is the memory that a frame may ask for. Enough
/// for all compression levels up to 20.
const WINDOW: u64 = 32 << 20;

/// LZ4 in frames.
#[cfg(feature = "arrow")]
pub(crate) fn lz4_frame(data: impl Read) -> impl Read {
    Lz4Decoder::new(data)
}

/// Zstandard, one frame after the other.
pub(crate) fn zstd<R: BufRead>(data: R) -> io::Result<Zstd<R>> {
    frame(data).map(|frame| Zstd { frame: Some(frame) })
}

fn frame<R: BufRead>(data: R) -> io::Result<StreamingDecoder<R, FrameDecoder>> {
    StreamingDecoder::new_with_max_window_size(data, WINDOW).map_err(io::Error::other)
}

/// See [`zstd`].
pub(crate) struct Zstd<R: BufRead> {
    /// None after an error.
    frame: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut now = self.frame.take().ok_or(io::ErrorKind::InvalidData)?;
            let count = now.read(out)?;
            let over = count == 0 && !out.is_empty() && !now.get_mut().fill_buf()?.is_empty();
            if !over {
                self.frame = Some(now);
                return Ok(count);
            }
            self.frame = Some(frame(now.into_inner())?);
        }
    }
}
