//! The table of file formats. A reader is one file in this folder and one line in `READERS`.
//!
//! Readers take any bytes. They answer with tensors or a typed error, never with a panic, and
//! allocate no more than a small multiple of the header that is really there.

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod decompress;
mod ggml_types;
pub mod gguf;
pub mod npy;
pub mod npz;
pub mod onnx;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pytorch;
pub mod safetensors;
pub mod safetensors_index;

use std::io::Read;
use std::path::Path;

use crate::Error;
#[cfg(feature = "arrow")]
use crate::Options;
use crate::source::Input;
use crate::stream::Described;
#[cfg(feature = "arrow")]
use crate::stream::Scanned;
use crate::tensor::Tensor;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// See [`npy`].
    Npy,
    /// See [`pytorch`].
    Pytorch,
    /// See [`npz`].
    Npz,
    /// See [`gguf`].
    Gguf,
    /// See [`safetensors_index`].
    SafetensorsIndex,
    /// See [`mod@safetensors`].
    Safetensors,
    /// See [`onnx`].
    Onnx,
    /// See [`arrow`].
    #[cfg(feature = "arrow")]
    Arrow,
    /// See [`parquet`].
    #[cfg(feature = "parquet")]
    Parquet,
}

/// One line of the table.
struct Reader {
    format: FileFormat,
    /// As it is printed, and as [`FileFormat::by_name`] takes it.
    name: &'static str,
    /// What names of such files end with.
    endings: &'static [&'static str],
    /// Whether a file begins as one of this format does. The first line that says yes counts.
    begins: fn(&[u8]) -> bool,
    /// The tensors that the bytes hold. Ranges are within the bytes, and as long as shape and
    /// content say.
    tensors: fn(Input<'_>) -> Result<Vec<Tensor>, Error>,
    /// How a stream is read, for formats that can come as one.
    stream: Option<Stream>,
}

/// How a file that comes as a stream is read.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// It begins with what lies where: this reads it.
    Described(fn(&mut dyn Read) -> Result<Described, Error>),
    /// It tells this in parts between the data: this reads all of it.
    #[cfg(feature = "arrow")]
    InParts(fn(&mut dyn Read, &Options) -> Result<Scanned, Error>),
}

/// In the order of the enum.
static READERS: &[Reader] = &[
    Reader {
        format: FileFormat::Npy,
        name: "npy",
        endings: &[".npy"],
        begins: |bytes| bytes.starts_with(npy::MAGIC),
        tensors: |input| npy::tensors(input.bytes).map_err(Error::Npy),
        stream: Some(Stream::Described(|stream| npy::describe_stream(stream).map_err(Error::Npy))),
    },
    Reader {
        format: FileFormat::Pytorch,
        name: "pytorch",
        endings: &[".pt", ".pth", ".ckpt", ".jit"],
        begins: pytorch::begins,
        tensors: |input| pytorch::tensors(input).map_err(Error::Pytorch),
        stream: None,
    },
    Reader {
        format: FileFormat::Npz,
        name: "npz",
        endings: &[".npz"],
        begins: |bytes| bytes.starts_with(npz::MAGIC),
        tensors: |input| npz::tensors(input).map_err(Error::Npz),
        stream: None,
    },
    Reader {
        format: FileFormat::Gguf,
        name: "gguf",
        endings: &[".gguf"],
        begins: |bytes| bytes.starts_with(gguf::MAGIC),
        tensors: |input| gguf::tensors(input).map_err(Error::Gguf),
        stream: None,
    },
    Reader {
        format: FileFormat::SafetensorsIndex,
        name: "safetensors.index.json",
        endings: &[".safetensors.index.json"],
        // JSON like any other: the name has to tell.
        begins: |_| false,
        tensors: safetensors_index::tensors,
        stream: None,
    },
    Reader {
        format: FileFormat::Safetensors,
        name: "safetensors",
        endings: &[".safetensors"],
        begins: |bytes| bytes.get(8) == Some(&b'{'),
        tensors: |input| safetensors::tensors(input.bytes).map_err(Error::Safetensors),
        stream: Some(Stream::Described(|stream| {
            safetensors::describe_stream(stream).map_err(Error::Safetensors)
        })),
    },
    Reader {
        format: FileFormat::Onnx,
        name: "onnx",
        endings: &[".onnx"],
        begins: onnx::begins,
        tensors: onnx::tensors,
        stream: None,
    },
    #[cfg(feature = "arrow")]
    Reader {
        format: FileFormat::Arrow,
        name: "arrow",
        endings: &[".arrow", ".arrows", ".feather", ".ipc"],
        begins: begins_arrow,
        tensors: arrow::tensors,
        stream: Some(Stream::InParts(arrow::scan)),
    },
    #[cfg(feature = "parquet")]
    Reader {
        format: FileFormat::Parquet,
        name: "parquet",
        endings: &[".parquet"],
        begins: |bytes| bytes.starts_with(parquet::MAGIC),
        tensors: |input| parquet::tensors(input).map_err(Error::Parquet),
        stream: None,
    },
];

// Builds without the readers know their files, too.
/// How a file of Arrow begins.
const ARROW_FILE: &[u8] = b"ARROW1\0\0";
/// How each message of a stream of Arrow begins.
const ARROW_MESSAGE: &[u8] = b"\xFF\xFF\xFF\xFF";
/// How a Parquet file begins.
const PARQUET_FILE: &[u8] = b"PAR1";

/// Whether a file begins as a file or a stream of Arrow does: the first message of a stream is a
/// schema.
fn begins_arrow(bytes: &[u8]) -> bool {
    let stream = || {
        let length = bytes.strip_prefix(ARROW_MESSAGE)?.first_chunk()?;
        Some((1..1 << 30).contains(&i32::from_le_bytes(*length)))
    };
    bytes.starts_with(ARROW_FILE) || stream().unwrap_or(false)
}

/// The feature whose reader would read this file, if this build has none.
pub(crate) fn not_built(bytes: &[u8]) -> Option<&'static str> {
    if !cfg!(feature = "arrow") && begins_arrow(bytes) {
        Some("arrow")
    } else if !cfg!(feature = "parquet") && bytes.starts_with(PARQUET_FILE) {
        Some("parquet")
    } else {
        None
    }
}

impl FileFormat {
    fn reader(self) -> &'static Reader {
        let reader = &READERS[self as usize];
        debug_assert_eq!(reader.format, self, "the table is in the order of the enum");
        reader
    }

    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> {
        READERS.iter().map(|reader| reader.format)
    }

    /// Its name, such as `safetensors`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.reader().name
    }

    /// The format of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// The format that the name of a file speaks of.
    #[must_use]
    pub fn by_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let ends = |reader: &&Reader| reader.endings.iter().any(|ending| name.ends_with(ending));
        READERS.iter().find(ends).map(|reader| reader.format)
    }

    /// The format of a file by its first bytes. Its name decides only if they say nothing, so that
    /// a damaged file gets the message that fits.
    #[must_use]
    pub fn detect(bytes: &[u8], path: Option<&Path>) -> Option<Self> {
        let by_bytes =
            READERS.iter().find(|reader| (reader.begins)(bytes)).map(|reader| reader.format);
        by_bytes.or_else(|| Self::by_path(path?))
    }

    /// The tensors of a file of this format.
    ///
    /// # Errors
    /// [`Error`] for anything but a whole, good file.
    pub fn tensors(self, input: Input<'_>) -> Result<Vec<Tensor>, Error> {
        (self.reader().tensors)(input)
    }

    /// How a file of this format is read from a stream.
    pub(crate) fn stream(self) -> Result<Stream, Error> {
        self.reader().stream.ok_or(Error::NoStream(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a reader there is a format, without it there is the name of its feature, and never
    /// both.
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
}
