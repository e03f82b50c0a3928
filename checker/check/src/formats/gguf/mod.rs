//! GGUF, the format of ggml and llama.cpp, versions 2 and 3, in either byte order.
//!
//! The check looks at every value of float types, and at the scales of quantised types. The last
//! index of a shape runs fastest, as in numpy. GGUF lists extents in the reverse order. Floats in
//! the metadata are tensors named `metadata.KEY`.
//!
//! Source of the types: ggml's `ggml_type` and block structs, as in `ggml_validate_row_data`. NaN
//! in MXFP4 and NVFP4 is defined by their standards (OCP MX 1.0: scale E8M0, 0xFF; NVFP4: scale OCP
//! E4M3, 0x7F and 0xFF). ggml's decoder of NVFP4 takes such a scale for zero or a number. A finite
//! scale is clean although its product with a weight may overflow: in MXFP4, the scale 0xFE with
//! weights from 2 on, and the scale 0xFD with weights from 4 on, give infinity in f32. Lint finds
//! such weights.
//!
//! A model may be split into files whose names end in `-00001-of-00003.gguf`. Each is checked
//! alone. A part that is not beside the others counts as a damaged part of each.

mod header;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;

use self::header::{Header, Metadata};
use crate::formats::ggml_types::{self, Kind};
use crate::formats::opaque;
use crate::model::reader::{Contents, Read, Reader, Refused, repeated, truncated};
use crate::model::source::exists;
use crate::model::{ByteOrder, Content, Data, FileFormat, Tensor};

impl FileFormat {
    /// GGUF; see [`gguf`](crate::formats::gguf).
    pub const GGUF: Self = Self::named("gguf");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::GGUF,
    endings: &[".gguf"],
    begins: |bytes, _| bytes.starts_with(MAGIC),
    read: Read::Header(read),
    shards: None,
};

/// How a GGUF file begins.
pub const MAGIC: &[u8] = b"GGUF";

/// The most dimensions that ggml accepts.
const MAX_RANK: u32 = 4;

/// The default alignment of data.
const ALIGNMENT: u64 = 32;

/// The most metadata values. Models have fewer than 100. A value that is a float takes about 1 KB.
const MAX_VALUES: u64 = 1 << 16;

/// A GGUF file of this length, read from its beginning: the floats in its metadata, and its tensors
/// in the order of their data. Tensors of types that ggml does not store are unreadable.
fn read(stream: &mut dyn io::Read, length: u64, path: Option<&Path>) -> Result<Contents, Refused> {
    let mut header = Header { stream, read: 0, order: ByteOrder::Little };
    if header.take::<4>("header")? != *MAGIC {
        return Err("not a GGUF file".into());
    }
    let version = header.u32("header")?;
    // In the other byte order, the version is a multiple of 2^24.
    if version & 0xFFFF == 0 {
        header.order = ByteOrder::Big;
    }
    let version = if header.order == ByteOrder::Big { version.swap_bytes() } else { version };
    if !(2..=3).contains(&version) {
        return Err(format!("GGUF version {version} is not known").into());
    }
    let (count, values) = (header.u64("header")?, header.u64("header")?);
    if values > MAX_VALUES {
        let why = format!("{values} metadata values, more than {MAX_VALUES}");
        return Err(format!("bad GGUF header: {why}").into());
    }
    let mut metadata =
        Metadata { alignment: ALIGNMENT, floats: Vec::new(), parts: 1, counts: BTreeMap::new() };
    for _ in 0..values {
        metadata.read(&mut header)?;
    }
    let Metadata { alignment, floats, parts, counts } = metadata;
    // Without capacity, since the count may be false.
    let mut infos = Vec::new();
    for _ in 0..count {
        infos.push(Info::read(&mut header)?);
    }
    if let Some(name) = repeated(infos.iter().map(|info| &*info.name)) {
        return Err(format!("bad GGUF header: two tensors of the name {name:?}").into());
    }
    let Header { read, order, .. } = header;
    let data = read.next_multiple_of(alignment);
    infos.sort_by_key(|info| info.offset);
    let (mut tensors, mut used) = (floats, read);
    for info in infos {
        tensors.push(info.tensor(data, alignment, order, &mut used)?);
    }
    if let Some(last) = tensors.last().filter(|_| used > length) {
        let why = format!("tensor {:?} ends behind the file", last.label());
        return Err(truncated(length, used, why).into());
    }
    tensors.extend(path.and_then(|path| missing_parts(path, parts)));
    Ok(Contents { tensors, counts, ..Contents::default() })
}

/// The parts of a model that are not beside the file, if it is one of several. The names are those
/// that llama.cpp reads.
fn missing_parts(path: &Path, count: u64) -> Option<Tensor> {
    let name = path.file_name().filter(|_| count > 1)?.to_string_lossy();
    let end = format!("-of-{count:05}.gguf");
    let numbered = name.strip_suffix(&*end).and_then(|start| start.rsplit_once('-'));
    let Some((prefix, _)) = numbered else {
        let why = format!("no name that ends in -00001{end} says where the other parts are");
        return Some(opaque::damaged(name.into(), why));
    };
    let parts = (1..=count).map(|number| format!("{prefix}-{number:05}{end}"));
    let mut missing = parts.filter(|part| !exists(&path.with_file_name(part)));
    let first = missing.next()?;
    let why = format!("{} of the {count} parts of the model are not here", missing.count() + 1);
    Some(opaque::damaged(first, why))
}

/// A tensor as the header lists it.
struct Info {
    name: String,
    /// The extents. The first index runs fastest.
    extents: Vec<u64>,
    kind: u32,
    /// The offset of the data, from the beginning of all data.
    offset: u64,
}

impl Info {
    fn read(header: &mut Header<'_>) -> Result<Self, Refused> {
        const LIST: &str = "list of tensors";
        let name = String::from_utf8(header.string(LIST)?)
            .map_err(|_| "bad GGUF header: a name is not UTF-8")?;
        let rank = header.u32(LIST)?;
        if rank > MAX_RANK {
            let why = format!("{rank} dimensions, more than {MAX_RANK}");
            return Err(format!("bad GGUF header: {why}").into());
        }
        let extents = (0..rank).map(|_| header.u64(LIST)).collect::<Result<_, _>>()?;
        Ok(Self { name, extents, kind: header.u32(LIST)?, offset: header.u64(LIST)? })
    }

    /// The tensor. `used` is the end of the data of the tensors before it.
    fn tensor(
        self,
        data: u64,
        alignment: u64,
        order: ByteOrder,
        used: &mut u64,
    ) -> Result<Tensor, Refused> {
        let shape = self.shape().ok_or_else(|| self.bad("is too large to exist"))?;
        let (dtype, content, range) = match ggml_types::find(self.kind) {
            Some(kind) if !(kind.is_nibbles() && order == ByteOrder::Big) => {
                let range = self.range(&kind, data, alignment)?;
                (kind.name.to_owned(), kind.content(order), range)
            }
            known => {
                let dtype = known
                    .map_or_else(|| format!("type {}", self.kind), |kind| kind.name.to_owned());
                let why = "this ggml type cannot be looked at".into();
                (dtype, Content::Unreadable(why), 0..0)
            }
        };
        if !range.is_empty() {
            if range.start < *used {
                return Err(self.bad("overlaps another"));
            }
            *used = range.end;
        }
        Ok(Tensor::new(self.name, dtype, shape, content, Data::Input(range)))
    }

    fn bad(&self, why: &str) -> Refused {
        format!("tensor {:?} {why}", self.name).into()
    }

    /// The extents in the order of numpy. None if their product overflows.
    fn shape(&self) -> Option<Vec<u64>> {
        let shape: Vec<_> = self.extents.iter().rev().copied().collect();
        shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent.max(1)))?;
        Some(shape)
    }

    /// The range of its data, which may end behind the file.
    fn range(&self, kind: &Kind, data: u64, alignment: u64) -> Result<Range<u64>, Refused> {
        let (block, block_bytes) = kind.block();
        if !self.extents.first().unwrap_or(&1).is_multiple_of(block) {
            return Err(self.bad("has rows that are no whole number of blocks"));
        }
        if !self.offset.is_multiple_of(alignment) {
            return Err(self.bad("does not begin at a multiple of the alignment"));
        }
        let elements =
            self.extents.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
        let length = elements.and_then(|elements| (elements / block).checked_mul(block_bytes));
        let start = data.checked_add(self.offset);
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        match (start, end) {
            (Some(start), Some(end)) if start == end => Ok(0..0),
            (Some(start), Some(end)) => Ok(start..end),
            _ => Err(self.bad("is too large to exist")),
        }
    }
}
