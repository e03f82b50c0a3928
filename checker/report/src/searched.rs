//! The files that the search of a folder finds. Not all of them are worth a line of a report.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nonfinite_check::{Error, FileFormat, Report};

/// Counts the files that hold no tensors, and keeps those without a reader until all others are
/// known: another file may name them as its data.
#[derive(Debug, Default)]
pub struct Searched {
    /// Files with data of other files, by their real paths.
    used: BTreeSet<PathBuf>,
    /// Text and empty files in folders. They hold no tensors.
    pub text: usize,
    /// Pictures and documents in folders. They hold no tensors.
    pub pictures: usize,
    /// Files of no known format in folders, by [`Searched::finish`].
    pub no_format: Vec<PathBuf>,
    /// Files in folders without a reader.
    unread: Vec<(PathBuf, Error)>,
}

impl Searched {
    /// The result, if the file is to be reported now. `searched` says whether a search found the
    /// file: the user has not named it.
    pub fn sort(
        &mut self,
        path: &Path,
        searched: bool,
        result: Result<Report, Error>,
    ) -> Option<Result<Report, Error>> {
        match result {
            Err(Error::Picture(_)) if searched => self.pictures += 1,
            Err(error) if searched && is_blank(path, &error) => self.text += 1,
            Err(error) if searched && error.is_unknown() => {
                self.unread.push((path.to_owned(), error));
            }
            result => {
                let others = result.iter().flat_map(|report| &report.other_files);
                self.used.extend(others.map(|path| resolved(path)));
                return Some(result);
            }
        }
        None
    }

    /// The files without a reader that are to be reported, after all files. Leaves out the data of
    /// other files, and lists those of no known format in [`Searched::no_format`].
    pub fn finish(&mut self) -> Vec<(PathBuf, Error)> {
        let mut unread = std::mem::take(&mut self.unread);
        unread.retain(|(path, _)| !self.used.contains(&resolved(path)));
        let (unknown, others): (Vec<_>, _) =
            unread.into_iter().partition(|(_, error)| error.is_no_format());
        self.no_format.extend(unknown.into_iter().map(|(path, _)| path));
        others
    }
}

/// Whether a file is text or empty. An empty file with the ending of a format is damaged.
#[must_use]
pub fn is_blank(path: &Path, error: &Error) -> bool {
    let is_empty = matches!(error, Error::Empty) && FileFormat::by_path(path).is_none();
    is_empty || matches!(error, Error::Text { .. })
}

/// Whether this is the name of a folder of version control: it holds compressed copies of the files
/// beside it.
#[must_use]
pub fn is_version_control(name: &OsStr) -> bool {
    [".git", ".hg", ".svn", ".jj", ".bzr"].iter().any(|known| name == *known)
}

/// The path with links resolved, where the system can do that. A browser has no links.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
