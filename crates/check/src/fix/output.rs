//! The output file of a copy. It has a hidden name until it is complete.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::error::FixError;

/// Refuses outputs that must not be overwritten.
pub(super) fn refuse(input: &Path, output: &Path, force: bool) -> Result<(), FixError> {
    // `metadata` follows a link to its file. The checks below are about that file, although `fix`
    // would replace the link.
    let Ok(there) = fs::metadata(output) else {
        return match fs::symlink_metadata(output) {
            Ok(_) if !force => Err(FixError::Exists),
            _ => Ok(()),
        };
    };
    if same_file(input, output, &there).map_err(FixError::Output)? {
        return Err(FixError::SameFile);
    }
    if there.is_dir() {
        return Err(FixError::Output(io::ErrorKind::IsADirectory.into()));
    }
    // A new file would replace /dev/null, for example, for all programs.
    if !there.is_file() {
        return Err(FixError::NotAFile);
    }
    if force { Ok(()) } else { Err(FixError::Exists) }
}

#[cfg(unix)]
fn same_file(input: &Path, _: &Path, output: &fs::Metadata) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let input = fs::metadata(input)?;
    Ok((input.dev(), input.ino()) == (output.dev(), output.ino()))
}

#[cfg(not(unix))]
use other_systems::same_file;

/// Systems without the number of a file.
#[cfg(not(unix))]
mod other_systems {
    use std::path::Path;
    use std::{fs, io};

    pub(super) fn same_file(input: &Path, output: &Path, _: &fs::Metadata) -> io::Result<bool> {
        Ok(fs::canonicalize(input)? == fs::canonicalize(output)?)
    }
}

/// A new file with a hidden name in a folder. Dropping this removes the file. On Unix its
/// permissions are those of the input, less the mask of the process.
///
/// # Errors
/// Errors of the system.
pub(super) fn temporary(folder: &Path, input: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // A user who finds a file that SIGKILL left sees what made it.
    builder.prefix(".nonfinite-fix-");
    #[cfg(unix)]
    builder.permissions(permissions(input)?);
    // Other systems take no permissions for a new file.
    #[cfg(not(unix))]
    let _ = input;
    builder.tempfile_in(folder)
}

/// Gives a file its name, in the folder that it was made for. With `force`, it replaces a file of
/// that name in one step.
///
/// # Errors
/// [`FixError::Exists`] without `force`, and [`FixError::Output`]. After an error, the name leads
/// to the same file as before, or to none.
pub(super) fn keep(
    file: NamedTempFile,
    folder: &Path,
    name: &Path,
    force: bool,
) -> Result<(), FixError> {
    // Without `force` this also keeps a file that was created meanwhile.
    let kept = if force { file.persist(name) } else { file.persist_noclobber(name) };
    kept.map_err(|failed| match failed.error.kind() {
        io::ErrorKind::AlreadyExists => FixError::Exists,
        _ => FixError::Output(failed.error),
    })?;
    // Syncs the name. Errors are ignored, since some systems cannot do this and the file is
    // complete.
    #[cfg(unix)]
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// The permissions of a copy: who may read, write and execute the input.
#[cfg(unix)]
fn permissions(input: &Path) -> io::Result<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    // Without the bits setuid and setgid: a copy must not run with the rights of another user.
    Ok(fs::Permissions::from_mode(fs::metadata(input)?.permissions().mode() & 0o777))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The permissions of a file.
    #[cfg(unix)]
    fn mode(file: &fs::Metadata) -> u32 {
        use std::os::unix::fs::PermissionsExt;
        file.permissions().mode() & 0o7777
    }

    #[test]
    fn names_and_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (input, output) = (folder.join("in"), folder.join("out"));
        fs::write(&input, "input").unwrap();
        fs::write(&output, "old").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&input, fs::Permissions::from_mode(0o4600)).unwrap();
        }
        let new = || temporary(folder, &input).unwrap();
        // Drops the file, as after an error or a signal.
        let mut file = new();
        file.write_all(b"new").unwrap();
        // It has no more rights than the input while it is written.
        #[cfg(unix)]
        assert_eq!(mode(&file.as_file().metadata().unwrap()), 0o600);
        assert!(names(folder)[0].starts_with(".nonfinite-fix-"));
        drop(file);
        assert_eq!(names(folder), ["in", "out"]);
        // Uses a name that is taken.
        assert!(matches!(keep(new(), folder, &output, false), Err(FixError::Exists)));
        assert_eq!(fs::read(&output).unwrap(), b"old");
        assert_eq!(names(folder), ["in", "out"]);
        // Replaces a file, then makes a new one.
        for force in [true, false] {
            let mut file = new();
            file.write_all(b"new").unwrap();
            keep(file, folder, &output, force).unwrap();
            assert_eq!(fs::read(&output).unwrap(), b"new");
            assert_eq!(names(folder), ["in", "out"]);
            #[cfg(unix)]
            assert_eq!(mode(&fs::metadata(&output).unwrap()), 0o600);
            fs::remove_file(&output).unwrap();
        }
    }
}
