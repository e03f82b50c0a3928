//! Where the bytes of files come from, and what a reader may see of them.
#![expect(unsafe_code, reason = "a file is mapped into memory")]

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::file_format::FileFormat;

/// Bytes that can be read from any place on: those of a file, of memory, of an object in a store.
///
/// Several threads read at a time.
pub trait ReadAt: fmt::Debug + Send + Sync {
    /// How many bytes there are.
    fn length(&self) -> usize;

    /// Fills `out` with the bytes from `at` on.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the bytes end before, and whatever keeps them from being
    /// read.
    fn read_exact_at(&self, out: &mut [u8], at: usize) -> io::Result<()>;

    /// The bytes, if they are in memory. The check then looks at them where they are, and does not
    /// call [`ReadAt::read_exact_at`].
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }

    /// Where the bytes come from, so that another process can read them. None for bytes that only
    /// this process has, and for a path that is not UTF-8.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// All bytes as one slice, for formats that have no header at their beginning. Another process
    /// may change the bytes of a mapped file at any time: copy before validating.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such slice.
    fn bytes(&self) -> Result<&[u8], Error> {
        self.in_memory().ok_or_else(|| Error::Io(io::ErrorKind::Unsupported.into()))
    }
}

/// Where bytes come from, and their state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The path or the URL.
    pub location: String,
    /// Text that differs when the bytes have changed: the length and the time of a file, or the
    /// entity tag of a server.
    pub version: String,
}

impl ReadAt for &[u8] {
    fn length(&self) -> usize {
        self.len()
    }

    fn read_exact_at(&self, out: &mut [u8], at: usize) -> io::Result<()> {
        let rest = self.get(at..).unwrap_or_default();
        let bytes = rest.get(..out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// Reads bytes one after the other.
#[derive(Debug)]
pub(crate) struct Sequence<'a> {
    source: &'a dyn ReadAt,
    at: usize,
}

impl<'a> Sequence<'a> {
    /// From the byte `at` on.
    pub(crate) fn new(source: &'a dyn ReadAt, at: usize) -> Self {
        Self { source, at }
    }
}

impl Read for Sequence<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(self.source.length().saturating_sub(self.at));
        self.source.read_exact_at(&mut out[..count], self.at)?;
        self.at += count;
        Ok(count)
    }
}

/// A file. Its bytes are read, or mapped into memory when [`ReadAt::bytes`] asks for all of them.
#[derive(Debug)]
pub struct Source {
    file: File,
    length: usize,
    /// When it was last written to, as it was opened. None where the system does not say.
    modified: Option<SystemTime>,
    path: PathBuf,
    map: OnceLock<Mmap>,
}

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error`] for anything but a regular file with something in it.
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
        Self::of(File::open(path).map_err(Error::Io)?, path).map_err(Error::Io)
    }

    /// An open file. The path is where it comes from.
    pub(crate) fn of(file: File, path: &Path) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let length = usize::try_from(metadata.len());
        let length = length.map_err(|_| io::ErrorKind::FileTooLarge)?;
        let modified = metadata.modified().ok();
        Ok(Self { file, length, modified, path: path.to_owned(), map: OnceLock::new() })
    }

    /// Its path, as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl ReadAt for Source {
    fn length(&self) -> usize {
        self.length
    }

    fn read_exact_at(&self, out: &mut [u8], at: usize) -> io::Result<()> {
        let read = read_exact_at(&self.file, out, at as u64);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "the file has become shorter during the check")
            }
            _ => error,
        })
    }

    fn origin(&self) -> Option<Origin> {
        let since = self.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let version = format!("{}-{}", self.length, since.as_nanos());
        Some(Origin { location: self.path.to_str()?.to_owned(), version })
    }

    fn bytes(&self) -> Result<&[u8], Error> {
        if let Some(map) = self.map.get() {
            return Ok(map);
        }
        // SAFETY: this process only reads the map, which is private to it. Another process may
        // still write to the file, and no lock that every system honours prevents this. If it
        // shortens the file, a read beyond the new end raises SIGBUS, which ends this process. If
        // it writes, the bytes change under the reader. No use of the bytes becomes unsound by
        // that: text is copied before it is checked for UTF-8, and the kernels take any bits. The
        // help says not to write to files while they are checked.
        let map = unsafe { memmap2::MmapOptions::new().len(self.length).map(&self.file) };
        let map = map.map_err(Error::Io)?;
        Ok(self.map.get_or_init(|| map))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                out = &mut out[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The text of a file. Bytes that are not UTF-8 become U+FFFD. The text is copied before it is
/// validated, because another process may write to the mapped file.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec())
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What a reader gets: the bytes of a file, and the path to the files beside it.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// The path of the file; none for bytes that come from elsewhere.
    pub path: Option<&'a Path>,
}

impl Input<'_> {
    /// Opens a file that this one names: a shard, external data. The name is relative to the folder
    /// of this file and must not lead out of it.
    ///
    /// # Errors
    /// [`Error::NoFolder`] if the input has no path, [`Error::Outside`], and [`Error::Other`] if
    /// the file cannot be opened.
    pub fn open_beside(&self, name: &str, format: FileFormat) -> Result<Arc<Source>, Error> {
        let path = self.path.ok_or(Error::NoFolder(format))?;
        inside(name)?;
        let path = path.with_file_name("").join(name);
        match Source::open(&path) {
            Ok(source) => Ok(Arc::new(source)),
            Err(error) => Err(Error::Other { path, error: Box::new(error) }),
        }
    }
}

/// Whether the name of another file is relative and does not lead out of the folder.
///
/// # Errors
/// [`Error::Outside`] if it does.
pub(crate) fn inside(name: &str) -> Result<(), Error> {
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside && !name.is_empty() { Ok(()) } else { Err(Error::Outside(name.to_owned())) }
}
