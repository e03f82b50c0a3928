//! The files of the arguments (files, folders, patterns), and their check.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use nonfinite_check::{Error, FileFormat, Options, Report, formats, is_url, list_url};
use walkdir::{DirEntry, WalkDir};

use crate::searched::{Searched, is_blank, is_version_control};

/// A path that comes from an argument, and how it was found.
#[derive(Debug)]
struct InputFile {
    path: PathBuf,
    /// Whether the path was found by the search of a folder. Then text and empty files are not
    /// errors.
    searched: bool,
    /// Why this is not a file to check. None if it is one.
    error: Option<Error>,
}

impl InputFile {
    fn named(path: PathBuf) -> Self {
        Self { path, searched: false, error: None }
    }

    fn searched(path: PathBuf, error: Option<Error>) -> Self {
        Self { path, searched: true, error }
    }

    /// Whether the file was found in a folder, and holds no tensors by the error of the check.
    fn holds_nothing(&self, error: &Error) -> bool {
        self.searched && (is_blank(&self.path, error) || error.is_no_format())
    }
}

/// The files of all arguments.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The files that searches have found.
    pub searched: Searched,
    /// Folders of version control in folders. They are not searched.
    pub version_control: usize,
    /// Whether the observer has stopped the check.
    is_stopped: bool,
}

impl Inputs {
    /// Checks the files of an argument, and passes the path and the result of each to `take`. Ends
    /// early if the observer of the options stops the check. Files without a reader that a search
    /// found come in [`Inputs::finish`].
    ///
    /// # Errors
    /// The errors of `take`. Errors of files are results.
    pub fn check(
        &mut self,
        argument: &Path,
        options: &Options,
        take: impl FnMut(&Path, Result<Report, Error>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.check_with(argument, options, |path| check_path(path, options), take)
    }

    /// Like [`Inputs::check`], with another function that checks a file.
    ///
    /// # Errors
    /// The errors of `take`. Errors of files are results.
    pub fn check_with(
        &mut self,
        argument: &Path,
        options: &Options,
        mut check: impl FnMut(&Path) -> Result<Report, Error>,
        mut take: impl FnMut(&Path, Result<Report, Error>) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.stops(options) {
            return Ok(());
        }
        let files = match files(argument, options, &mut self.version_control) {
            _ if self.stops(options) => return Ok(()),
            Ok(files) => files,
            Err(error) => return take(argument, Err(error)),
        };
        let mut is_empty = true;
        for mut found in files {
            let result = found.error.take().map_or_else(|| check(&found.path), Err);
            if self.stops(options) {
                return Ok(());
            }
            is_empty &= result.as_ref().is_err_and(|error| found.holds_nothing(error));
            if let Some(result) = self.searched.sort(&found.path, found.searched, result) {
                take(&found.path, result)?;
            }
        }
        if is_empty { take(argument, Err(Error::Io(nothing()))) } else { Ok(()) }
    }

    /// Passes the files without a reader, after all arguments, and lists those of no known format.
    /// Leaves out the data of other files. Passes none if the check was stopped, since files that
    /// were not checked may name them as their data.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn finish(
        &mut self,
        mut take: impl FnMut(&Path, Result<Report, Error>) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_stopped {
            return Ok(());
        }
        self.searched.finish().into_iter().try_for_each(|(path, error)| take(&path, Err(error)))
    }

    /// Whether the observer asks to stop, or has done so.
    fn stops(&mut self, options: &Options) -> bool {
        let asks = || options.observer.as_ref().is_some_and(|it| it.advanced(0).is_break());
        self.is_stopped = self.is_stopped || asks();
        self.is_stopped
    }
}

/// The files of an argument that a check reads. Some may hold no tensors. Leaves out what cannot
/// be listed or is not a file: [`Inputs::check`] returns the errors.
#[must_use]
pub fn paths(argument: &Path, options: &Options) -> Vec<PathBuf> {
    let found = files(argument, options, &mut 0).unwrap_or_default().into_iter();
    found.filter(|found| found.error.is_none()).map(|found| found.path).collect()
}

/// Checks a file, the file of a URL, or standard input if the path is `-`.
///
/// # Errors
/// [`Error`] if the file is not a whole, valid file of a known format.
pub fn check_path(path: &Path, options: &Options) -> Result<Report, Error> {
    if path == Path::new("-") {
        nonfinite_check::check_stream(io::stdin().lock(), options)
    } else if let Some(url) = path.to_str().filter(|path| is_url(path)) {
        nonfinite_check::check_url(url, options)
    } else {
        nonfinite_check::check_file(path, options)
    }
}

/// The path of a file, with links resolved. None if the file is gone.
fn real(path: impl AsRef<Path>) -> Option<PathBuf> {
    path.as_ref().canonicalize().ok()
}

/// The files of an argument, sorted.
///
/// # Errors
/// [`Error::Remote`] if a model on a server cannot be listed, and the errors of [`local`].
fn files(
    argument: &Path,
    options: &Options,
    version_control: &mut usize,
) -> Result<Vec<InputFile>, Error> {
    // Characters of a pattern are ordinary characters in a URL.
    let Some(url) = argument.to_str().filter(|text| is_url(text) && !argument.is_dir()) else {
        return local(argument, version_control).map_err(Error::Io);
    };
    Ok(match list_url(url, options)? {
        Some(files) => files.into_iter().map(|url| InputFile::searched(url.into(), None)).collect(),
        None => vec![InputFile::named(argument.to_owned())],
    })
}

/// The files of a path or a pattern, sorted.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if a folder or a pattern yields no file, and an error of the system
/// if a folder on the way of a pattern cannot be read.
fn local(argument: &Path, version_control: &mut usize) -> io::Result<Vec<InputFile>> {
    if argument.is_dir() {
        return some(folder(argument, version_control));
    }
    let text = argument.to_string_lossy();
    let itself = || Ok(vec![InputFile::named(argument.to_owned())]);
    // A file may have a name that could be a pattern.
    if !text.contains(['*', '?', '[']) || argument.exists() {
        return itself();
    }
    if text.split('/').any(|part| part == "**") {
        let Some(files) = at_any_depth(&text, version_control)? else { return itself() };
        let files = files.into_iter().map(|path| InputFile::searched(path, None)).collect();
        return some(once(files));
    }
    let Ok(found) = glob::glob(&text) else { return itself() };
    let mut files = Vec::new();
    for path in found {
        let path = path?;
        if path.is_dir() {
            continue;
        }
        files.push(InputFile::searched(path, None));
    }
    some(once(files))
}

fn some(files: Vec<InputFile>) -> io::Result<Vec<InputFile>> {
    if files.is_empty() { Err(nothing()) } else { Ok(files) }
}

/// The error of an argument without any file that could hold tensors.
fn nothing() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "no file of a known format is there")
}

/// The files that match a pattern with `**`, which stands for folders of any depth. The crate
/// `glob` follows links to folders, and does not end if they form a circle. None if the pattern is
/// not valid.
///
/// # Errors
/// An error of the system if a folder cannot be read.
fn at_any_depth(pattern: &str, version_control: &mut usize) -> io::Result<Option<Vec<PathBuf>>> {
    let Ok(whole) = Pattern::new(pattern) else { return Ok(None) };
    // The part before the first `**` may lead through links.
    let before = pattern.split("**").next().unwrap_or_default();
    let folders = match before {
        "" => vec![PathBuf::from(".")],
        "/" => vec![PathBuf::from(before)],
        _ => match glob::glob(before) {
            Ok(found) => found.collect::<Result<_, _>>()?,
            Err(_) => return Ok(None),
        },
    };
    // As in patterns without `**`, `*` does not match a `/`.
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
    let mut files = BTreeSet::new();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        for entry in walk(&folder, version_control) {
            let path = entry?.into_path();
            let path =
                if before.is_empty() { path.strip_prefix(".").unwrap_or(&path) } else { &path };
            if whole.matches_path_with(path, options) && !path.is_dir() {
                files.insert(path.to_owned());
            }
        }
    }
    Ok(Some(files.into_iter().collect()))
}

/// All files in a folder and in the folders below it.
fn folder(path: &Path, version_control: &mut usize) -> Vec<InputFile> {
    let found = walk(path, version_control).filter_map(|entry| match entry {
        Ok(entry) if entry.file_type().is_dir() => None,
        Ok(entry) => {
            // They could form a circle.
            let is_folder = entry.path_is_symlink() && entry.path().is_dir();
            let why = "a link to a folder, which a search does not follow";
            Some(InputFile::searched(entry.into_path(), is_folder.then_some(Error::NotRead(why))))
        }
        Err(error) => {
            let place = error.path().unwrap_or(path).to_owned();
            Some(InputFile::searched(place, error.into_io_error().map(Error::Io)))
        }
    });
    once(found.collect())
}

/// What is in a folder and in the folders below it, without folders of version control. Links are
/// not followed.
fn walk(
    folder: &Path,
    version_control: &mut usize,
) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    WalkDir::new(folder).min_depth(1).into_iter().filter_entry(|entry| {
        let is_left_out = entry.file_type().is_dir() && is_version_control(entry.file_name());
        *version_control += usize::from(is_left_out);
        !is_left_out
    })
}

/// The files that are checked, sorted. Leaves out the shards of a set, since its index is checked,
/// files to which a link leads, and all links to the same model except the first: the cache of
/// Hugging Face has its files in `blobs`, and links to them that have the names of the files.
fn once(mut found: Vec<InputFile>) -> Vec<InputFile> {
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let (links, mut files): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.error.is_none() && found.path.is_symlink());
    let (mut linked, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let is_first = |link: &InputFile| {
        let Some(target) = real(&link.path) else { return true };
        linked.insert(target.clone());
        // The same index beside other shards is another model. So is the same model of ONNX in
        // another folder, since its data may lie there.
        let shards: Vec<_> = formats::shards(&link.path).iter().filter_map(real).collect();
        let is_onnx = FileFormat::by_path(&link.path) == Some(FileFormat::ONNX);
        let folder = is_onnx.then(|| link.path.parent().and_then(real)).flatten();
        seen.insert((target, shards, folder))
    };
    let mut once: Vec<InputFile> = links.into_iter().filter(is_first).collect();
    if !linked.is_empty() {
        files.retain(|file| !real(&file.path).is_some_and(|path| linked.contains(&path)));
    }
    once.append(&mut files);
    let shards: BTreeSet<PathBuf> =
        once.iter().flat_map(|found| formats::shards(&found.path)).collect();
    once.retain(|found| !shards.contains(&found.path));
    once.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    once
}
