//! The table of file formats. A reader is one file in this folder and one line in [`READERS`].
//!
//! Readers take any bytes. They answer with tensors or a typed error, never with a panic, and allocate no more than a
//! small multiple of the header that is really there.

pub mod npy;
pub mod onnx;
pub mod safetensors;

use std::path::Path;

use crate::Error;
use crate::source::Input;
use crate::tensor::Tensor;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// See [`npy`].
    Npy,
    /// See [`mod@safetensors`].
    Safetensors,
    /// See [`onnx`].
    Onnx,
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
    /// The tensors that the bytes hold. Ranges are within the bytes, and as long as shape and content say.
    tensors: fn(Input<'_>) -> Result<Vec<Tensor>, Error>,
}

/// In the order of the enum.
const READERS: [Reader; 3] = [
    Reader {
        format: FileFormat::Npy,
        name: "npy",
        endings: &[".npy"],
        begins: |bytes| bytes.starts_with(npy::MAGIC),
        tensors: |input| npy::tensors(input.bytes).map_err(Error::Npy),
    },
    Reader {
        format: FileFormat::Safetensors,
        name: "safetensors",
        endings: &[".safetensors"],
        begins: |bytes| bytes.get(8) == Some(&b'{'),
        tensors: |input| safetensors::tensors(input.bytes).map_err(Error::Safetensors),
    },
    Reader {
        format: FileFormat::Onnx,
        name: "onnx",
        endings: &[".onnx"],
        begins: onnx::begins,
        tensors: onnx::tensors,
    },
];

impl FileFormat {
    fn reader(self) -> &'static Reader {
        const {
            let mut i = 0;
            while i < READERS.len() {
                assert!(READERS[i].format as usize == i, "the table is in the order of the enum");
                i += 1;
            }
        }
        &READERS[self as usize]
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

    /// The format of a file by its first bytes. Its name decides only if they say nothing, so that a damaged file gets
    /// the message that fits.
    #[must_use]
    pub fn detect(bytes: &[u8], path: Option<&Path>) -> Option<Self> {
        let by_bytes = READERS.iter().find(|reader| (reader.begins)(bytes)).map(|reader| reader.format);
        by_bytes.or_else(|| Self::by_path(path?))
    }

    /// The tensors of a file of this format.
    ///
    /// # Errors
    /// [`Error`] for anything but a whole, good file.
    pub fn tensors(self, input: Input<'_>) -> Result<Vec<Tensor>, Error> {
        (self.reader().tensors)(input)
    }
}
