//! Which files the arguments mean: folders and patterns become the files in them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nonfinite_check::FileFormat;
use nonfinite_check::formats::safetensors_index;

/// The files that an argument means, sorted.
///
/// # Errors
/// That of the system that refused to read a folder, and one of [`io::ErrorKind::NotFound`] for a
/// folder or a pattern that means no file.
pub fn files(argument: &Path) -> io::Result<Vec<PathBuf>> {
    if argument.is_dir() {
        return some(folder(argument)?);
    }
    let text = argument.to_string_lossy();
    // A file may have such a name itself.
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

/// The files of known names in a folder and those in it. The shards of a set are left to its index.
fn folder(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries = fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            // A link to a folder is not followed: it could lead round in a circle.
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

/// The shards that an index names; none if this is no index, or none that can be read, which the
/// check will tell, or if one of them is missing: the set as a whole cannot be checked then, and
/// those that are there are.
fn shards(index: &Path) -> Vec<PathBuf> {
    if FileFormat::by_path(index) != Some(FileFormat::SafetensorsIndex) {
        return Vec::new();
    }
    let names = fs::read(index).ok().and_then(|bytes| safetensors_index::shards(&bytes).ok());
    let shards: Vec<_> =
        names.into_iter().flatten().map(|name| index.with_file_name(name)).collect();
    if shards.iter().all(|shard| shard.is_file()) { shards } else { Vec::new() }
}
