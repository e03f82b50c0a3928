//! Files, mapped into memory, and what a reader may see of them.
#![expect(unsafe_code, reason = "a file is mapped into memory")]

use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::error::Error;
use super::file_format::FileFormat;

/// A file mapped into memory.
#[derive(Debug)]
pub struct Source {
    map: Mmap,
    path: PathBuf,
}

impl Source {
    /// Maps a file.
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
        let file = File::open(path).map_err(Error::Io)?;
        // SAFETY: this process only reads the map, which is private to it. Another process may
        // still write to the file, and no lock that every system honours prevents this. If it
        // shortens the file, a read beyond the new end raises SIGBUS, which ends this process. If
        // it writes, the bytes change under the reader. No use of the bytes becomes unsound by
        // that: text is copied before it is checked for UTF-8, and the kernels take any bits. The
        // help says not to write to files while they are checked.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::Io)?;
        Ok(Self { map, path: path.to_owned() })
    }

    /// The bytes of the file. Another process may change them at any time: copy before validating.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Its path, as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
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
    /// Maps a file that this one names: a shard, external data. The name is relative to the folder
    /// of this file and must not lead out of it.
    ///
    /// # Errors
    /// [`Error::NoFolder`] if the input has no path, [`Error::Outside`], and [`Error::Other`] if
    /// the file cannot be opened.
    pub fn open_beside(&self, name: &str, format: FileFormat) -> Result<Arc<Source>, Error> {
        let path = self.path.ok_or(Error::NoFolder(format))?;
        let inside = Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside || name.is_empty() {
            return Err(Error::Outside(name.to_owned()));
        }
        let path = path.with_file_name("").join(name);
        match Source::open(&path) {
            Ok(source) => Ok(Arc::new(source)),
            Err(error) => Err(Error::Other { path, error: Box::new(error) }),
        }
    }
}
