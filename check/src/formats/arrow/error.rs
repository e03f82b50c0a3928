//! Why an Arrow IPC file cannot be checked.

use std::fmt;

use flatbuffers::InvalidFlatbuffer;

use crate::model::{self, FileFormat};

/// Why an Arrow IPC file or stream cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are neither a file nor a stream.
    Magic,
    /// The file ends before this part does.
    Truncated(&'static str),
    /// Metadata is not valid.
    Metadata(InvalidFlatbuffer),
    /// A message has the wrong kind, or none.
    Message(&'static str),
    /// The version of the format is older than 0.8, or newer than this crate.
    Version(i16),
    /// Names and types are far longer than their metadata.
    Names,
    /// A type contradicts itself.
    Type(String),
    /// Messages overlap, or buffers overlap.
    Overlap,
    /// A length or an offset is negative, too large, or does not fit the others.
    Length(&'static str),
    /// A batch has fewer nodes or buffers than its schema needs.
    Missing(&'static str),
    /// The compression of a batch is not known.
    Codec(i8),
    /// A row refers to an entry that its dictionary does not have.
    Index,
    /// The nulls and lists of a column in a batch, or all dictionaries, take too much memory for a
    /// stream.
    Held,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not an Arrow IPC file"),
            Self::Truncated(what) => write!(f, "the Arrow file ends before its {what} does"),
            Self::Metadata(error) => write!(f, "bad Arrow metadata: {}", first_line(error)),
            Self::Message(what) => write!(f, "bad Arrow metadata: {what}"),
            Self::Version(version) => write!(f, "Arrow metadata of version {version} is not known"),
            Self::Names => f.write_str("bad Arrow metadata: names that are far longer than it"),
            Self::Type(name) => write!(f, "bad Arrow metadata: the type of {name:?}"),
            Self::Overlap => f.write_str("bad Arrow metadata: data that overlaps"),
            Self::Length(what) => write!(f, "bad Arrow metadata: the {what} cannot be"),
            Self::Missing(what) => write!(f, "bad Arrow metadata: a batch has too few {what}"),
            Self::Codec(codec) => write!(f, "Arrow compression {codec} is not known"),
            Self::Index => f.write_str("bad Arrow data: an index outside its dictionary"),
            Self::Held => {
                f.write_str("a batch of too many rows for a stream: give the path of a file")
            }
        }
    }
}

/// The message of the verifier. The trace on the lines below it is left out.
fn first_line(error: &InvalidFlatbuffer) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

impl std::error::Error for Error {}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::ARROW, error)
    }
}

impl From<InvalidFlatbuffer> for Error {
    fn from(error: InvalidFlatbuffer) -> Self {
        Self::Metadata(error)
    }
}
