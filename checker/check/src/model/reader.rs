//! The interface of a reader of a file format.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt::Display;
use std::io;
use std::path::Path;

use super::checksum::Checksum;
use super::error::Error;
use super::file_format::FileFormat;
use super::source::{Input, ReadAt};
use super::tensor::Tensor;

/// One row of the table of file formats. Holds everything that depends on the file format.
pub(crate) struct Reader {
    pub(crate) format: FileFormat,
    /// The endings of the names of such files.
    pub(crate) endings: &'static [&'static str],
    /// Whether a file with this beginning is of this format. The first row of the table that
    /// returns true reads the file.
    pub(crate) begins: fn(&[u8], &dyn ReadAt) -> bool,
    /// Reads the description of the tensors.
    pub(crate) read: Read,
    /// The names of the shards, if this is the format of an index. A search of a folder does not
    /// check these files again.
    pub(crate) shards: Option<ReadShards>,
}

/// Why a reader refuses a file: a text, the error of a library, or an [`Error`] of the crate.
pub(crate) type Refused = Box<dyn StdError + Send + Sync>;

/// The sentence about bytes that end too early: `wants` should be there, and `has` are.
pub(crate) fn truncated(has: u64, wants: u64, why: impl Display) -> String {
    format!("truncated: {} of {wants} bytes are missing: {why}", wants.saturating_sub(has))
}

/// A name that occurs twice.
pub(crate) fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// How the description of the tensors is read. Ranges are within the file, and the length of a
/// tensor's data fits its shape and content.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// From a header at the beginning, by this function. The second argument is the length of the
    /// file, the third its path, if it lies in a folder of this machine.
    Header(ReadHeader),
    /// From any part of the file, by ranges.
    Anywhere(fn(Input<'_>) -> Result<Contents, Refused>),
}

/// Reads the description of the tensors from the beginning of a file.
type ReadHeader = fn(&mut dyn io::Read, u64, Option<&Path>) -> Result<Contents, Refused>;

/// The contents of a file.
#[derive(Default)]
pub(crate) struct Contents {
    /// The tensors.
    pub(crate) tensors: Vec<Tensor>,
    /// The checksums of stored data. The scan verifies them. Checksums of compressed data are
    /// verified by the reader while it decodes.
    pub(crate) checksums: Vec<Checksum>,
    /// Whole numbers in the metadata of GGUF by key, and lengths of arrays by key and `[]`.
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Contents {
    /// Adds the contents of another part of the file.
    pub(crate) fn add(&mut self, more: Self) {
        self.tensors.extend(more.tensors);
        self.checksums.extend(more.checksums);
    }
}

impl From<Vec<Tensor>> for Contents {
    /// The contents of a file of a format without checksums.
    fn from(tensors: Vec<Tensor>) -> Self {
        Self { tensors, ..Self::default() }
    }
}

/// Reads the names of the shards in an index.
pub(crate) type ReadShards = fn(&dyn ReadAt) -> Result<Vec<String>, Error>;
