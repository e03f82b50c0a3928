//! GGUF, the format of ggml and llama.cpp, versions 2 and 3, in either byte order.
//!
//! The check looks at every value of float types, and at the scales of quantised types. The last
//! index of a shape runs fastest, as in numpy. GGUF lists extents in the reverse order. Floats in
//! the metadata are tensors named `metadata.KEY`.
//!
//! Source of the types: ggml's `ggml_type` and block structs, as in `ggml_validate_row_data`. NaN
//! in MXFP4 and NVFP4 is defined by their standards (OCP MX 1.0: scale E8M0, 0xFF; NVFP4: scale OCP
//! E4M3, 0x7F and 0xFF). ggml's decoder of NVFP4 takes such a scale for zero or a number.

mod header;

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use self::header::{Header, Metadata};
use crate::formats::ggml_types::{self, Kind};
use crate::model::reader::{Described, End, Reader, Stream};
use crate::model::{self, ByteOrder, Content, Data, FileFormat, Input, Layout, Tensor};

impl FileFormat {
    /// GGUF; see [`gguf`](crate::formats::gguf).
    pub const GGUF: Self = Self::named("gguf");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::GGUF,
    endings: &[".gguf"],
    begins: |bytes| bytes.starts_with(MAGIC),
    contents: |input| Ok(tensors(input)?.into()),
    stream: Some(Stream::Described(|stream, length| Ok(describe(stream, length)?))),
    shards: None,
    is_fixable: false,
};

/// How a GGUF file begins.
pub const MAGIC: &[u8] = b"GGUF";

/// The most dimensions that ggml accepts.
const MAX_RANK: u32 = 4;

/// The default alignment of data.
const ALIGNMENT: u64 = 32;

/// The longest padding. A longer gap counts as unknown bytes, whatever the alignment is.
const MAX_PADDING: u64 = 64 << 10;

/// Why a GGUF file cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin with [`MAGIC`].
    Magic,
    /// Neither version 2 nor 3.
    Version(u32),
    /// The file ends inside this part.
    Truncated(&'static str),
    /// A name is not UTF-8.
    Utf8,
    /// A value of the metadata has an unknown type.
    ValueType(u32),
    /// An array of arrays, which ggml refuses too.
    NestedArray,
    /// The alignment is no power of two, or not a number of 32 bits.
    Alignment,
    /// Two tensors have this name.
    RepeatedName(String),
    /// More dimensions than ggml accepts.
    Rank(u32),
    /// The shape of this tensor is too large to exist.
    Overflow(String),
    /// The rows of this tensor do not hold a whole number of blocks.
    Row(String),
    /// The data of this tensor does not begin at a multiple of the alignment.
    Unaligned(String),
    /// The data of this tensor ends behind the file.
    Outside(String),
    /// The data of this tensor overlaps the data of another tensor.
    Overlap(String),
    /// The stream failed, for example a download.
    Stream(io::ErrorKind),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a GGUF file"),
            Self::Version(version) => write!(f, "GGUF version {version} is not known"),
            Self::Truncated(what) => write!(f, "the file ends before its {what} does"),
            Self::Utf8 => f.write_str("bad GGUF header: a name is not UTF-8"),
            Self::ValueType(kind) => {
                write!(f, "bad GGUF header: type {kind} of a value is not known")
            }
            Self::NestedArray => f.write_str("bad GGUF header: an array of arrays"),
            Self::Alignment => {
                f.write_str("bad GGUF header: general.alignment is no power of two of 32 bits")
            }
            Self::RepeatedName(name) => {
                write!(f, "bad GGUF header: two tensors of the name {name:?}")
            }
            Self::Rank(rank) => {
                write!(f, "bad GGUF header: {rank} dimensions, more than {MAX_RANK}")
            }
            Self::Overflow(name) => write!(f, "tensor {name:?} is too large to exist"),
            Self::Row(name) => write!(f, "rows of tensor {name:?} are no whole number of blocks"),
            Self::Unaligned(name) => {
                write!(f, "tensor {name:?} does not begin at a multiple of the alignment")
            }
            Self::Outside(name) => write!(f, "tensor {name:?} ends behind the file"),
            Self::Overlap(name) => write!(f, "tensor {name:?} overlaps another"),
            Self::Stream(kind) => write!(f, "the GGUF header cannot be read: {kind}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::GGUF, error)
    }
}

/// The floats in the metadata of a GGUF file, and its tensors in the order of their data. Tensors
/// of types that ggml does not store are unreadable.
///
/// # Errors
/// [`Error`] if the file is not whole, or if tensors overlap.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Error> {
    Ok(describe(&mut &input.bytes[..], Some(input.bytes.len()))?.tensors)
}

/// A GGUF file that is read from its beginning. The length is that of the file, if it is known.
fn describe(stream: &mut dyn Read, length: Option<usize>) -> Result<Described, Error> {
    let mut header = Header { stream, read: 0, order: ByteOrder::Little };
    if header.take::<4>("header")? != *MAGIC {
        return Err(Error::Magic);
    }
    let version = header.u32("header")?;
    // In the other byte order, the version is a multiple of 2^24.
    if version & 0xFFFF == 0 {
        header.order = ByteOrder::Big;
    }
    let version = if header.order == ByteOrder::Big { version.swap_bytes() } else { version };
    if !(2..=3).contains(&version) {
        return Err(Error::Version(version));
    }
    let (count, values) = (header.u64("header")?, header.u64("header")?);
    let mut metadata = Metadata { alignment: ALIGNMENT, floats: Vec::new() };
    for _ in 0..values {
        metadata.read(&mut header)?;
    }
    let Metadata { alignment, floats } = metadata;
    // Without capacity, since the count may be false.
    let mut infos = Vec::new();
    for _ in 0..count {
        infos.push(Info::read(&mut header)?);
    }
    find_repeated_name(&infos)?;
    let Header { read, order, .. } = header;
    let data = read.next_multiple_of(alignment);
    infos.sort_by_key(|info| info.offset);
    // Without a known length, any end that this machine can address is accepted.
    let file = length.unwrap_or(isize::MAX as usize);
    // Padding is shorter than the alignment.
    let padding = alignment.min(MAX_PADDING) - 1;
    let (mut tensors, mut used) = (floats, read as usize);
    for info in infos {
        let before = used;
        let tensor = info.tensor(data, alignment, file, order, &mut used)?;
        if let Data::Input(range) = &tensor.data
            && !range.is_empty()
            && range.start.saturating_sub(before) as u64 > padding
        {
            tensors.push(Tensor::unreferenced(before..range.start, Tensor::NO_TENSOR));
        }
        tensors.push(tensor);
    }
    if length.is_some_and(|length| length.saturating_sub(used) as u64 > padding) {
        tensors.push(Tensor::unreferenced(used..file, Tensor::NO_TENSOR));
    }
    let end = End::Padded(padding as usize);
    Ok(Described { tensors, header: read as usize, end })
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
    fn read(header: &mut Header<'_>) -> Result<Self, Error> {
        const LIST: &str = "list of tensors";
        let name = String::from_utf8(header.string(LIST)?).map_err(|_| Error::Utf8)?;
        let rank = header.u32(LIST)?;
        if rank > MAX_RANK {
            return Err(Error::Rank(rank));
        }
        let extents = (0..rank).map(|_| header.u64(LIST)).collect::<Result<_, _>>()?;
        Ok(Self { name, extents, kind: header.u32(LIST)?, offset: header.u64(LIST)? })
    }

    /// The tensor. `used` is the end of the data of the tensors before it.
    fn tensor(
        self,
        data: u64,
        alignment: u64,
        file: usize,
        order: ByteOrder,
        used: &mut usize,
    ) -> Result<Tensor, Error> {
        let Some(shape) = self.shape() else { return Err(Error::Overflow(self.name)) };
        let (dtype, content, range) = match ggml_types::find(self.kind) {
            Some(kind) if !(kind.is_nibbles() && order == ByteOrder::Big) => {
                let range = self.range(kind, data, alignment, file)?;
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
                return Err(Error::Overlap(self.name));
            }
            *used = range.end;
        }
        let data = Data::Input(range);
        let name = Some(self.name);
        Ok(Tensor { name, file: None, dtype, shape, layout: Layout::RowMajor, content, data })
    }

    /// The extents in the order of numpy. None if their product overflows.
    fn shape(&self) -> Option<Vec<usize>> {
        let shape: Vec<_> = self
            .extents
            .iter()
            .rev()
            .map(|&x| usize::try_from(x))
            .collect::<Result<_, _>>()
            .ok()?;
        shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent.max(1)))?;
        Some(shape)
    }

    /// The range of its data in the file.
    fn range(
        &self,
        kind: &Kind,
        data: u64,
        alignment: u64,
        file: usize,
    ) -> Result<Range<usize>, Error> {
        let (block, block_bytes) = kind.block();
        if !self.extents.first().unwrap_or(&1).is_multiple_of(block as u64) {
            return Err(Error::Row(self.name.clone()));
        }
        if !self.offset.is_multiple_of(alignment) {
            return Err(Error::Unaligned(self.name.clone()));
        }
        let elements =
            self.extents.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
        let length =
            elements.and_then(|elements| (elements / block as u64).checked_mul(block_bytes as u64));
        let start = data.checked_add(self.offset);
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        let (Some(start), Some(end)) = (start, end) else {
            return Err(Error::Overflow(self.name.clone()));
        };
        if start == end {
            return Ok(0..0);
        }
        // The end is within the file, so both fit.
        if end > file as u64 {
            Err(Error::Outside(self.name.clone()))
        } else {
            Ok(start as usize..end as usize)
        }
    }
}

fn find_repeated_name(infos: &[Info]) -> Result<(), Error> {
    let mut names: Vec<_> = infos.iter().map(|info| &info.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::RepeatedName(pair[0].clone())),
        None => Ok(()),
    }
}
