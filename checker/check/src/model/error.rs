//! Why a file could not be checked.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use super::file_format::FileFormat;

/// Why a file could not be checked.
///
/// ```
/// use nonfinite_check::{Error, FileFormat, Options, check_bytes};
///
/// match check_bytes(b"\x93NUMPY\x09\x00", FileFormat::NPY, &Options::default()) {
///     Err(Error::Refused { format, error }) => {
///         assert_eq!(format, FileFormat::NPY);
///         assert_eq!(error.to_string(), ".npy version 9.0 is not known");
///     }
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open or read the file.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// The path is that of a directory.
    #[error("is a directory")]
    Directory,
    /// The path is that of a pipe, a device or a socket. These cannot be read at an offset.
    #[error("is not a regular file")]
    NotAFile,
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// Neither the bytes nor the name fit a format that this build can read.
    #[error("not a file of a known format")]
    Unknown {
        /// The names of the formats that this build can read.
        known: Vec<&'static str>,
    },
    /// As [`Error::Unknown`], and the bytes are text, which holds no tensors.
    #[error("not a file of a known format: this is {what}")]
    Text {
        /// The names of the formats that this build can read.
        known: Vec<&'static str>,
        /// The kind of text, and how it begins.
        what: String,
    },
    /// The file is a picture or a document of this kind, which holds no tensors.
    #[error("not a file of a known format: this is {0}")]
    Picture(&'static str),
    /// The file is a pointer of Git LFS. The file that it points to was not downloaded.
    #[error("a pointer of Git LFS, and not the file that it stands for: run git lfs pull")]
    LfsPointer,
    /// The file is of this kind. It may hold tensors, but this crate has no reader for it.
    #[error("not looked at: {0}")]
    NotRead(&'static str),
    /// This build cannot read URLs. The feature `remote` adds this.
    #[error("this build cannot read it: add --features remote to the build")]
    NotBuilt,
    /// The format names other files, and bytes alone have no folder.
    #[error("{0} names other files: give its path")]
    NoFolder(FileFormat),
    /// The reader of the format refuses the file: it is damaged, or it has something that this
    /// version does not support.
    #[error("{error}")]
    Refused {
        /// The format.
        format: FileFormat,
        /// The error of the reader.
        #[source]
        error: Box<dyn StdError + Send + Sync>,
    },
    /// The file should end at this byte of the stream, but the stream goes on.
    #[error("goes on behind byte {0}, where it should end")]
    Trailing(usize),
    /// The file names another file, with a path out of its folder.
    #[error("names a file outside its folder: {0:?}")]
    Outside(String),
    /// Another file that belongs to this one cannot be checked.
    #[error("{}: {error}", .path.display())]
    Other {
        /// The path of the other file.
        path: PathBuf,
        /// Why.
        #[source]
        error: Box<Self>,
    },
    /// The data of a tensor cannot be read or decoded.
    #[error("tensor {tensor:?}: {error}")]
    Decode {
        /// The name of the tensor.
        tensor: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A part of the file, such as a stored member of an archive, does not have the checksum that
    /// the file gives: the part is damaged. For a part of another file, such as a shard, there is
    /// [`LookedAt::Damaged`](crate::LookedAt::Damaged) instead.
    #[error("member {name:?}: the checksum is wrong")]
    Checksum {
        /// The name of the part.
        name: String,
    },
    /// The decoded data is longer than [`Options::max_bytes`](crate::Options::max_bytes) allows.
    #[error("claims {decoded} bytes of numbers in a file of {file} bytes; the limit is {most}")]
    Expansion {
        /// Bytes of numbers that the file claims to hold in compressed or repeated form.
        decoded: u64,
        /// Bytes of the file.
        file: u64,
        /// The most decoded bytes.
        most: u64,
    },
    /// [`Options::max_abs`](crate::Options::max_abs) is negative, infinite or NaN.
    #[error("the bound on magnitudes is {0}, and has to be finite and not negative")]
    MaxAbs(f64),
    /// The file has changed since its header was read.
    #[error("{0} changed while it was checked")]
    Changed(String),
    /// The server of a URL cannot be reached, or refuses the request.
    #[error("{error}")]
    Remote {
        /// The URL.
        url: String,
        /// Why.
        #[source]
        error: Box<dyn StdError + Send + Sync>,
    },
    /// The format has no header at its beginning, and the file of a URL is too long to download:
    /// [`Options::max_bytes`](crate::Options::max_bytes).
    #[error("this format has to be downloaded as a whole, and {length} bytes are more than {most}")]
    Download {
        /// Bytes of the file.
        length: u64,
        /// The most bytes that may be downloaded.
        most: u64,
    },
    /// The stream has more bytes than [`Options::max_bytes`](crate::Options::max_bytes) allows.
    #[error("is longer than {most} bytes")]
    StreamTooLong {
        /// The most bytes of a stream.
        most: u64,
    },
    /// The library refused a tensor.
    #[error("{0}")]
    Census(#[from] nonfinite::Error),
    /// The observer asked to stop.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// The reader of this format refuses the file. An [`Error`] stays as it is.
    pub(crate) fn refused(
        format: FileFormat,
        error: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        match error.into().downcast() {
            Ok(own) => *own,
            Err(error) => Self::Refused { format, error },
        }
    }

    /// The data of a tensor of this name cannot be read.
    pub(crate) fn of_read(error: io::Error, name: impl FnOnce() -> String) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(HasChanged(location)) => Self::Changed(location.clone()),
            None => Self::Decode { tensor: name(), error },
        }
    }

    /// Whether a larger [`Options::max_bytes`](crate::Options::max_bytes) lets the check go on.
    #[must_use]
    pub fn exceeds_max_bytes(&self) -> bool {
        match self {
            Self::Expansion { .. } | Self::Download { .. } | Self::StreamTooLong { .. } => true,
            Self::Other { error, .. } => error.exceeds_max_bytes(),
            _ => false,
        }
    }

    /// Whether the file is of no known format, and of no other format that could hold tensors. In a
    /// folder such files are expected.
    #[must_use]
    pub const fn is_no_format(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Text { .. } | Self::Picture(_))
    }

    /// Whether the file was not checked because it has no reader. Otherwise the file is damaged, or
    /// the check failed.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::NotRead(_) | Self::NotBuilt) || self.is_no_format()
    }
}

/// Travels inside an [`io::Error`]: the bytes of this path or URL have changed.
#[derive(Debug, thiserror::Error)]
#[error("{0} changed while it was checked")]
pub(crate) struct HasChanged(pub(crate) String);

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Error {
        Error::Text { known: Vec::new(), what: String::new() }
    }

    fn download() -> Error {
        Error::Download { length: 2, most: 1 }
    }

    fn other(error: Error) -> Error {
        Error::Other { path: "x".into(), error: error.into() }
    }

    #[test]
    fn bounds_that_were_too_low() {
        assert!(Error::Expansion { decoded: 2, file: 1, most: 1 }.exceeds_max_bytes());
        assert!(download().exceeds_max_bytes() && other(download()).exceeds_max_bytes());
        assert!(!text().exceeds_max_bytes());
    }

    #[test]
    fn files_without_a_reader() {
        assert!(text().is_unknown() && Error::NotBuilt.is_unknown());
        // The file itself has a reader.
        assert!(!other(text()).is_unknown() && !Error::Empty.is_unknown());
    }

    /// The text that a user of [`ReadAt`](crate::ReadAt) sees is that of [`Error::Changed`].
    #[test]
    fn changes_inside_other_errors() {
        let error = io::Error::other(HasChanged("x".to_owned()));
        assert_eq!(error.to_string(), Error::Changed("x".to_owned()).to_string());
    }
}
