//! How files of optional formats begin. A build without their readers recognises the files too, and
//! says which feature is missing.

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
