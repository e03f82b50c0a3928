//! The table of file formats, and one module for the reader of each.
//!
//! To add a format, write its module: the constant of [`FileFormat`], the function that reads,
//! and the row `READER`. Then declare the module and name its row in `READERS`. The row says
//! everything that the crate decides by format, so the compiler asks for each decision.
//!
//! Readers take any bytes. They return tensors or a typed error and never panic. A tensor that the
//! file describes takes up to 1.5 KB in its reader and its report, however short the description
//! is: SECURITY.md has the figures. What the file only claims takes no memory.

mod beside;
mod ggml_types;
pub mod gguf;
pub mod index;
pub mod npy;
pub mod npz;
pub mod onnx;
mod opaque;
pub mod pytorch;
pub mod safetensors;
mod signatures;

use std::borrow::Cow;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::model::ranges::{ReadAhead, Stream, read};
use crate::model::reader::{Contents, Read, Reader};
use crate::model::source::open;
use crate::model::{Error, FileFormat, Input, ReadAt, holds_text, is_text, text_of};

/// The row of each format. The first whose `begins` says yes reads a file.
static READERS: &[&Reader] = &[
    &npy::READER,
    &pytorch::READER,
    &npz::READER,
    &gguf::READER,
    &index::SAFETENSORS,
    &index::PYTORCH,
    &pytorch::CHECKPOINT,
    &safetensors::READER,
    &onnx::READER,
];

/// The bytes at the beginning that show the format, or what kind of text a file is.
fn beginning(source: &dyn ReadAt) -> io::Result<Cow<'_, [u8]>> {
    read(source, 0..source.length().min(512))
}

/// Bytes of a header read at a time.
const HEADER: usize = 64 << 10;

/// No row of the table fits.
pub(crate) fn unknown() -> Error {
    Error::Unknown { known: FileFormat::all().map(FileFormat::name).collect() }
}

impl FileFormat {
    fn reader(self) -> Result<&'static Reader, Error> {
        READERS.iter().copied().find(|reader| reader.format == self).ok_or_else(unknown)
    }

    /// Every format that this build can read.
    pub fn all() -> impl Iterator<Item = Self> {
        READERS.iter().map(|reader| reader.format)
    }

    /// The format of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// The format of files whose names end like this.
    #[must_use]
    pub fn by_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let ends = |reader: &&&Reader| reader.endings.iter().any(|ending| name.ends_with(ending));
        READERS.iter().find(ends).map(|reader| reader.format)
    }

    /// The format of a file by its first bytes. The name decides only if the bytes fit no format,
    /// so that a damaged file gets the message of its format.
    #[must_use]
    pub fn detect(bytes: &[u8], path: Option<&Path>) -> Option<Self> {
        Self::detect_in(bytes, &bytes, path)
    }

    /// As [`FileFormat::detect`] of a file with this beginning.
    pub(crate) fn detect_in(
        beginning: &[u8],
        source: &dyn ReadAt,
        path: Option<&Path>,
    ) -> Option<Self> {
        let by_bytes = READERS.iter().find(|reader| (reader.begins)(beginning, source));
        by_bytes.map(|reader| reader.format).or_else(|| Self::by_path(path?))
    }

    /// The contents of a file of this format. Only what describes the tensors is read.
    ///
    /// # Errors
    /// [`Error`] if the file is not whole or not valid, or cannot be read.
    pub(crate) fn read(self, source: &dyn ReadAt, path: Option<&Path>) -> Result<Contents, Error> {
        let reader = self.reader()?;
        let read = match reader.read {
            Read::Header(read) => {
                let file = Stream::new(ReadAhead::new(source), 0..source.length());
                let mut header = BufReader::with_capacity(HEADER, file);
                read(&mut header, source.length(), path)
            }
            Read::Anywhere(read) => {
                source.prepare()?;
                read(Input { source, path })
            }
        };
        // What the file is, if it is text in place of this format, such as the page of a server.
        let text = || {
            let beginning = beginning(source).ok()?;
            // The JSON of a server may begin as the header of safetensors does, at byte 8.
            let is = self != Self::SAFETENSORS && (reader.begins)(&beginning, source);
            text_of(&beginning).filter(|_| !is)
        };
        read.map_err(|error| match Error::refused(self, error) {
            Error::Refused { error, .. } => match text() {
                None => Error::Refused { format: self, error },
                // An index is text by itself.
                Some(what) if index::of_shards(self).is_some() => {
                    Error::refused(self, format!("{error}: this is {what}"))
                }
                Some(what) => Error::refused(self, format!("no {self} file: this is {what}")),
            },
            error => error,
        })
    }

    /// The format of a file, by its first bytes or its name.
    ///
    /// # Errors
    /// [`Error::NotRead`], [`Error::LfsPointer`], [`Error::Text`], [`Error::Picture`],
    /// [`Error::Unknown`], and [`Error::Io`] if the file cannot be read.
    pub(crate) fn of_source(source: &dyn ReadAt, path: Option<&Path>) -> Result<Self, Error> {
        let bytes = &*beginning(source).map_err(Error::Io)?;
        let has_header = |format: &Self| {
            format.reader().is_ok_and(|reader| matches!(reader.read, Read::Header(_)))
        };
        if let Some(format) = Self::detect(bytes, None).filter(has_header) {
            return Ok(format);
        }
        // The members of an archive tell its format.
        source.prepare()?;
        if bytes.starts_with(signatures::LFS_POINTER) {
            return Err(Error::LfsPointer);
        }
        // The kind of the bytes says more than a name that does not fit them. Zip archives are an
        // exception: they may be damaged files of a known format.
        let by_name =
            path.filter(|_| bytes.starts_with(b"PK") || signatures::not_read(bytes).is_none());
        if let Some(format) = Self::detect_in(bytes, source, by_name) {
            return Ok(format);
        }
        if let Some(what) = signatures::not_read(bytes) {
            return Err(Error::NotRead(what));
        }
        let is_text = holds_text(source, is_text).map_err(Error::Io)?;
        if let (true, Error::Unknown { known }) = (is_text, unknown()) {
            let what = text_of(bytes).unwrap_or_else(|| "text".to_owned());
            return Err(Error::Text { known, what });
        }
        Err(match signatures::picture(source).map_err(Error::Io)? {
            Some(what) => Error::Picture(what),
            None => {
                path.and_then(signatures::not_read_by_name).map_or_else(unknown, Error::NotRead)
            }
        })
    }
}

/// The files of the shards of an index. Empty if the name of the path is not that of an index. Also
/// empty for an index that cannot be read: its check reports the reason.
#[must_use]
pub fn shards(index: &Path) -> Vec<PathBuf> {
    let names = index_of(index).map(|format| shards_in(index, format, || open(index).ok()));
    names.into_iter().flatten().map(|name| index.with_file_name(name)).collect()
}

/// The names of the shards of a set, if this is the name of its index. The shards of such a set are
/// files of their own. `open` opens the index, and is called only if the name is that of one.
pub(crate) fn shards_of_set(
    name: &str,
    open: impl FnOnce() -> Option<Arc<dyn ReadAt>>,
) -> Vec<String> {
    let format = index_of(Path::new(name)).filter(|&format| index::of_shards(format).is_some());
    format.map(|format| shards_in(Path::new(name), format, open)).unwrap_or_default()
}

/// The format of the index of shards with this name.
fn index_of(path: &Path) -> Option<FileFormat> {
    if path.file_name()? == pytorch::METADATA {
        return Some(FileFormat::PYTORCH_CHECKPOINT);
    }
    FileFormat::by_path(path).filter(|&format| index::of_shards(format).is_some())
}

/// The names of the shards of an index that is named like one of this format.
fn shards_in(
    index: &Path,
    format: FileFormat,
    open: impl FnOnce() -> Option<Arc<dyn ReadAt>>,
) -> Vec<String> {
    let names = || {
        let shards = format.reader().ok()?.shards?;
        let source = open()?;
        source.prepare().ok()?;
        // The check reads an index only if the bytes are of this format.
        let bytes = beginning(&*source).ok()?;
        if FileFormat::detect_in(&bytes, &*source, Some(index)) != Some(format) {
            return None;
        }
        shards(&*source).ok()
    };
    let mut names = names().unwrap_or_default();
    // An index is never left out. So each file that is left out belongs to an index that is
    // checked.
    names.retain(|name| index_of(Path::new(name)).is_none());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of a set is opened only if the name is that of an index.
    #[test]
    fn shards_of_a_set() {
        let index = br#"{"weight_map":{"x":"a.safetensors","y":"b.safetensors"}}"#;
        let open = || Some(Arc::new(&index[..]) as Arc<dyn ReadAt>);
        let shards = shards_of_set("model.safetensors.index.json", open);
        assert_eq!(shards, ["a.safetensors", "b.safetensors"]);
        for name in ["a.safetensors", "model.json"] {
            assert!(shards_of_set(name, || unreachable!("no index")).is_empty());
        }
        assert!(shards_of_set("model.safetensors.index.json", || None).is_empty());
    }

    #[test]
    fn each_format_has_a_name_and_endings_of_its_own() {
        for (index, reader) in READERS.iter().enumerate() {
            assert_eq!(FileFormat::by_name(reader.format.name()), Some(reader.format));
            let others = READERS[..index].iter().flat_map(|other| other.endings);
            assert!(others.into_iter().all(|ending| !reader.endings.contains(ending)));
        }
    }
}
