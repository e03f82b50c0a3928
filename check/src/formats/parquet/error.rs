//! Why a Parquet file cannot be checked.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use ::parquet::errors::ParquetError;

use crate::model::{self, FileFormat};

/// Why a Parquet file cannot be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin with [`MAGIC`](super::MAGIC).
    Magic,
    /// The file does not end with a footer.
    Truncated,
    /// The footer is encrypted.
    Encrypted,
    /// The footer is not valid.
    Metadata(ParquetError),
    /// The crate `parquet` panicked over the footer.
    Panic,
    /// The schema is not valid, or claims more elements than it has.
    Schema,
    /// Groups of the schema are nested too deeply.
    Depth,
    /// A length or an offset is negative or too large.
    Length(&'static str),
    /// Names of columns, which include the names of their groups, are far longer than the footer.
    Names,
    /// The data of a column lies outside of the file.
    Outside(String),
    /// The columns take more bytes than the file has.
    Overlap,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a Parquet file"),
            Self::Truncated => f.write_str("the Parquet file does not end with its footer"),
            Self::Encrypted => f.write_str("the footer of the Parquet file is encrypted"),
            Self::Metadata(error) => write!(f, "bad Parquet footer: {error}"),
            Self::Schema => f.write_str("bad Parquet footer: a schema that is not whole"),
            Self::Depth => f.write_str("bad Parquet footer: groups that are nested too deeply"),
            Self::Panic => f.write_str("bad Parquet footer: its reader gave up"),
            Self::Length(what) => write!(f, "bad Parquet footer: the {what} cannot be"),
            Self::Names => f.write_str("bad Parquet footer: names that are far longer than it"),
            Self::Outside(name) => write!(f, "column {name:?} lies outside of the file"),
            Self::Overlap => f.write_str("bad Parquet footer: columns that overlap"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Metadata(error) => Some(error),
            Self::Magic
            | Self::Truncated
            | Self::Encrypted
            | Self::Panic
            | Self::Schema
            | Self::Depth
            | Self::Length(_)
            | Self::Names
            | Self::Outside(_)
            | Self::Overlap => None,
        }
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::PARQUET, error)
    }
}

/// The result of a function; none if it panics.
pub(super) fn unwinding<T>(function: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(function)).ok()
}
