//! The types that all other modules share: files, file formats, tensors, numbers and findings.
//!
//! This is the lowest module of the crate. It names no reader and no file format. Each format adds
//! its own constant to [`FileFormat`], and its own error travels inside [`Error::Refused`].

mod blocks;
mod by_kind;
mod byte_order;
mod checksum;
mod data;
mod error;
mod file_format;
mod finding;
mod gaps;
#[cfg(not(unix))]
mod not_unix;
pub(crate) mod number;
pub(crate) mod reader;
mod reason;
pub(crate) mod source;
mod tensor;
mod text;

pub use blocks::{Blocks, Scales};
pub use by_kind::{ByKind, Kinds};
pub use byte_order::ByteOrder;
pub(crate) use byte_order::swap_bytes;
pub(crate) use checksum::{Checksum, verified};
pub use data::{Column, Data, Decode, Run, See, ShowError, Valid};
pub use error::Error;
#[cfg(feature = "remote")]
pub(crate) use error::HasChanged;
pub use file_format::FileFormat;
pub use finding::{Extreme, Finding, First, Large, Stats};
pub(crate) use gaps::{gaps, may_hold_numbers};
pub use reason::{Asks, Reason};
pub use source::{Input, Origin, ReadAt, Source};
pub(crate) use tensor::Description;
pub use tensor::{Content, Layout, Tensor};
pub(crate) use text::is_text;
