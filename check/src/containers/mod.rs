//! What several file formats are packed in. Readers of formats use these modules.

#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) mod decompress;
pub mod protobuf;
pub mod zip;
mod zip_gaps;
