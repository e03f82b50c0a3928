//! The .safetensors format.
//!
//! Dtypes and the rules for shapes and offsets are those of the crate `safetensors`. This module
//! reads the header itself, for two reasons: the crate drops the first of two tensors with the same
//! name, and its sums of offsets and lengths can overflow.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::str::Utf8Error;

use ::safetensors::tensor::{Metadata, TensorInfo};
use ::safetensors::{Dtype, SafeTensorError};
use nonfinite::Format;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor, value};

use crate::model::reader::{Read, Reader};
use crate::model::{self, ByteOrder, Content, Data, FileFormat, Layout, Tensor};

impl FileFormat {
    /// The .safetensors format; see [`safetensors`](mod@crate::formats::safetensors).
    pub const SAFETENSORS: Self = Self::named("safetensors");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::SAFETENSORS,
    endings: &[".safetensors"],
    begins: |bytes| bytes.get(8) == Some(&b'{'),
    read: Read::Header(|stream, length, _| match read(stream, length)? {
        // An adapter of which nothing was saved, such as trl#4416.
        tensors if tensors.is_empty() => {
            Err(model::Error::NotRead("a .safetensors file without a tensor").into())
        }
        tensors => Ok(tensors),
    }),
    shards: None,
};

/// The longest header that the reference implementation accepts.
const MAX_HEADER: u64 = 100_000_000;

/// Why a .safetensors file cannot be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file is too short for the length field of the header.
    Truncated,
    /// The header is longer than the reference implementation accepts.
    HeaderTooLong(u64),
    /// The file ends before the header does.
    TruncatedHeader(u64),
    /// The header is not UTF-8.
    Utf8(Utf8Error),
    /// The header is not the JSON of a .safetensors file.
    Json(serde_json::Error),
    /// Two tensors have this name.
    RepeatedName(String),
    /// The data of this tensor ends behind the end of the file.
    Offsets {
        /// The name of the tensor.
        name: String,
        /// The end of the data of this tensor.
        end: usize,
        /// The length of the data of the file.
        data: usize,
    },
    /// The file has bytes behind the last tensor.
    Uncovered {
        /// The end of the last tensor.
        end: usize,
        /// The length of the data of the file.
        data: usize,
    },
    /// Offsets of this tensor overlap others, leave a gap, or do not fit its shape and dtype.
    Layout(SafeTensorError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("too short for a .safetensors file"),
            Self::HeaderTooLong(length) => {
                write!(f, "bad .safetensors header: {length} bytes are too many")
            }
            Self::TruncatedHeader(length) => {
                write!(f, "the file ends before its header of {length} bytes does")
            }
            Self::Utf8(error) => write!(f, "bad .safetensors header: {error}"),
            Self::Json(error) => write!(f, "bad .safetensors header: {error}"),
            Self::RepeatedName(name) => {
                write!(f, "bad .safetensors header: two tensors of the name {name:?}")
            }
            Self::Offsets { name, end, data } => {
                write!(f, "tensor {name:?} ends at byte {end} of the data, the file has {data}")
            }
            Self::Uncovered { end, data } => {
                write!(f, "the last tensor ends at byte {end} of the data, the file has {data}")
            }
            Self::Layout(SafeTensorError::InvalidOffset(name)) => {
                write!(
                    f,
                    "bad .safetensors header: \
                     tensor {name:?} does not begin where the one before ends"
                )
            }
            Self::Layout(SafeTensorError::TensorInvalidInfo) => {
                f.write_str("bad .safetensors header: offsets that do not fit shape and dtype")
            }
            Self::Layout(error) => write!(f, "bad .safetensors header: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Utf8(error) => Some(error),
            Self::Json(error) => Some(error),
            Self::Layout(error) => Some(error),
            Self::Truncated
            | Self::HeaderTooLong(_)
            | Self::TruncatedHeader(_)
            | Self::RepeatedName(_)
            | Self::Offsets { .. }
            | Self::Uncovered { .. } => None,
        }
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::SAFETENSORS, error)
    }
}

/// Reads the header at the beginning of a .safetensors file of this length.
fn read(stream: &mut dyn io::Read, file: usize) -> Result<Vec<Tensor>, Error> {
    let mut length = [0; 8];
    stream.read_exact(&mut length).map_err(|_| Error::Truncated)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(Error::HeaderTooLong(length));
    }
    // The memory grows with the bytes that are there, not with the claimed length.
    let mut text = Vec::new();
    let read = stream.take(length).read_to_end(&mut text);
    if !read.is_ok_and(|count| count as u64 == length) {
        return Err(Error::TruncatedHeader(length));
    }
    // The header was within the file, unless another process has cut the file.
    let start = size_of::<u64>() + text.len();
    describe(text, start, file.saturating_sub(start))
}

/// The tensors that a header describes, in the order of their data, which has `data` bytes and
/// begins at byte `start` of the file.
fn describe(header: Vec<u8>, start: usize, data: usize) -> Result<Vec<Tensor>, Error> {
    let header = String::from_utf8(header).map_err(|error| Error::Utf8(error.utf8_error()))?;
    let entries = serde_json::from_str::<Entries>(&header).map_err(Error::Json)?.0;
    let mut unknown = BTreeMap::new();
    let entries = entries.into_iter().map(|(name, entry)| entry.known(name, &mut unknown));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::RepeatedName(pair[0].0.clone()));
    }
    for (name, info) in &entries {
        let end = info.data_offsets.1;
        if end > data {
            return Err(Error::Offsets { name: name.clone(), end, data });
        }
    }
    entries.sort_by_key(|(_, info)| info.data_offsets);
    let end = entries.last().map_or(0, |(_, info)| info.data_offsets.1);
    let metadata = Metadata::new(None, entries).map_err(Error::Layout)?;
    if end != data {
        return Err(Error::Uncovered { end, data });
    }
    let names = metadata.offset_keys().into_iter();
    let tensors = names.filter_map(|name| {
        let tensor = tensor(&name, metadata.info(&name)?, start);
        Some(match unknown.remove(&name) {
            None => tensor,
            Some(Entry { dtype, shape, .. }) => {
                let why = format!("dtype {dtype:?} is not known to this version");
                Tensor { dtype, shape, content: Content::Unreadable(why.into()), ..tensor }
            }
        })
    });
    Ok(tensors.collect())
}

fn tensor(name: &str, info: &TensorInfo, data: usize) -> Tensor {
    let (start, end) = info.data_offsets;
    Tensor {
        name: Some(name.to_owned()),
        file: None,
        dtype: info.dtype.to_string(),
        shape: info.shape.clone(),
        layout: Layout::RowMajor,
        content: content(info.dtype),
        data: Data::Input(data + start..data + end),
    }
}

fn content(dtype: Dtype) -> Content {
    let (format, parts) = match dtype {
        Dtype::F64 => (Format::F64, 1),
        Dtype::F32 => (Format::F32, 1),
        Dtype::F16 => (Format::F16, 1),
        Dtype::BF16 => (Format::Bf16, 1),
        Dtype::C64 => (Format::F32, 2),
        Dtype::F8_E5M2 => (Format::F8E5M2, 1),
        Dtype::F8_E4M3 => (Format::F8E4M3Fn, 1),
        Dtype::F8_E8M0 => (Format::F8E8M0Fnu, 1),
        Dtype::F8_E4M3FNUZ => (Format::F8E4M3FnUz, 1),
        Dtype::F8_E5M2FNUZ => (Format::F8E5M2FnUz, 1),
        Dtype::F4 | Dtype::F6_E2M3 | Dtype::F6_E3M2 => return Content::AlwaysFinite,
        Dtype::BOOL | Dtype::U8 | Dtype::I8 | Dtype::I16 | Dtype::U16 => return Content::NotFloat,
        Dtype::I32 | Dtype::U32 | Dtype::I64 | Dtype::U64 => return Content::NotFloat,
        _ => {
            let why = format!("dtype {dtype} is not known to this version");
            return Content::Unreadable(why.into());
        }
    };
    Content::Floats { format, parts, order: ByteOrder::Little }
}

/// The tensors in the order of the header, including repeated names.
struct Entries(Vec<(String, Entry)>);

/// A tensor in the header, whose dtype may be unknown.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Entry {
    /// The entry for the crate `safetensors`. An entry of an unknown dtype goes to `unknown`, and
    /// bytes take its place.
    fn known(self, name: String, unknown: &mut BTreeMap<String, Self>) -> (String, TensorInfo) {
        let dtype: Result<_, value::Error> =
            Dtype::deserialize(self.dtype.as_str().into_deserializer());
        let data_offsets @ (start, end) = self.data_offsets;
        if let Ok(dtype) = dtype {
            return (name, TensorInfo { dtype, shape: self.shape, data_offsets });
        }
        unknown.insert(name.clone(), self);
        let shape = vec![end.saturating_sub(start)];
        (name, TensorInfo { dtype: Dtype::U8, shape, data_offsets })
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        let mut metadata: Option<Option<BTreeMap<String, String>>> = None;
        while let Some(name) = map.next_key::<String>()? {
            if name != "__metadata__" {
                entries.push((name, map.next_value()?));
            } else if metadata.replace(map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field("__metadata__"));
            }
        }
        Ok(Entries(entries))
    }
}
