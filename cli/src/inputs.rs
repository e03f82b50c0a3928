//! The files of an argument: those in a folder, or those that fit a pattern.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nonfinite_check::{FileFormat, formats, is_url};

/// The files of an argument, sorted.
///
/// # Errors
/// An error of the system if a folder cannot be read, and [`io::ErrorKind::NotFound`] if a folder or
/// a pattern yields no file.
pub fn files(argument: &Path) -> io::Result<Vec<PathBuf>> {
    if argument.is_dir() {
        return some(folder(argument)?);
    }
    let text = argument.to_string_lossy();
    // What looks like a pattern in a URL is part of it.
    if is_url(&text) {
        return Ok(vec![argument.to_owned()]);
    }
    // A file may have such a name.
    if !text.contains(['*', '?', '[']) || argument.exists() {
        return Ok(vec![argument.to_owned()]);
    }
    let Ok(found) = glob::glob(&text) else { return Ok(vec![argument.to_owned()]) };
    let mut files = Vec::new();
    for path in found {
        let path = path?;
        if path.is_dir() {
            continue;
        }
        files.push(path);
    }
    some(files)
}

fn some(files: Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let nothing = "no file of a known format is there";
    if files.is_empty() { Err(io::Error::new(io::ErrorKind::NotFound, nothing)) } else { Ok(files) }
}

/// The files in a folder and its folders whose names have a known ending. Leaves out the shards of a
/// set, which its index stands for.
fn folder(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries = fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            // Links to folders are not followed: they could form a circle.
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if FileFormat::by_path(&entry.path()).is_some() && entry.path().is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort_unstable();
    let shards: BTreeSet<PathBuf> = files.iter().flat_map(|file| shards(file)).collect();
    files.retain(|file| !shards.contains(file));
    Ok(files)
}

/// The shards that an index names. Empty if one of them is missing: the check of the set fails then,
/// and the shards that exist are checked as files.
fn shards(index: &Path) -> Vec<PathBuf> {
    let shards = formats::shards(index);
    if shards.iter().all(|shard| shard.is_file()) { shards } else { Vec::new() }
}
