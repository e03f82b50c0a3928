//! The output file of a copy. It has no name, or a hidden name, until it is complete.

use std::fs::{self, File};
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

/// A new file. Dropping this removes the file.
#[derive(Debug)]
pub(super) enum Temporary {
    /// A file without a name (`O_TMPFILE`). The system removes it, however the process ends.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// A file with a hidden name, for systems and file systems that have no files without a name.
    /// It stays if the process is killed.
    Named(NamedTempFile),
}

impl Temporary {
    /// A new file in a folder. On Unix its permissions are those of the input, less the mask of the
    /// process.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn new(folder: &Path, input: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = linux::unnamed(folder, &permissions(input)?) {
            return Ok(Self::Unnamed(file));
        }
        Self::named(folder, input)
    }

    fn named(folder: &Path, input: &Path) -> io::Result<Self> {
        let mut builder = builder();
        #[cfg(unix)]
        builder.permissions(permissions(input)?);
        // Other systems take no permissions for a new file.
        #[cfg(not(unix))]
        let _ = input;
        builder.tempfile_in(folder).map(Self::Named)
    }

    pub(super) fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Gives the file its name, in the folder that it was made for. With `force`, it replaces a
    /// file of that name in one step.
    ///
    /// # Errors
    /// [`FixError::Exists`] without `force`, and [`FixError::Output`]. After an error, the name
    /// leads to the same file as before, or to none.
    pub(super) fn keep(self, folder: &Path, name: &Path, force: bool) -> Result<(), FixError> {
        let kept = match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => linux::name(&file, folder, name, force),
            Self::Named(file) if force => file.persist(name).map(drop).map_err(|error| error.error),
            // This also keeps a file that was created meanwhile.
            Self::Named(file) => {
                file.persist_noclobber(name).map(drop).map_err(|error| error.error)
            }
        };
        kept.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FixError::Exists,
            _ => FixError::Output(error),
        })?;
        // Syncs the name. Errors are ignored, since some systems cannot do this and the file is
        // complete.
        #[cfg(unix)]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nonfinite-fix-");
    builder
}

/// The permissions of a copy: who may read, write and execute the input.
#[cfg(unix)]
fn permissions(input: &Path) -> io::Result<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    // Without the bits setuid and setgid: a copy must not run with the rights of another user.
    Ok(fs::Permissions::from_mode(fs::metadata(input)?.permissions().mode() & 0o777))
}

/// Files without a name.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{File, Permissions};
    use std::io;
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    use super::builder;

    /// A file without a name. None if it could not get a name later, or if the file system has no
    /// such files. The caller then tries a file with a name, which reports the reason if the folder
    /// is not writable.
    pub(super) fn unnamed(folder: &Path, permissions: &Permissions) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(permissions.mode());
        let file = File::from(open(folder, flags, mode).ok()?);
        path(file.as_raw_fd()).exists().then_some(file)
    }

    /// The path of an open file. It also works for files without a name, if /proc is mounted.
    fn path(file: RawFd) -> PathBuf {
        format!("/proc/self/fd/{file}").into()
    }

    /// Gives a file its name.
    pub(super) fn name(file: &File, folder: &Path, name: &Path, force: bool) -> io::Result<()> {
        let path = path(file.as_raw_fd());
        let link = |name: &Path| -> io::Result<()> {
            Ok(linkat(CWD, &path, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
        };
        match link(name) {
            // Linux has no call that replaces a name by a file without a name. So the file gets a
            // hidden name first. It stays if the process is killed between these two calls.
            Err(error) if force && error.kind() == io::ErrorKind::AlreadyExists => {
                builder().make_in(folder, link)?.persist(name).map_err(|error| error.error)
            }
            named => named,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    /// A folder with an input that only its owner may read, and an output.
    fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        fs::write(&input, "input").unwrap();
        fs::write(&output, "old").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&input, fs::Permissions::from_mode(0o4600)).unwrap();
        }
        (folder, input, output)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Tests both kinds of file, unless this file system has only one.
    #[test]
    fn names_and_permissions() {
        let (folder, input, output) = folder();
        let folder = folder.path();
        let named = || Temporary::named(folder, &input).unwrap();
        let either = || Temporary::new(folder, &input).unwrap();
        for new in [&named as &dyn Fn() -> Temporary, &either] {
            // Drops the file, as after an error or a signal.
            let mut file = new();
            file.file().write_all(b"new").unwrap();
            drop(file);
            assert_eq!(names(folder), ["in", "out"]);
            // Uses a name that is taken.
            fs::write(&output, "old").unwrap();
            assert!(matches!(new().keep(folder, &output, false), Err(FixError::Exists)));
            assert_eq!(fs::read(&output).unwrap(), b"old");
            assert_eq!(names(folder), ["in", "out"]);
            // Replaces a file, then makes a new one.
            for force in [true, false] {
                let mut file = new();
                file.file().write_all(b"new").unwrap();
                file.keep(folder, &output, force).unwrap();
                assert_eq!(fs::read(&output).unwrap(), b"new");
                assert_eq!(names(folder), ["in", "out"]);
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    let mode = fs::metadata(&output).unwrap().permissions().mode();
                    assert_eq!(mode & 0o7777, 0o600);
                }
                fs::remove_file(&output).unwrap();
            }
            fs::write(&output, "old").unwrap();
        }
    }

    /// A user who finds a file that SIGKILL left sees what made it.
    #[test]
    fn names_of_temporary_files() {
        let (folder, input, _) = folder();
        let temporary = Temporary::named(folder.path(), &input).unwrap();
        let named = names(folder.path());
        assert!(named.iter().any(|name| name.starts_with(".nonfinite-fix-")), "{named:?}");
        drop(temporary);
        assert_eq!(names(folder.path()), ["in", "out"]);
    }

    /// The file has no more rights than the input while it is written.
    #[cfg(unix)]
    #[test]
    fn permissions_from_the_start() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, input, _) = folder();
        let named = Temporary::named(folder.path(), &input).unwrap();
        for mut file in [named, Temporary::new(folder.path(), &input).unwrap()] {
            let mode = file.file().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600);
        }
    }
}
