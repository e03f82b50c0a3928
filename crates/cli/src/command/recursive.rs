//! Patterns with `**`, which matches folders of any depth. Links to folders are not followed. (The
//! crate `glob` follows them, and does not end if they form a loop.)

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::searched::is_version_control;

/// The files that match a pattern with `**`, sorted. None if the pattern is not valid.
///
/// # Errors
/// An error of the system if a folder cannot be read.
pub fn files(pattern: &str, version_control: &mut usize) -> io::Result<Option<Vec<PathBuf>>> {
    let Ok(whole) = Pattern::new(pattern) else { return Ok(None) };
    // The part before the first `**` may lead through links.
    let parts = pattern.split('/');
    let before = parts.take_while(|part| *part != "**").collect::<Vec<_>>().join("/");
    let mut folders = match (before.as_str(), pattern.starts_with('/')) {
        ("", false) => vec![PathBuf::new()],
        ("", true) => vec![PathBuf::from("/")],
        (before, _) => {
            let Ok(found) = glob::glob(before) else { return Ok(None) };
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    folders.retain(|folder| folder.as_os_str().is_empty() || folder.is_dir());
    // As in patterns without `**`, `*` does not match a `/`.
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let readable = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        for entry in fs::read_dir(readable)? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if is_version_control(&entry.file_name()) {
                    *version_control += 1;
                } else {
                    folders.push(path);
                }
            } else if whole.matches_path_with(&path, options) && !path.is_dir() {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    files.dedup();
    Ok(Some(files))
}
