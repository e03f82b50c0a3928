//! How files begin that this build does not read. A message names their format, so that a user knows
//! what was not looked at.

use std::ops::RangeInclusive;

/// How an Arrow file begins.
pub(crate) const ARROW_FILE: &[u8] = b"ARROW1\0\0";
/// How each message of an Arrow stream begins.
pub(crate) const ARROW_MESSAGE: &[u8] = b"\xFF\xFF\xFF\xFF";
/// How a Parquet file begins.
pub(crate) const PARQUET: &[u8] = b"PAR1";

/// Whether a file begins as an Arrow file or an Arrow stream does. The first message of a stream is
/// a schema.
pub(crate) fn is_arrow(bytes: &[u8]) -> bool {
    let stream = || {
        let length = bytes.strip_prefix(ARROW_MESSAGE)?.first_chunk()?;
        Some((1..1 << 30).contains(&i32::from_le_bytes(*length)))
    };
    bytes.starts_with(ARROW_FILE) || stream().unwrap_or(false)
}

/// Whether a file begins as a Parquet file does.
pub(crate) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(PARQUET)
}

/// The feature that adds the reader of this file, if the build leaves it out.
pub(crate) fn not_built(bytes: &[u8]) -> Option<&'static str> {
    if !cfg!(feature = "arrow") && is_arrow(bytes) {
        Some("arrow")
    } else if !cfg!(feature = "parquet") && is_parquet(bytes) {
        Some("parquet")
    } else {
        None
    }
}

/// How files begin that may hold tensors and that no reader of this crate reads.
const NOT_READ: [(&[u8], &str); 9] = [
    (b"version https://git-lfs.github.com/", "a pointer of Git LFS in place of the file itself"),
    (b"\x89HDF\r\n\x1A\n", "an HDF5 file (Keras, NetCDF)"),
    (b"PK", "a zip archive"),
    (b"\x1F\x8B", "a file compressed by gzip"),
    (b"BZh", "a file compressed by bzip2"),
    (b"\xFD7zXZ\0", "a file compressed by xz"),
    (b"\x28\xB5\x2F\xFD", "a file compressed by Zstandard"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"\x80", "a pickle of Python"),
];

/// The versions of Python's pickles that have a version. The second byte holds it.
const PICKLES: RangeInclusive<u8> = 2..=5;

/// Where the signature of a tar archive is, and the signature.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// What a file is, if it may hold tensors and no reader of this crate reads it.
pub(crate) fn not_read(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(TAR.0..).is_some_and(|bytes| bytes.starts_with(TAR.1)) {
        return Some("a tar archive");
    }
    let (signature, what) = NOT_READ.iter().find(|(signature, _)| bytes.starts_with(signature))?;
    let pickle = *signature == b"\x80";
    let is_version = || bytes.get(1).is_some_and(|version| PICKLES.contains(version));
    (!pickle || is_version()).then_some(*what)
}
