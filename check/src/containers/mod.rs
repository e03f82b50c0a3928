//! Containers and compression that several file formats share.

#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) mod decompress;
pub mod protobuf;
pub mod zip;
mod zip_gaps;
