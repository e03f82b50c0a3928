//! The files of an argument: those in a folder, or those that match a pattern.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use nonfinite_check::{Error, FileFormat, formats};

/// What an argument leads to, and how it was found.
#[derive(Debug)]
pub struct Found {
    /// The path.
    pub path: PathBuf,
    /// Whether the search of a folder found the path. Text and empty files are no errors then.
    pub searched: bool,
    /// Why this is no file to check; none if it is one.
    pub error: Option<Error>,
}

impl Found {
    fn named(path: PathBuf) -> Self {
        Self { path, searched: false, error: None }
    }

    fn searched(path: PathBuf, error: Option<Error>) -> Self {
        Self { path, searched: true, error }
    }

    /// Whether nobody needs to look at this file: a folder holds it, and it holds no tensors, by
    /// the error of its check. An empty file counts if its name is not that of a known format.
    #[must_use]
    pub fn holds_nothing(&self, error: &Error) -> bool {
        let is_empty = matches!(error, Error::Empty) && FileFormat::by_path(&self.path).is_none();
        self.searched && (is_empty || matches!(error, Error::Text { .. }))
    }
}

/// The files of an argument, sorted.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if a folder or a pattern yields no file, and an error of the system
/// if a folder on the way of a pattern cannot be read.
pub fn files(argument: &Path) -> io::Result<Vec<Found>> {
    if argument.is_dir() {
        return some(folder(argument));
    }
    let text = argument.to_string_lossy();
    let itself = || Ok(vec![Found::named(argument.to_owned())]);
    // A file may have such a name.
    if !text.contains(['*', '?', '[']) || argument.exists() {
        return itself();
    }
    let Ok(found) = glob::glob(&text) else { return itself() };
    let mut files = Vec::new();
    for path in found {
        let path = path?;
        if path.is_dir() {
            continue;
        }
        files.push(Found::named(path));
    }
    some(files)
}

fn some(files: Vec<Found>) -> io::Result<Vec<Found>> {
    if files.is_empty() { Err(nothing()) } else { Ok(files) }
}

/// The error of an argument that leads to no file that could hold tensors.
#[must_use]
pub fn nothing() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "no file of a known format is there")
}

/// Everything in a folder and its folders except folders. Leaves out the shards of a set, which its
/// index stands for.
fn folder(path: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        match entries {
            Err(error) => found.push(Found::searched(folder, Some(Error::Io(error)))),
            Ok(entries) => {
                for entry in entries {
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                        kind => found.push(Found::searched(entry.path(), refused(&entry, kind))),
                    }
                }
            }
        }
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let shards: BTreeSet<PathBuf> = found.iter().flat_map(|found| shards(&found.path)).collect();
    found.retain(|found| !shards.contains(&found.path));
    found
}

/// Why an entry of a folder is no file to check.
fn refused(entry: &fs::DirEntry, kind: io::Result<FileType>) -> Option<Error> {
    match kind {
        Err(error) => Some(Error::Io(error)),
        // Links to folders are not followed: they could form a circle.
        Ok(kind) if kind.is_symlink() && entry.path().is_dir() => {
            Some(Error::NotRead("a link to a folder, which a search does not follow"))
        }
        Ok(_) => None,
    }
}

/// The shards that an index names. Empty if one of them is missing: the check of the set fails then,
/// and the shards that exist are checked as files.
fn shards(index: &Path) -> Vec<PathBuf> {
    let shards = formats::shards(index);
    if shards.iter().all(|shard| shard.is_file()) { shards } else { Vec::new() }
}
