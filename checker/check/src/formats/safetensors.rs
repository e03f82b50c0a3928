//! The .safetensors format.
//!
//! Dtypes and the rules for shapes and offsets are those of the crate `safetensors`. This module
//! reads the header itself, for two reasons: the crate drops the first of two tensors with the same
//! name, and its sums of offsets and lengths can overflow.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::str::Utf8Error;
use std::sync::Arc;

use ::safetensors::{Dtype, SafeTensorError};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor, value};

use crate::model::reader::{Read, Reader, repeated, truncated};
use crate::model::{self, ByteOrder, Content, Data, FileFormat, Tensor};

impl FileFormat {
    /// The .safetensors format; see [`safetensors`](mod@crate::formats::safetensors).
    pub const SAFETENSORS: Self = Self::named("safetensors");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::SAFETENSORS,
    endings: &[".safetensors"],
    begins: |bytes, _| bytes.get(8) == Some(&b'{'),
    read: Read::Header(|stream, length, _| match read(stream, length)? {
        // An adapter of which nothing was saved, such as trl#4416.
        tensors if tensors.is_empty() => {
            Err(model::Error::NotRead("a .safetensors file without a tensor").into())
        }
        tensors => Ok(tensors.into()),
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
    #[error("{}", truncated(*.data, *.end,
        format_args!("tensor {name:?} ends at byte {end} of the data, the file has {data}")))]
    Offsets {
        /// The name of the tensor.
        name: String,
        /// The end of the data of this tensor.
        end: u64,
        /// The length of the data of the file.
        data: u64,
    },
    /// The file has bytes behind the last tensor.
    #[error("the last tensor ends at byte {end} of the data, the file has {data}")]
    Uncovered {
        /// The end of the last tensor.
        end: u64,
        /// The length of the data of the file.
        data: u64,
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
fn read(stream: &mut dyn io::Read, file: u64) -> Result<Vec<Tensor>, Error> {
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
    let start = 8 + length;
    describe(text, start, file.saturating_sub(start))
}

/// The tensors that a header describes, in the order of their data, which has `data` bytes and
/// begins at byte `start` of the file.
fn describe(header: Vec<u8>, start: u64, data: u64) -> Result<Vec<Tensor>, Error> {
    let header = String::from_utf8(header).map_err(|error| Error::Utf8(error.utf8_error()))?;
    let mut entries = serde_json::from_str::<Entries>(&header).map_err(Error::Json)?.0;
    drop(header);
    if let Some(name) = repeated(entries.iter().map(|(name, _)| &**name)) {
        return Err(Error::RepeatedName(name.to_owned()));
    }
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let end = |(_, entry): &(Arc<str>, Entry)| entry.data_offsets.1;
    if let Some(last) = entries.iter().max_by_key(|entry| end(entry)).filter(|it| end(it) > data) {
        return Err(Error::Offsets { name: last.0.to_string(), end: end(last), data });
    }
    entries.sort_by_key(|(_, entry)| entry.data_offsets);
    let (mut tensors, mut before) = (Vec::with_capacity(entries.len()), 0);
    for (name, entry) in entries {
        let (from, to) = entry.data_offsets;
        if from != before || to < from {
            return Err(Error::Layout(SafeTensorError::InvalidOffset(name.to_string())));
        }
        before = to;
        let content = entry.content().map_err(Error::Layout)?;
        let data = Data::Input(start + from..start + to);
        tensors.push(Tensor::new(name, entry.dtype, entry.shape, content, data));
    }
    if before != data {
        return Err(Error::Uncovered { end: before, data });
    }
    Ok(tensors)
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
struct Entries(Vec<(Arc<str>, Entry)>);

/// A tensor in the header, whose dtype may be unknown.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

impl Entry {
    /// The kind of the elements. The data of an unknown dtype may have any length.
    fn content(&self) -> Result<Content, SafeTensorError> {
        let dtype: Result<_, value::Error> =
            Dtype::deserialize(self.dtype.as_str().into_deserializer());
        let Ok(dtype) = dtype else {
            let why = format!("dtype {:?} is not known to this version", self.dtype);
            return Ok(Content::Unreadable(why.into()));
        };
        let elements = self.shape.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
        let bits = elements.and_then(|elements| elements.checked_mul(dtype.bitsize() as u64));
        let bits = bits.ok_or(SafeTensorError::ValidationOverflow)?;
        match (bits, self.data_offsets.1 - self.data_offsets.0) {
            (bits, _) if bits % 8 != 0 => Err(SafeTensorError::MisalignedSlice),
            (bits, bytes) if bits / 8 != bytes => Err(SafeTensorError::TensorInvalidInfo),
            _ => Ok(content(dtype)),
        }
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
        while let Some(name) = map.next_key::<Arc<str>>()? {
            if *name != *"__metadata__" {
                entries.push((name, map.next_value()?));
            } else if metadata.replace(map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field("__metadata__"));
            }
        }
        Ok(Entries(entries))
    }
}
