//! Decoders of what tables are compressed with, for their readers.

use std::io::{self, Read};

/// The largest window of Zstandard that is decoded, as the logarithm of its bytes: what `zstd` itself takes without being
/// asked to.
const WINDOW: u32 = 27;

/// LZ4 in frames.
pub(super) fn lz4_frame<'a>(data: &'a [u8]) -> impl Read + 'a {
    lz4_flex::frame::FrameDecoder::new(data)
}

/// Zstandard, one frame after the other.
pub(super) fn zstd<'a>(data: &'a [u8]) -> io::Result<impl Read + 'a> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(data)?;
    decoder.window_log_max(WINDOW)?;
    Ok(decoder)
}
