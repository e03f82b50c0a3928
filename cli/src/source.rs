//! Files: mapped, and told apart by what is in them.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use memmap2::Mmap;

use crate::tensor::Tensor;
use crate::{npy, safetensors};

/// Why a file could not be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open or map it.
    Io(io::Error),
    /// It is a directory.
    Directory,
    /// It is a pipe, a device or a socket, which cannot be mapped.
    NotAFile,
    /// It is empty.
    Empty,
    /// Neither its bytes nor its name are those of a format that can be read.
    Unknown,
    /// It looks like a .npy file, but is not a good one.
    Npy(npy::Error),
    /// It looks like a .safetensors file, but is not a good one.
    Safetensors(safetensors::Error),
    /// The library refused a tensor.
    Census(nonfinite::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Directory => f.write_str("is a directory"),
            Self::NotAFile => f.write_str("is not a regular file"),
            Self::Empty => f.write_str("is empty"),
            Self::Unknown => f.write_str("neither .npy nor .safetensors"),
            Self::Npy(error) => error.fmt(f),
            Self::Safetensors(error) => error.fmt(f),
            Self::Census(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Npy(error) => Some(error),
            Self::Safetensors(error) => Some(error),
            Self::Census(error) => Some(error),
            Self::Directory | Self::NotAFile | Self::Empty | Self::Unknown => None,
        }
    }
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// See [`npy`].
    Npy,
    /// See [`mod@safetensors`].
    Safetensors,
}

impl Kind {
    /// The format of a file by its first bytes. Its name decides only if they say nothing, so that a damaged file gets
    /// the message that fits.
    #[must_use]
    pub fn detect(bytes: &[u8], path: &Path) -> Option<Self> {
        let named = |extension| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
        if bytes.starts_with(npy::MAGIC) {
            Some(Self::Npy)
        } else if bytes.get(8) == Some(&b'{') || named("safetensors") {
            Some(Self::Safetensors)
        } else if named("npy") {
            Some(Self::Npy)
        } else {
            None
        }
    }
}

/// A file mapped into memory.
#[derive(Debug)]
pub struct Source {
    map: Mmap,
    kind: Kind,
}

impl Source {
    /// Maps a file.
    ///
    /// # Errors
    /// [`Error`] for anything but a regular file of a known format.
    pub fn open(path: &Path) -> Result<Self, Error> {
        // Before it is opened, since that waits for a writer if it is a pipe.
        let metadata = fs::metadata(path).map_err(Error::Io)?;
        if metadata.is_dir() {
            return Err(Error::Directory);
        }
        if !metadata.is_file() {
            return Err(Error::NotAFile);
        }
        if metadata.len() == 0 {
            return Err(Error::Empty);
        }
        let file = File::open(path).map_err(Error::Io)?;
        // SAFETY: the map is private to this process and only read. What remains is inherent to maps: if another process
        // shortens the file meanwhile, a read beyond the new end raises SIGBUS, which ends this process, and if it
        // writes, the bytes that are read change. Nothing is done with them that a change could make unsound: the
        // header is copied before it is parsed, and the kernels take any bits. No lock that every system
        // honours could prevent it, so the help says not to write to files while they are checked.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::Io)?;
        let kind = Kind::detect(&map, path).ok_or(Error::Unknown)?;
        Ok(Self { map, kind })
    }

    /// The tensors of the file.
    ///
    /// # Errors
    /// [`Error::Npy`] or [`Error::Safetensors`].
    pub fn tensors(&self) -> Result<Vec<Tensor<'_>>, Error> {
        match self.kind {
            Kind::Npy => npy::tensors(&self.map).map_err(Error::Npy),
            Kind::Safetensors => safetensors::tensors(&self.map).map_err(Error::Safetensors),
        }
    }
}
