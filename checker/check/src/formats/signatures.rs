//! Signatures of files that this crate does not read. A message names the format, so that a user
//! knows which files were not checked.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::model::ReadAt;
use crate::model::ranges::read;

/// The first line of a pointer file of Git LFS.
pub(crate) const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/";

/// What a table is, and how to check its columns.
macro_rules! table {
    ($format:literal) => {
        concat!(
            $format,
            " file, which is a table and no model: in Python, read it with pyarrow and pass each ",
            "chunk of a column to nonfinite.all_finite"
        )
    };
}
const ARROW: &str = table!("an Arrow");
const PARQUET: &str = table!("a Parquet");

/// Signatures of files that may hold tensors, and that this crate has no reader for.
const NOT_READ: [(&[u8], &str); 10] = [
    (b"ARROW1\0\0", ARROW),
    (b"PAR1", PARQUET),
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

/// Whether a file begins like a stream of Arrow: with the mark of a message, and its length.
fn is_arrow_stream(bytes: &[u8]) -> bool {
    let length = bytes.strip_prefix(b"\xFF\xFF\xFF\xFF").and_then(|rest| rest.first_chunk());
    length.is_some_and(|length| (1..1 << 30).contains(&i32::from_le_bytes(*length)))
}

/// The kind of a file that may hold tensors, and that this crate has no reader for.
pub(crate) fn not_read(bytes: &[u8]) -> Option<&'static str> {
    if is_arrow_stream(bytes) {
        return Some(ARROW);
    }
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
    match path.extension()?.to_ascii_lowercase().to_str()? {
        "pb" => Some("a .pb file (a tensor of ONNX, or a graph of TensorFlow)"),
        "arrow" | "arrows" | "feather" | "ipc" => Some(ARROW),
        "parquet" => Some(PARQUET),
        _ => None,
    }
}

/// What a picture or a document is: files that lie beside models and hold no tensors. The end must
/// fit, too, so that nothing stands behind a picture.
pub(crate) fn picture(file: &dyn ReadAt) -> io::Result<Option<&'static str>> {
    /// Bytes of the beginning and of the end. A PDF ends within these.
    const FEW: u64 = 1 << 10;
    let length = file.length();
    let beginning = read(file, 0..length.min(FEW))?;
    let end = read(file, length.saturating_sub(FEW)..length)?;
    let is = |first: &[u8], last: &[u8]| beginning.starts_with(first) && end.ends_with(last);
    // The length in the header of a RIFF file counts from byte 8 on.
    let riff = || {
        let claimed = beginning.get(4..8)?.first_chunk()?;
        let fits = u64::from(u32::from_le_bytes(*claimed)) + 8 == length;
        Some(fits && is(b"RIFF", b"") && beginning[8..].starts_with(b"WEBP"))
    };
    Ok(if is(b"\x89PNG\r\n\x1A\n", b"IEND\xAE\x42\x60\x82") {
        Some("a picture (PNG)")
    } else if is(b"\xFF\xD8\xFF", b"\xFF\xD9") {
        Some("a picture (JPEG)")
    } else if is(b"GIF87a", b";") || is(b"GIF89a", b";") {
        Some("a picture (GIF)")
    } else if riff().unwrap_or(false) {
        Some("a picture (WebP)")
    } else if is(b"%PDF-", b"") && end.trim_ascii_end().ends_with(b"%%EOF") {
        Some("a document (PDF)")
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables are named by their first bytes, and by their names if the bytes say nothing.
    #[test]
    fn tables() {
        let stream = b"\xFF\xFF\xFF\xFF\x80\0\0\0";
        for (bytes, what) in [(&b"ARROW1\0\0"[..], ARROW), (stream, ARROW), (b"PAR1", PARQUET)] {
            assert_eq!(not_read(bytes), Some(what));
        }
        assert_eq!(not_read(b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), None);
        assert_eq!(not_read(b"\xFF\xFF\xFF\xFF\0\0\0\0"), None);
        assert_eq!(not_read(b""), None);
        for (name, what) in [
            ("x.arrow", Some(ARROW)),
            ("x.ARROWS", Some(ARROW)),
            ("x.feather", Some(ARROW)),
            ("x.ipc", Some(ARROW)),
            ("x.Parquet", Some(PARQUET)),
            ("parquet", None),
        ] {
            assert_eq!(not_read_by_name(Path::new(name)), what, "{name}");
        }
    }

    /// A picture has its beginning and its end, and nothing before or behind them.
    #[test]
    fn pictures() {
        let picture = |bytes: &[u8]| picture(&bytes).expect("bytes in memory");
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
