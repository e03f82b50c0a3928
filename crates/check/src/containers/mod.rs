//! Containers and compression that several file formats share.

#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) mod decompress;
pub(crate) mod protobuf;
pub mod zip;
