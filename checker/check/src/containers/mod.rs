//! Containers and compression that several file formats share.

pub(crate) mod protobuf;
pub mod zip;
