//! Why a file could not be checked.

use std::error::Error as StdError;
use std::path::PathBuf;
use std::{fmt, io};

use super::file_format::FileFormat;
use super::reason::Asks;

/// Why a file could not be checked.
///
/// ```
/// use nonfinite_check::formats::npy;
/// use nonfinite_check::{Error, FileFormat, Options, check_bytes};
///
/// match check_bytes(b"\x93NUMPY\x09\x00", FileFormat::NPY, &Options::default()) {
///     Err(Error::Refused { format, error }) => {
///         assert_eq!(format, FileFormat::NPY);
///         // The error of a reader has its own type.
///         let error = error.downcast_ref::<npy::Error>();
///         assert_eq!(error, Some(&npy::Error::Version { major: 9, minor: 0 }));
///     }
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open, map or read the file.
    Io(io::Error),
    /// The path is that of a directory.
    Directory,
    /// The path is that of a pipe, a device or a socket. These cannot be read at an offset.
    NotAFile,
    /// The file is empty.
    Empty,
    /// Neither the bytes nor the name fit a format that this build can read.
    Unknown {
        /// The names of the formats that this build can read.
        known: Vec<&'static str>,
    },
    /// As [`Error::Unknown`], and the bytes are text, which holds no tensors.
    Text {
        /// The names of the formats that this build can read.
        known: Vec<&'static str>,
    },
    /// The file is a picture or a document of this kind, which holds no tensors.
    Picture(&'static str),
    /// The file is a pointer of Git LFS. The file that it points to was not downloaded.
    LfsPointer,
    /// The file is of this kind. It may hold tensors, but this crate has no reader for it.
    NotRead(&'static str),
    /// This build leaves out the reader of this format. The feature of this name adds it.
    NotBuilt(&'static str),
    /// The format cannot be read from a stream: its description of the data comes last, or is in
    /// another file.
    NoStream {
        /// The format.
        format: FileFormat,
        /// A better message, for a format that has a streaming form.
        hint: Option<&'static str>,
    },
    /// The format names other files, and bytes alone have no folder.
    NoFolder(FileFormat),
    /// The reader of the format refuses the file: it is damaged, or it has something that this
    /// version does not support.
    Refused {
        /// The format.
        format: FileFormat,
        /// The error of the reader, such as [`npy::Error`](crate::formats::npy::Error).
        error: Box<dyn StdError + Send + Sync>,
    },
    /// The file should end at this byte of the stream, but the stream goes on.
    Trailing(usize),
    /// The file names another file, with a path out of its folder.
    Outside(String),
    /// Another file that belongs to this one cannot be checked.
    Other {
        /// The path of the other file.
        path: PathBuf,
        /// Why.
        error: Box<Self>,
    },
    /// The data of a tensor cannot be read or decoded.
    Decode {
        /// The name of the tensor.
        tensor: String,
        /// Why.
        error: io::Error,
    },
    /// A part of the file, such as a stored member of an archive, does not have the checksum that
    /// the file gives: the part is damaged. For a part of another file, such as a shard, there is
    /// [`LookedAt::Damaged`](crate::LookedAt::Damaged) instead.
    Checksum {
        /// The name of the part.
        name: String,
    },
    /// The decoded data is longer than [`Options::expansion`](crate::Options::expansion) allows.
    Expansion {
        /// Bytes of numbers, nulls and lists that the file claims to hold in compressed or repeated
        /// form, or leaves out.
        decoded: u64,
        /// Bytes of the file. For a stream: bytes up to the claimed end of the batch, or bytes that
        /// arrived before a column.
        file: u64,
        /// The most decoded bytes for each byte of the file. A file of less than 64 KiB counts as
        /// one of 64 KiB.
        most: u64,
    },
    /// [`Options::max_abs`](crate::Options::max_abs) is negative, infinite or NaN.
    MaxAbs(f64),
    /// The file has changed since its header was read or its plan was made.
    Changed(String),
    /// The server of a URL cannot be reached, or refuses the request.
    Remote {
        /// The URL.
        url: String,
        /// Why.
        error: Box<dyn StdError + Send + Sync>,
    },
    /// The format needs all bytes of a URL at once, and these are too many to download:
    /// [`Options::download`](crate::Options::download).
    Download {
        /// Bytes of the file.
        length: u64,
        /// The most bytes that may be downloaded.
        most: u64,
    },
    /// The library refused a tensor.
    Census(nonfinite::Error),
    /// The observer asked to stop.
    Stopped,
}

impl Error {
    /// The reader of this format refuses the file.
    pub(crate) fn refused(
        format: FileFormat,
        error: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self::Refused { format, error: error.into() }
    }

    /// The data of a tensor of this name cannot be read.
    pub(crate) fn of_read(error: io::Error, name: impl FnOnce() -> String) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(HasChanged(location)) => Self::Changed(location.clone()),
            None => Self::Decode { tensor: name(), error },
        }
    }

    /// The option that lets the check go on, if there is one.
    #[must_use]
    pub fn asks(&self) -> Option<Asks> {
        match self {
            Self::Expansion { .. } => Some(Asks::Expansion),
            Self::Download { .. } => Some(Asks::Download),
            Self::Other { error, .. } => error.asks(),
            _ => None,
        }
    }

    /// Whether the file was not checked because it has no reader. Otherwise the file is damaged, or
    /// the check failed.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Unknown { .. }
            | Self::Text { .. }
            | Self::Picture(_)
            | Self::NotRead(_)
            | Self::NotBuilt(_)
            | Self::NoStream { .. } => true,
            Self::Io(_)
            | Self::Directory
            | Self::NotAFile
            | Self::Empty
            | Self::LfsPointer
            | Self::NoFolder(_)
            | Self::Refused { .. }
            | Self::Trailing(_)
            | Self::Outside(_)
            | Self::Other { .. }
            | Self::Decode { .. }
            | Self::Checksum { .. }
            | Self::Expansion { .. }
            | Self::MaxAbs(_)
            | Self::Changed(_)
            | Self::Remote { .. }
            | Self::Download { .. }
            | Self::Census(_)
            | Self::Stopped => false,
        }
    }
}

/// Travels inside an [`io::Error`]: the bytes of this path or URL have changed.
#[derive(Debug)]
pub(crate) struct HasChanged(pub(crate) String);

impl fmt::Display for HasChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} changed while it was checked", self.0)
    }
}

impl StdError for HasChanged {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Directory => f.write_str("is a directory"),
            Self::NotAFile => f.write_str("is not a regular file"),
            Self::Empty => f.write_str("is empty"),
            Self::Unknown { .. } => f.write_str("not a file of a known format"),
            Self::Text { .. } => f.write_str("not a file of a known format: this is text"),
            Self::Picture(what) => write!(f, "not a file of a known format: this is {what}"),
            Self::LfsPointer => f.write_str(
                "a pointer of Git LFS, and not the file that it stands for: run git lfs pull",
            ),
            Self::NotRead(what) => write!(f, "not looked at: {what}"),
            Self::NotBuilt(feature) => {
                write!(
                    f,
                    "this build reads no {feature} files: install it with --features {feature}"
                )
            }
            Self::NoStream { hint: Some(hint), .. } => {
                write!(f, "{hint}: give the path of a file")
            }
            Self::NoStream { format, hint: None } => {
                write!(f, "{format} cannot be read from a stream: give the path of a file")
            }
            Self::NoFolder(format) => write!(f, "{format} names other files: give its path"),
            Self::Refused { error, .. } => error.fmt(f),
            Self::Trailing(end) => write!(f, "goes on behind byte {end}, where it should end"),
            Self::Outside(name) => write!(f, "names a file outside its folder: {name:?}"),
            Self::Other { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Decode { tensor, error } => write!(f, "tensor {tensor:?}: {error}"),
            Self::Checksum { name } => write!(f, "member {name:?}: the checksum is wrong"),
            Self::Expansion { decoded, file, most } => write!(
                f,
                "claims {decoded} bytes of numbers in {file} bytes, \
                 more than the {most} for each that are taken"
            ),
            Self::MaxAbs(bound) => {
                write!(
                    f,
                    "the bound on magnitudes is {bound}, and has to be finite and not negative"
                )
            }
            Self::Changed(file) => write!(f, "{file} changed while it was checked"),
            Self::Remote { error, .. } => error.fmt(f),
            Self::Download { length, most } => write!(
                f,
                "this format has to be downloaded as a whole, \
                 and {length} bytes are more than {most}"
            ),
            Self::Census(error) => error.fmt(f),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Io(error) | Self::Decode { error, .. } => Some(error),
            Self::Refused { error, .. } | Self::Remote { error, .. } => Some(&**error),
            Self::Other { error, .. } => Some(&**error),
            Self::Census(error) => Some(error),
            Self::Directory | Self::NotAFile | Self::Empty | Self::LfsPointer | Self::Stopped => {
                None
            }
            Self::Unknown { .. }
            | Self::Text { .. }
            | Self::Picture(_)
            | Self::NotRead(_)
            | Self::NotBuilt(_)
            | Self::NoStream { .. }
            | Self::NoFolder(_)
            | Self::Outside(_)
            | Self::Checksum { .. }
            | Self::Expansion { .. }
            | Self::MaxAbs(_)
            | Self::Changed(_)
            | Self::Download { .. }
            | Self::Trailing(_) => None,
        }
    }
}

impl From<nonfinite::Error> for Error {
    fn from(error: nonfinite::Error) -> Self {
        Self::Census(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Error {
        Error::Text { known: Vec::new() }
    }

    fn download() -> Error {
        Error::Download { length: 2, most: 1 }
    }

    fn other(error: Error) -> Error {
        Error::Other { path: "x".into(), error: error.into() }
    }

    #[test]
    fn options_that_help() {
        let expansion = Error::Expansion { decoded: 2, file: 1, most: 1 };
        assert_eq!(expansion.asks(), Some(Asks::Expansion));
        assert_eq!(download().asks(), Some(Asks::Download));
        assert_eq!(other(download()).asks(), Some(Asks::Download));
        assert_eq!(text().asks(), None);
    }

    #[test]
    fn files_without_a_reader() {
        assert!(text().is_unknown() && Error::NotBuilt("parquet").is_unknown());
        // The file itself has a reader.
        assert!(!other(text()).is_unknown() && !Error::Empty.is_unknown());
    }

    #[test]
    fn sources() {
        let io = || io::Error::other("cause");
        let decode = Error::Decode { tensor: "x".to_owned(), error: io() };
        let remote = Error::Remote { url: "s3://b/k".to_owned(), error: io().into() };
        let refused = Error::refused(FileFormat::NPY, io());
        for error in [Error::Io(io()), decode, remote, refused] {
            assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("cause"));
        }
        let source = other(text());
        assert!(source.source().is_some_and(|source| source.is::<Error>()));
        assert!(text().source().is_none());
    }

    /// The text that a user of [`ReadAt`](crate::ReadAt) sees is that of [`Error::Changed`].
    #[test]
    fn changes_inside_other_errors() {
        let error = io::Error::other(HasChanged("x".to_owned()));
        assert_eq!(error.to_string(), Error::Changed("x".to_owned()).to_string());
    }
}
