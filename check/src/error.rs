//! Why a file could not be checked.

use std::path::PathBuf;
use std::{fmt, io};

#[cfg(feature = "arrow")]
use crate::formats::arrow;
#[cfg(feature = "parquet")]
use crate::formats::parquet;
use crate::formats::{FileFormat, gguf, npy, npz, onnx, pytorch, safetensors, safetensors_index};

/// Why a file could not be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open, map or read it.
    Io(io::Error),
    /// It is a directory.
    Directory,
    /// It is a pipe, a device or a socket, which cannot be mapped.
    NotAFile,
    /// It is empty.
    Empty,
    /// Neither its bytes nor its name are those of a format that can be read.
    Unknown,
    /// A file of a format whose reader was left out of this build, by the name of its feature.
    NotBuilt(&'static str),
    /// A format that cannot be read from a stream, since what lies where is said at the end or in
    /// another file.
    NoStream(FileFormat),
    /// A format that names other files, of which bytes alone do not tell the folder.
    NoFolder(FileFormat),
    /// It looks like a .npy file, but is not a good one.
    Npy(npy::Error),
    /// It looks like a .npz file, but is not a good one.
    Npz(npz::Error),
    /// It looks like a GGUF file, but is not a good one.
    Gguf(gguf::Error),
    /// It looks like a .safetensors file, but is not a good one.
    Safetensors(safetensors::Error),
    /// It looks like an ONNX model, but is not a good one.
    Onnx(onnx::Error),
    /// It looks like an archive of PyTorch, but is not a good one.
    Pytorch(pytorch::Error),
    /// It looks like an Arrow IPC file, but is not a good one.
    #[cfg(feature = "arrow")]
    Arrow(arrow::Error),
    /// It looks like a Parquet file, but is not a good one.
    #[cfg(feature = "parquet")]
    Parquet(parquet::Error),
    /// It is named as an index of .safetensors shards, but is not a good one.
    SafetensorsIndex(safetensors_index::Error),
    /// A stream goes on behind the end of the file, which is here.
    Trailing(usize),
    /// A name of another file that leads out of the folder of this one.
    Outside(String),
    /// Another file that belongs to it cannot be checked.
    Other {
        /// The other file.
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
    /// The data is far longer, decoded, than the file:
    /// [`Options::expansion`](crate::Options::expansion).
    Expansion {
        /// Bytes of the numbers that the file claims to hold, and of what tells their nulls and
        /// lists, as far as they are compressed, repeated or not there.
        decoded: u64,
        /// Bytes of the file; of a stream, up to the end that the batch claims to have, or of what
        /// has come before a column.
        file: u64,
        /// Bytes for each byte that would be taken; of less than 64 KiB, for each of 64 KiB.
        most: u64,
    },
    /// The library refused a tensor.
    Census(nonfinite::Error),
    /// The observer asked to stop.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Directory => f.write_str("is a directory"),
            Self::NotAFile => f.write_str("is not a regular file"),
            Self::Empty => f.write_str("is empty"),
            Self::Unknown => {
                let names: Vec<_> = FileFormat::all().map(FileFormat::name).collect();
                write!(f, "not a file of a known format ({})", names.join(", "))
            }
            Self::NotBuilt(feature) => {
                write!(f, "this build reads no {feature} files: install it with --features {feature}")
            }
            #[cfg(feature = "arrow")]
            Self::NoStream(FileFormat::Arrow) => f.write_str(
                "an arrow file cannot be read from a stream, but arrow's streaming format can: give the path of a file",
            ),
            Self::NoStream(format) => {
                write!(f, "{} cannot be read from a stream: give the path of a file", format.name())
            }
            Self::NoFolder(format) => write!(f, "{} names other files: give its path", format.name()),
            Self::Npy(error) => error.fmt(f),
            Self::Npz(error) => error.fmt(f),
            Self::Gguf(error) => error.fmt(f),
            Self::Safetensors(error) => error.fmt(f),
            Self::Onnx(error) => error.fmt(f),
            Self::Pytorch(error) => error.fmt(f),
            #[cfg(feature = "arrow")]
            Self::Arrow(error) => error.fmt(f),
            #[cfg(feature = "parquet")]
            Self::Parquet(error) => error.fmt(f),
            Self::SafetensorsIndex(error) => error.fmt(f),
            Self::Trailing(end) => write!(f, "goes on behind byte {end}, where it should end"),
            Self::Outside(name) => write!(f, "names a file outside its folder: {name:?}"),
            Self::Other { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Decode { tensor, error } => write!(f, "tensor {tensor:?}: {error}"),
            Self::Expansion { decoded, file, most } => write!(
                f,
                "claims {decoded} bytes of numbers in {file} bytes, more than the {most} for each that are taken"
            ),
            Self::Census(error) => error.fmt(f),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) | Self::Decode { error, .. } => Some(error),
            Self::Npy(error) => Some(error),
            Self::Npz(error) => Some(error),
            Self::Gguf(error) => Some(error),
            Self::Safetensors(error) => Some(error),
            Self::Onnx(error) => Some(error),
            Self::Pytorch(error) => Some(error),
            #[cfg(feature = "arrow")]
            Self::Arrow(error) => Some(error),
            #[cfg(feature = "parquet")]
            Self::Parquet(error) => Some(error),
            Self::SafetensorsIndex(error) => Some(error),
            Self::Other { error, .. } => Some(error),
            Self::Census(error) => Some(error),
            Self::Directory | Self::NotAFile | Self::Empty | Self::Unknown | Self::Stopped => None,
            Self::NotBuilt(_)
            | Self::NoStream(_)
            | Self::NoFolder(_)
            | Self::Outside(_)
            | Self::Expansion { .. }
            | Self::Trailing(_) => None,
        }
    }
}

impl From<nonfinite::Error> for Error {
    fn from(error: nonfinite::Error) -> Self {
        Self::Census(error)
    }
}
