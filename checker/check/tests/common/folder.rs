//! Folders for the files of tests.

use std::ops::Deref;
use std::path::Path;

use tempfile::TempDir;

/// An empty folder in the build folder, removed at the end of the test.
///
/// No other process uses its name: two processes with one name would write to the same files.
pub(crate) struct Folder(TempDir);

pub(crate) fn folder(name: &str) -> Folder {
    let mut builder = tempfile::Builder::new();
    let folder = builder.prefix(&format!("{name}-")).tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    Folder(folder.expect("the build folder can be written to"))
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

/// As a path, and as an argument of a command.
impl<T: ?Sized> AsRef<T> for Folder
where
    Path: AsRef<T>,
{
    fn as_ref(&self) -> &T {
        self.0.path().as_ref()
    }
}
