//! The types that all other modules share: files, file formats, tensors and numbers.
//!
//! This is the lowest module of the crate. It names no reader and no file format. Each format adds
//! its own constant to [`FileFormat`], and its own error travels inside [`Error::Refused`].

mod block_types;
mod blocks;
mod by_kind;
mod byte_order;
mod checksum;
pub(crate) mod codes;
mod data;
mod dtype;
mod error;
mod file_format;
mod format_name;
mod found;
#[cfg(not(unix))]
mod not_unix;
mod plain_text;
pub(crate) mod ranges;
pub(crate) mod reader;
mod reason;
mod rounded;
pub(crate) mod source;
mod tensor;

pub(crate) use blocks::{Blocks, Scales};
pub use by_kind::{ByKind, Kinds};
pub(crate) use byte_order::{ByteOrder, swap_bytes};
pub(crate) use checksum::{Checksum, verified};
pub(crate) use data::{Data, Decode, span};
pub use error::Error;
#[cfg(feature = "remote")]
pub(crate) use error::HasChanged;
pub use file_format::FileFormat;
pub use found::{Extreme, First, KindReport, Large, Stats};
pub(crate) use plain_text::{
    LONGEST_TEXT, holds_text, is_plain_text, is_text, may_hold_numbers, text_of,
};
pub use reason::Reason;
pub use rounded::rounded;
pub(crate) use source::Input;
pub use source::{Opener, ReadAt, Reads, Source, open_files_by};
pub(crate) use tensor::{Content, FullDescription, Layout, Tensor, coordinate, last_part, words};
pub use tensor::{Description, Storage};
