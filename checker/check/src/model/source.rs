//! Sources of bytes, and the input of a reader.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::error::Error;
use super::file_format::FileFormat;
#[cfg(not(unix))]
use super::not_unix::{read_exact_at, same_file};

/// Bytes that can be read at any offset, from a file, memory, or an object in a store.
///
/// Several threads read at the same time.
pub trait ReadAt: fmt::Debug + Send + Sync {
    /// The number of bytes.
    fn length(&self) -> u64;

    /// Fills `out` with the bytes from offset `at` on.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the bytes end before, and any error of the source.
    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()>;

    /// The path or URL of the file. None for bytes from another source.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The bytes, if they are in memory. The check then looks at the tensors in place and copies
    /// only the header.
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }

    /// Tells the source that the header is not at the beginning, so that short ranges all over it
    /// will be read. The file of a URL is downloaded now.
    ///
    /// # Errors
    /// Any error of the source.
    fn prepare(&self) -> Result<(), Error> {
        Ok(())
    }

    /// How the check best reads these bytes, unless they are in memory.
    fn reads(&self) -> Reads {
        Reads::default()
    }
}

/// How to read a source: the default is that of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Bytes of a read. Tensors that lie close to each other share one.
    pub step: usize,
    /// The longest gap between two tensors that is read along, in bytes.
    pub gap: u64,
    /// Reads that should be under way at the same time. With more threads there are more.
    pub at_once: usize,
}

impl Default for Reads {
    /// 1 MiB fits into the second cache of a core. On an AMD EPYC of family 25 and model 17,
    /// 128 KiB take 1.3 times the CPU time, and 4 MiB take no less than this. A page costs less
    /// than another call of the system.
    fn default() -> Self {
        Self { step: 1 << 20, gap: 4 << 10, at_once: 1 }
    }
}

impl<B: AsRef<[u8]> + fmt::Debug + Send + Sync> ReadAt for B {
    fn length(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let rest = part(self.as_ref(), at..self.length()).unwrap_or_default();
        let bytes = rest.get(..out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self.as_ref())
    }
}

/// The bytes in a range of a source that is in memory.
pub(crate) fn part(bytes: &[u8], range: Range<u64>) -> Option<&[u8]> {
    bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// A file.
#[derive(Debug)]
pub struct Source {
    /// None if the file is opened for each read.
    file: Option<File>,
    metadata: Metadata,
    path: PathBuf,
}

/// Opens a file by its path. An error of the kind [`io::ErrorKind::NotFound`] says that there is no
/// such file.
pub type Opener = fn(&Path) -> Result<Arc<dyn ReadAt>, Error>;

/// The opener of a program that has files of its own.
static OPENER: OnceLock<Opener> = OnceLock::new();

/// From now on all paths of this process lead to the files of this opener, not to those of the
/// system. For WebAssembly in a browser, which has no files but those that the user has dropped.
/// Only the first call has an effect.
pub fn open_files_by(opener: Opener) {
    OPENER.get_or_init(|| opener);
}

/// Opens the file of a path.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn ReadAt>, Error> {
    match OPENER.get() {
        Some(opener) => opener(path),
        None => Ok(Arc::new(Source::open(path)?)),
    }
}

/// Whether there is a file or a folder at this path.
pub(crate) fn exists(path: &Path) -> bool {
    match OPENER.get() {
        Some(opener) => opener(path).is_ok(),
        None => path.exists(),
    }
}

/// The most files that are kept open. Further files are opened for each read: a model can have
/// thousands of files, and many Unix systems allow a process 256 or 1024 open files.
const MOST_OPEN: usize = if cfg!(unix) { 64 } else { usize::MAX };

/// The number of files that are open now.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The error of a path that leads to no file: if the path is that of a link, the error says so.
fn dangling(path: &Path, error: io::Error) -> io::Error {
    match fs::read_link(path) {
        Ok(target) => {
            let why = format!("a symbolic link to {target:?}, which cannot be opened: {error}");
            io::Error::new(error.kind(), why)
        }
        Err(_) => error,
    }
}

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error`] unless the path leads to a regular file that is not empty.
    pub fn open(path: &Path) -> Result<Self, Error> {
        // Checked before the file is opened: opening a pipe would wait for a writer.
        let metadata = fs::metadata(path).map_err(|error| Error::Io(dangling(path, error)))?;
        if metadata.is_dir() {
            return Err(Error::Directory);
        }
        if !metadata.is_file() {
            return Err(Error::NotAFile);
        }
        let file = File::open(path).map_err(Error::Io)?;
        // Another process may have replaced the file meanwhile.
        let metadata = file.metadata().map_err(Error::Io)?;
        if metadata.len() == 0 {
            return Err(Error::Empty);
        }
        let kept = OPEN.fetch_add(1, Ordering::Relaxed) < MOST_OPEN;
        if !kept {
            OPEN.fetch_sub(1, Ordering::Relaxed);
        }
        let (file, path) = (kept.then_some(file), path.to_owned());
        Ok(Self { file, metadata, path })
    }

    /// An open file without a name. `path` names the origin of its data.
    pub(crate) fn unnamed(file: File, path: &Path) -> io::Result<Self> {
        let metadata = file.metadata()?;
        OPEN.fetch_add(1, Ordering::Relaxed);
        let (file, path) = (Some(file), path.to_owned());
        Ok(Self { file, metadata, path })
    }

    /// Calls a function with the open file.
    fn with_file<T>(&self, then: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        if let Some(file) = &self.file {
            return then(file);
        }
        let file = File::open(&self.path)?;
        if !same_file(&file.metadata()?, &self.metadata) {
            return Err(io::Error::other("another file took its place during the check"));
        }
        then(&file)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.file.is_some() {
            OPEN.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl ReadAt for Source {
    fn length(&self) -> u64 {
        self.metadata.len()
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let read = self.with_file(|file| read_exact_at(file, out, at));
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), "the file became shorter during the check")
            }
            _ => error,
        })
    }
}

#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

/// The text of a file. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The input of a reader: a file, and the path to the files beside it.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    /// The file.
    pub(crate) source: &'a dyn ReadAt,
    /// The path of the file. None for bytes from another source.
    pub(crate) path: Option<&'a Path>,
}

impl Input<'_> {
    /// Opens a file that this file names, such as a shard or external data. The name is relative to
    /// the folder of this file and must not lead out of it.
    pub(crate) fn open_beside(
        &self,
        name: &str,
        format: FileFormat,
    ) -> Result<(PathBuf, Arc<dyn ReadAt>), Error> {
        let path = self.path.ok_or(Error::NoFolder(format))?;
        inside(name)?;
        let path = path.with_file_name("").join(name);
        match open(&path) {
            Ok(source) => Ok((path, source)),
            Err(error) => Err(Error::Other { path, error: Box::new(error) }),
        }
    }
}

/// Checks that the name of another file is relative and does not lead out of the folder.
pub(crate) fn inside(name: &str) -> Result<(), Error> {
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside && !name.is_empty() { Ok(()) } else { Err(Error::Outside(name.to_owned())) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;

    use super::*;

    /// A file without numbers, of this length.
    fn file(length: usize) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a folder for files");
        file.write_all(&vec![1; length]).expect("room for a file");
        file
    }

    /// As many files as the limit are kept open, and one more is opened for each read. A file that
    /// is closed makes room.
    #[test]
    fn files_that_are_kept_open() {
        let file = file(1);
        let open = || Source::open(file.path()).expect("it is there");
        for _ in 0..3 {
            let sources: Vec<_> = (0..MOST_OPEN).map(|_| open()).collect();
            assert!(sources.iter().all(|source| source.file.is_some()));
            let more = open();
            assert!(more.file.is_none());
            drop(sources);
            assert!(open().file.is_some());
        }
    }
}
