//! The table of file formats, and one module for the reader of each.
//!
//! To add a format, write its module: the constant of [`FileFormat`], the error, the function that
//! reads, and the row `READER`. Then declare the module and name its row in `READERS`. The row says
//! everything that the crate decides by format, so the compiler asks for each decision.
//!
//! Readers take any bytes. They return tensors or a typed error and never panic. They allocate no
//! more than a small multiple of the header that is really there.

#[cfg(feature = "arrow")]
pub mod arrow;
pub(crate) mod ggml_types;
pub mod gguf;
pub mod npy;
pub mod npz;
pub mod onnx;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pytorch;
pub mod safetensors;
pub mod safetensors_index;
mod signatures;

use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::model::reader::{Reader, Stream};
use crate::model::source::Sequence;
use crate::model::{Error, FileFormat, Input, ReadAt, Source, Tensor};

/// The row of each format. The first whose `begins` says yes reads a file.
static READERS: &[&Reader] = &[
    &npy::READER,
    &pytorch::READER,
    &npz::READER,
    &gguf::READER,
    &safetensors_index::READER,
    &safetensors::READER,
    &onnx::READER,
    #[cfg(feature = "arrow")]
    &arrow::READER,
    #[cfg(feature = "parquet")]
    &parquet::READER,
];

/// Bytes by which formats of streams are told apart, and those with a header at their beginning.
pub(crate) const BEGINNING: usize = 16;

/// Bytes of a header that are read at a time.
const HEADER: usize = 64 << 10;

/// No row fits.
fn unknown() -> Error {
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

    /// The format that the ending of a file name stands for.
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
        let by_bytes = READERS.iter().find(|reader| (reader.begins)(bytes));
        by_bytes.map(|reader| reader.format).or_else(|| Self::by_path(path?))
    }

    /// As [`FileFormat::detect`], with the reason if there is no format.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] or [`Error::Unknown`].
    pub(crate) fn of_file(bytes: &[u8], path: Option<&Path>) -> Result<Self, Error> {
        let why = || signatures::not_built(bytes).map_or_else(unknown, Error::NotBuilt);
        Self::detect(bytes, path).ok_or_else(why)
    }

    /// The tensors of a file of this format.
    ///
    /// # Errors
    /// [`Error`] if the file is not whole or not valid.
    pub fn tensors(self, input: Input<'_>) -> Result<Vec<Tensor>, Error> {
        (self.reader()?.tensors)(input)
    }

    /// The tensors of a file of this format. Of a format with a header at its beginning, reads no
    /// more than that.
    ///
    /// # Errors
    /// [`Error`] if the file is not whole or not valid, or cannot be read.
    pub(crate) fn read(
        self,
        source: &dyn ReadAt,
        path: Option<&Path>,
    ) -> Result<Vec<Tensor>, Error> {
        match self.reader()?.stream {
            Some(Stream::Described(describe)) => {
                let mut header = BufReader::with_capacity(HEADER, Sequence::new(source, 0));
                Ok(describe(&mut header, Some(source.length()))?.tensors)
            }
            Some(Stream::InParts(_)) | None => self.tensors(Input { bytes: source.bytes()?, path }),
        }
    }

    /// The format of a file, by its first bytes or its name.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] or [`Error::Unknown`], and [`Error::Io`] if the file cannot be read.
    pub(crate) fn of_source(source: &dyn ReadAt, path: Option<&Path>) -> Result<Self, Error> {
        let mut beginning = vec![0; BEGINNING.min(source.length())];
        source.read_exact_at(&mut beginning, 0).map_err(Error::Io)?;
        let described = |format: &Self| {
            let stream = format.reader().ok().and_then(|reader| reader.stream);
            matches!(stream, Some(Stream::Described(_)))
        };
        match Self::detect(&beginning, path).filter(described) {
            Some(format) => Ok(format),
            // Archives are told apart by their members.
            None => Self::of_file(source.bytes()?, path),
        }
    }

    /// How a stream of this format is read.
    pub(crate) fn stream(self) -> Result<Stream, Error> {
        self.reader()?.stream.ok_or(Error::NoStream { format: self, hint: None })
    }

    /// Whether new numbers may be written over the old ones in a file of this format.
    pub(crate) fn is_fixable(self) -> bool {
        self.reader().is_ok_and(|reader| reader.is_fixable)
    }
}

/// The files that an index stands for. Empty for a path whose name is not that of an index, and for
/// an index that cannot be read: its check reports why.
#[must_use]
pub fn shards(index: &Path) -> Vec<PathBuf> {
    let names = || {
        let shards = FileFormat::by_path(index)?.reader().ok()?.shards?;
        shards(Source::open(index).ok()?.bytes().ok()?).ok()
    };
    names().into_iter().flatten().map(|name| index.with_file_name(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::signatures::not_built;
    use super::*;

    /// With a reader there is a format. Without it there is the name of its feature. There are
    /// never both.
    #[test]
    fn tables_are_known_without_their_readers() {
        let arrow: [&[u8]; 2] = [b"ARROW1\0\0", b"\xFF\xFF\xFF\xFF\x80\0\0\0"];
        let known = arrow.map(|bytes| (bytes, "arrow", cfg!(feature = "arrow")));
        let parquet: (&[u8], _, _) = (b"PAR1", "parquet", cfg!(feature = "parquet"));
        for (bytes, name, built) in known.into_iter().chain([parquet]) {
            let format = FileFormat::detect(bytes, None).map(FileFormat::name);
            let expected = if built { (Some(name), None) } else { (None, Some(name)) };
            assert_eq!((format, not_built(bytes)), expected);
        }
        assert_eq!(not_built(b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), None);
        assert_eq!(not_built(b""), None);
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
