//! The identity of a file format.

use std::fmt;

/// A file format.
///
/// The constants, such as `FileFormat::NPY`, stand in the files of the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileFormat(&'static str);

impl FileFormat {
    /// The format of this name. Only its reader calls this.
    pub(crate) const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// The name of the format, such as `safetensors`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}
