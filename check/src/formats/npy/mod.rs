//! The .npy format of numpy, versions 1.0 to 3.0.
//!
//! The header is a literal of a Python dictionary. The reader accepts only headers that numpy
//! reads, and verifies each length. Published parsers allocate the length that the header claims,
//! or parse any Python literal.
//!
//! Each field of a structured array is a tensor of its own, with the name of the field. A field of
//! a nested record is named `field.field`. Arrays in a field add dimensions. Records in a deflated
//! member may have up to 1 MiB.

mod dtype;
mod fields;
mod header;

use std::fmt;
use std::io::{self, Read};

pub(crate) use self::dtype::content;
use self::dtype::{Dtype, Field};
pub(crate) use self::fields::Place;
use self::header::Parser;
use crate::model::reader::{Described, End, Reader, Stream};
use crate::model::{self, Content, Data, FileFormat, Layout, Tensor};

impl FileFormat {
    /// The .npy format of numpy; see [`npy`](crate::formats::npy).
    pub const NPY: Self = Self::named("npy");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::NPY,
    endings: &[".npy"],
    begins: |bytes| bytes.starts_with(MAGIC),
    contents: |input| Ok(tensors(input.bytes)?.into()),
    stream: Some(Stream::Described(|stream, length| Ok(describe_stream(stream, length)?))),
    shards: None,
    is_fixable: true,
};

/// How a .npy file begins.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The most dimensions that numpy accepts.
const MAX_RANK: usize = 64;

/// Why a .npy file cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin with [`MAGIC`].
    Magic,
    /// The file ends before the header does.
    TruncatedHeader,
    /// Not version 1.0, 2.0 or 3.0.
    Version {
        /// The number before the dot.
        major: u8,
        /// The number behind the dot.
        minor: u8,
    },
    /// The header is not the dictionary that numpy writes.
    Syntax {
        /// Position in the header.
        at: usize,
        /// The text that numpy writes there.
        expected: &'static str,
    },
    /// The dictionary has this key twice.
    RepeatedKey(&'static str),
    /// The dictionary lacks this key.
    MissingKey(&'static str),
    /// A dimension is negative.
    NegativeDimension,
    /// More dimensions than numpy accepts.
    Rank,
    /// The shape holds more bytes than this machine can address.
    ShapeOverflow,
    /// The data does not have the length that shape and dtype give.
    DataLength {
        /// The length that shape and dtype give.
        expected: usize,
        /// The length of the data.
        actual: usize,
    },
    /// A structured array, in a stream.
    Structured,
    /// Records are nested too deeply, or their names are too long.
    Depth,
    /// Pickled Python objects.
    Objects,
    /// A dtype that is not known, such as long double.
    Dtype(String),
    /// The header is longer than the check accepts.
    HeaderTooLong(usize),
    /// The stream failed, for example in a decoder.
    Stream(io::ErrorKind),
}

impl Error {
    /// Whether the array is valid, with a dtype that is not supported.
    pub(crate) fn is_of_dtype(&self) -> bool {
        matches!(self, Self::Objects | Self::Dtype(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a .npy file"),
            Self::TruncatedHeader => f.write_str("the file ends before its header does"),
            Self::Version { major, minor } => {
                write!(f, ".npy version {major}.{minor} is not known")
            }
            Self::Syntax { at, expected } => {
                write!(f, "bad .npy header: expected {expected} at byte {at} of the dictionary")
            }
            Self::RepeatedKey(key) => write!(f, "bad .npy header: '{key}' is there twice"),
            Self::MissingKey(key) => write!(f, "bad .npy header: '{key}' is missing"),
            Self::NegativeDimension => f.write_str("bad .npy header: negative dimension"),
            Self::Rank => write!(f, "bad .npy header: more than {MAX_RANK} dimensions"),
            Self::ShapeOverflow => f.write_str("bad .npy header: the shape is too large to exist"),
            Self::DataLength { expected, actual } => {
                write!(f, "shape and dtype say {expected} bytes of data, the file has {actual}")
            }
            Self::Structured => f.write_str("structured arrays cannot come as a stream"),
            Self::Depth => f.write_str("bad .npy header: records are nested too deeply"),
            Self::Objects => f.write_str("pickled Python objects are not supported"),
            Self::Dtype(dtype) => write!(f, "dtype '{dtype}' is not supported"),
            Self::HeaderTooLong(length) => {
                write!(f, "bad .npy header: {length} bytes are too many for a header")
            }
            Self::Stream(kind) => write!(f, "the .npy header cannot be read: {kind}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::NPY, error)
    }
}

/// The tensor of a .npy file, which has no name. For a structured array, the tensors of its fields.
///
/// # Errors
/// [`Error`] if the file is not one whole array of a known dtype.
pub fn tensors(bytes: &[u8]) -> Result<Vec<Tensor>, Error> {
    Ok(describe_stream(&mut &bytes[..], Some(bytes.len()))?.tensors)
}

/// The longest header that is accepted, since a header has to be in memory. By default numpy
/// accepts 10,000 bytes.
const MAX_HEADER: usize = 1 << 20;

/// A .npy file that is read from its beginning. The length is that of the file, if it is known.
fn describe_stream(stream: &mut dyn Read, length: Option<usize>) -> Result<Described, Error> {
    let header = read_header(stream)?;
    let array = describe(&header)?;
    match length {
        Some(length) => array.fits(length)?,
        None if matches!(array.dtype, Dtype::Record { .. }) => return Err(Error::Structured),
        None => {}
    }
    let end = array.end;
    let tensors = array.tensors(None, &Place::Stored(header.len()..end));
    Ok(Described { tensors, header: header.len(), end: End::At(end) })
}

/// The header of a .npy file that comes as a stream: all bytes before the data.
///
/// # Errors
/// [`Error`] for another format, a stream that ends before or fails, and a header of more than
/// [`MAX_HEADER`] bytes.
pub(crate) fn read_header(stream: &mut dyn Read) -> Result<Vec<u8>, Error> {
    let mut header = Vec::new();
    let mut read = |header: &mut Vec<u8>, count: usize| {
        let more = stream.take(count as u64).read_to_end(header);
        more.map_err(|error| Error::Stream(error.kind()))
    };
    read(&mut header, MAGIC.len() + 2)?;
    let version = header.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    let size = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        &[major, minor] => return Err(Error::Version { major, minor }),
        _ => return Err(Error::TruncatedHeader),
    };
    let fixed = header.len() + size;
    read(&mut header, size)?;
    let digits = &header[fixed - size..];
    let length = digits.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    if length > MAX_HEADER {
        return Err(Error::HeaderTooLong(length));
    }
    // `describe` reports missing bytes.
    read(&mut header, length)?;
    Ok(header)
}

/// An array, as its header describes it.
pub(crate) struct Array {
    dtype: Dtype,
    fortran_order: bool,
    shape: Vec<usize>,
    /// The range of the data, counted from the beginning of the header.
    start: usize,
    end: usize,
}

/// Describes the array of a header, by its bytes.
///
/// # Errors
/// [`Error`] if this is not a header of an array of a known dtype.
pub(crate) fn describe(header: &[u8]) -> Result<Array, Error> {
    let start = header.len();
    let (dtype, fortran_order, shape) = Parser::new(dictionary(header)?).dictionary()?;
    let size = dtype.size();
    let expected = shape.iter().try_fold(size, |size, &extent| size.checked_mul(extent));
    let end = expected.and_then(|length| length.checked_add(start)).ok_or(Error::ShapeOverflow)?;
    Ok(Array { dtype, fortran_order, shape, start, end })
}

impl Array {
    /// Checks that the data ends at the end of the file, which has `length` bytes.
    ///
    /// # Errors
    /// [`Error::DataLength`] if not.
    pub(crate) fn fits(&self, length: usize) -> Result<(), Error> {
        let expected = self.end - self.start;
        // The header was within the bytes, unless another process has cut the file.
        let actual = length.saturating_sub(self.start);
        if actual == expected { Ok(()) } else { Err(Error::DataLength { expected, actual }) }
    }

    /// The tensors of the array. The name of a field is the name of the array, a dot, and the
    /// field.
    pub(crate) fn tensors(self, name: Option<String>, place: &Place) -> Vec<Tensor> {
        let Self { dtype, fortran_order, shape, .. } = self;
        match dtype {
            Dtype::Plain { name: dtype, content, .. } => {
                let layout = if fortran_order { Layout::ColumnMajor } else { Layout::RowMajor };
                let data = match place {
                    Place::Stored(range) => Data::Input(range.clone()),
                    Place::Decoded(decode) => Data::Decoded(decode()),
                };
                vec![Tensor { name, file: None, dtype, shape, layout, content, data }]
            }
            Dtype::Record { size, fields } => {
                let prefix = name.map_or_else(String::new, |name| format!("{name}."));
                let records = Records { prefix, size, fortran_order, shape };
                fields.into_iter().map(|field| records.tensor(field, place)).collect()
            }
        }
    }
}

/// The records of a structured array.
struct Records {
    /// The beginning of the names of the fields.
    prefix: String,
    /// Bytes of a record.
    size: usize,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Records {
    fn tensor(&self, field: Field, place: &Place) -> Tensor {
        let inner = field.axes.iter().map(|&(extent, _)| extent);
        let shape: Vec<usize> = self.shape.iter().copied().chain(inner).collect();
        let layout = if self.fortran_order {
            let outer = (0..self.shape.len()).rev();
            Layout::Axes(outer.chain(self.shape.len()..shape.len()).collect())
        } else {
            Layout::RowMajor
        };
        let (name, dtype) = (format!("{}{}", self.prefix, field.name), field.dtype.clone());
        let is_too_long = matches!(place, Place::Decoded(_)) && self.size > fields::MAX_RECORD;
        let (content, data) = match field.content.clone() {
            Content::Floats { .. } if is_too_long => {
                let why =
                    format!("in compressed records of {} bytes, which are too long", self.size);
                (Content::Unreadable(why.into()), Data::Owned(Vec::new()))
            }
            content => {
                let number = match &content {
                    Content::Floats { format, .. } => format.size_in_bytes(),
                    Content::Blocks { .. }
                    | Content::AlwaysFinite
                    | Content::NotFloat
                    | Content::Unreadable(_)
                    | Content::Damaged(_) => field.size.max(1),
                };
                // Records of 0 bytes hold no numbers.
                let is_empty = self.size == 0;
                let records =
                    if is_empty { 0 } else { fields::product(self.shape.iter().copied()) };
                (content, fields::Numbers::data(field, number, (self.size, records), place))
            }
        };
        Tensor { name: Some(name), file: None, dtype, shape, layout, content, data }
    }
}

/// The text of the dictionary, which ends at the end of the header.
fn dictionary(bytes: &[u8]) -> Result<&[u8], Error> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or(Error::TruncatedHeader)?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or(Error::TruncatedHeader)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        (2 | 3, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or(Error::TruncatedHeader)?;
            (u32::from_le_bytes(*length), rest)
        }
        _ => return Err(Error::Version { major, minor }),
    };
    if usize::try_from(length) == Ok(rest.len()) { Ok(rest) } else { Err(Error::TruncatedHeader) }
}
