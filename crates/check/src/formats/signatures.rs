//! Signatures of files that this build does not read. A message names the format, so that a user
//! knows which files were not checked.

use std::ops::RangeInclusive;
use std::path::Path;

/// The signature of an Arrow file.
pub(crate) const ARROW_FILE: &[u8] = b"ARROW1\0\0";
/// The first bytes of each message of an Arrow stream.
pub(crate) const ARROW_MESSAGE: &[u8] = b"\xFF\xFF\xFF\xFF";
/// The signature of a Parquet file.
pub(crate) const PARQUET: &[u8] = b"PAR1";

/// Whether a file begins like an Arrow file or an Arrow stream. The first message of a stream is a
/// schema.
pub(crate) fn is_arrow(bytes: &[u8]) -> bool {
    let stream = || {
        let length = bytes.strip_prefix(ARROW_MESSAGE)?.first_chunk()?;
        Some((1..1 << 30).contains(&i32::from_le_bytes(*length)))
    };
    bytes.starts_with(ARROW_FILE) || stream().unwrap_or(false)
}

/// Whether a file begins like a Parquet file.
pub(crate) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(PARQUET)
}

/// The feature with the reader of this file, if the build leaves it out.
pub(crate) fn not_built(bytes: &[u8]) -> Option<&'static str> {
    let is_table = is_arrow(bytes) || is_parquet(bytes);
    (is_table && !cfg!(feature = "tables")).then_some("tables")
}

/// The first line of a pointer file of Git LFS.
pub(crate) const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/";

/// Signatures of files that may hold tensors, and that this crate has no reader for.
const NOT_READ: [(&[u8], &str); 8] = [
    (b"\x89HDF\r\n\x1A\n", "an HDF5 file (Keras, NetCDF)"),
    (b"PK", "a zip archive"),
    (b"\x1F\x8B", "a file compressed by gzip"),
    (b"BZh", "a file compressed by bzip2"),
    (b"\xFD7zXZ\0", "a file compressed by xz"),
    (b"\x28\xB5\x2F\xFD", "a file compressed by Zstandard"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"\x80", "a pickle of Python"),
];

/// The protocol versions of pickles that begin with their version. The second byte is the version.
const PICKLES: RangeInclusive<u8> = 2..=5;

/// The offset of the signature of a tar archive, and the signature.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// The kind of a file that may hold tensors, and that this crate has no reader for.
pub(crate) fn not_read(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(TAR.0..).is_some_and(|bytes| bytes.starts_with(TAR.1)) {
        return Some("a tar archive");
    }
    let (signature, what) = NOT_READ.iter().find(|(signature, _)| bytes.starts_with(signature))?;
    let pickle = *signature == b"\x80";
    let is_version = || bytes.get(1).is_some_and(|version| PICKLES.contains(version));
    (!pickle || is_version()).then_some(*what)
}

/// The kind of a file that may hold tensors, and that only its name tells.
pub(crate) fn not_read_by_name(path: &Path) -> Option<&'static str> {
    let is_message = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pb"));
    is_message.then_some("a .pb file (a tensor of ONNX, or a graph of TensorFlow)")
}

/// What a picture or a document is: files that lie beside models and hold no tensors. The end must
/// fit, too, so that nothing stands behind a picture.
pub(crate) fn picture(bytes: &[u8]) -> Option<&'static str> {
    let is = |begin: &[u8], end: &[u8]| bytes.starts_with(begin) && bytes.ends_with(end);
    // The length in the header of a RIFF file counts from byte 8 on.
    let riff = || {
        let length = bytes.get(4..8)?.first_chunk()?;
        let fits = u32::from_le_bytes(*length) as usize + 8 == bytes.len();
        Some(fits && bytes.starts_with(b"RIFF") && bytes[8..].starts_with(b"WEBP"))
    };
    let trimmed = bytes.trim_ascii_end();
    if is(b"\x89PNG\r\n\x1A\n", b"IEND\xAE\x42\x60\x82") {
        Some("a picture (PNG)")
    } else if is(b"\xFF\xD8\xFF", b"\xFF\xD9") {
        Some("a picture (JPEG)")
    } else if is(b"GIF87a", b";") || is(b"GIF89a", b";") {
        Some("a picture (GIF)")
    } else if riff().unwrap_or(false) {
        Some("a picture (WebP)")
    } else if bytes.starts_with(b"%PDF-") && trimmed.ends_with(b"%%EOF") {
        Some("a document (PDF)")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture has its beginning and its end, and nothing before or behind them.
    #[test]
    fn pictures() {
        let pictures: [(&[u8], &str); 6] = [
            (b"\x89PNG\r\n\x1A\n...IEND\xAE\x42\x60\x82", "a picture (PNG)"),
            (b"\xFF\xD8\xFF...\xFF\xD9", "a picture (JPEG)"),
            (b"GIF87a...;", "a picture (GIF)"),
            (b"GIF89a...;", "a picture (GIF)"),
            (b"RIFF\x08\0\0\0WEBP....", "a picture (WebP)"),
            (b"%PDF-1.7...%%EOF", "a document (PDF)"),
        ];
        for (bytes, what) in pictures {
            assert_eq!(picture(bytes), Some(what));
            for other in [&[bytes, &[1]].concat()[..], &[&[1], bytes].concat(), &bytes[1..]] {
                assert_eq!(picture(other), None, "{what}");
            }
            let mut other = bytes.to_vec();
            other[1] ^= 1;
            assert_eq!(picture(&other), None, "{what}");
        }
        assert_eq!(picture(b"%PDF-1.7...%%EOF\r\n"), Some("a document (PDF)"));
        // The length fits, but one of the two names is another.
        assert_eq!(picture(b"RIFF\x08\0\0\0WAVE...."), None);
        assert_eq!(picture(b"RIFX\x08\0\0\0WEBP...."), None);
        assert_eq!(picture(b"RIFF\x09\0\0\0WEBP...."), None);
        assert_eq!(picture(b"RIFF"), None);
        assert_eq!(picture(b""), None);
    }
}
