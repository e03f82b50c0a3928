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
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor, value};

use crate::model::reader::{Read, Reader, truncated};
use crate::model::{self, ByteOrder, Content, Data, FileFormat, Tensor};

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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is too short for the length field of the header.
    #[error("truncated: too short for a .safetensors file, which begins with a length of 8 bytes")]
    Truncated,
    /// The header is longer than the reference implementation accepts.
    #[error("bad .safetensors header: {0} bytes are too many")]
    HeaderTooLong(u64),
    /// The file ends before the header does.
    #[error("{}", truncated(*.has, *.header,
        format_args!("the file ends before its header of {header} bytes does")))]
    TruncatedHeader {
        /// The bytes of the header.
        header: u64,
        /// How many of them the file has.
        has: u64,
    },
    /// The header is not UTF-8.
    #[error("bad .safetensors header: {0}")]
    Utf8(#[source] Utf8Error),
    /// The header is not the JSON of a .safetensors file.
    #[error("bad .safetensors header: {0}")]
    Json(#[source] serde_json::Error),
    /// Two tensors have this name.
    #[error("bad .safetensors header: two tensors of the name {0:?}")]
    RepeatedName(String),
    /// The data of this tensor ends behind the end of the file.
    #[error("{}", truncated(*.data as u64, *.end as u64,
        format_args!("tensor {name:?} ends at byte {end} of the data, the file has {data}")))]
    Offsets {
        /// The name of the tensor.
        name: String,
        /// The end of the data of this tensor.
        end: usize,
        /// The length of the data of the file.
        data: usize,
    },
    /// The file has bytes behind the last tensor.
    #[error("the last tensor ends at byte {end} of the data, the file has {data}")]
    Uncovered {
        /// The end of the last tensor.
        end: usize,
        /// The length of the data of the file.
        data: usize,
    },
    /// Offsets of this tensor overlap others, leave a gap, or do not fit its shape and dtype.
    #[error("bad .safetensors header: {}", of_layout(.0))]
    Layout(#[source] SafeTensorError),
}

/// The text of an error of the crate `safetensors`.
fn of_layout(error: &SafeTensorError) -> String {
    match error {
        SafeTensorError::InvalidOffset(name) => {
            format!("tensor {name:?} does not begin where the one before ends")
        }
        SafeTensorError::TensorInvalidInfo => "offsets that do not fit shape and dtype".to_owned(),
        error => error.to_string(),
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
    let has = read.map_or(0, |count| count as u64);
    if has < length {
        return Err(Error::TruncatedHeader { header: length, has });
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
    let last = entries.iter().max_by_key(|(_, info)| info.data_offsets.1);
    if let Some((name, info)) = last.filter(|(_, info)| info.data_offsets.1 > data) {
        return Err(Error::Offsets { name: name.clone(), end: info.data_offsets.1, data });
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
                let Tensor { description, data, .. } = tensor;
                let name = description.name.clone().unwrap_or_default();
                Tensor::new(name, dtype, shape, Content::Unreadable(why.into()), data)
            }
        })
    });
    Ok(tensors.collect())
}

fn tensor(name: &str, info: &TensorInfo, data: usize) -> Tensor {
    let (start, end) = info.data_offsets;
    let data = Data::Input(data + start..data + end);
    let (dtype, content) = (info.dtype.to_string(), content(info.dtype));
    Tensor::new(name.to_owned(), dtype, info.shape.clone(), content, data)
}

fn content(dtype: Dtype) -> Content {
    match dtype {
        Dtype::BOOL | Dtype::U8 | Dtype::I8 | Dtype::I16 | Dtype::U16 => Content::NotFloat,
        Dtype::I32 | Dtype::U32 | Dtype::I64 | Dtype::U64 => Content::NotFloat,
        _ => Content::named(&dtype.to_string(), ByteOrder::Little).unwrap_or_else(|| {
            Content::Unreadable(format!("dtype {dtype} is not known to this version").into())
        }),
    }
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
