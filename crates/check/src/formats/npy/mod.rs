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

use std::borrow::Cow;
use std::io::{self, Read as _};

pub(crate) use self::dtype::content;
use self::dtype::{Dtype, Field};
pub(crate) use self::fields::Place;
use self::header::Parser;
use crate::model::reader::{Read, Reader, Refused};
use crate::model::{Content, Data, FileFormat, Layout, Tensor};

impl FileFormat {
    /// The .npy format of numpy; see [`npy`](crate::formats::npy).
    pub const NPY: Self = Self::named("npy");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::NPY,
    endings: &[".npy"],
    begins: |bytes| bytes.starts_with(MAGIC),
    read: Read::Header(read),
    shards: None,
};

/// How a .npy file begins.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The most dimensions that numpy accepts.
const MAX_RANK: usize = 64;

/// Why a .npy file cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// Not a .npy file.
    #[error("not a .npy file")]
    Magic,
    /// A valid array, with a dtype that is not supported.
    #[error("{0}")]
    Dtype(String),
    /// The header or the length of the data is not valid.
    #[error("{0}")]
    Bad(Cow<'static, str>),
}

fn bad(why: impl Into<Cow<'static, str>>) -> Error {
    Error::Bad(why.into())
}

const TRUNCATED: &str = "the file ends before its header does";
const TOO_LARGE: &str = "bad .npy header: the shape is too large to exist";
const DEEP: &str = "bad .npy header: records are nested too deeply";
const RANK: &str = "bad .npy header: more than 64 dimensions";

/// The longest header that is accepted, since a header has to be in memory. By default numpy
/// accepts 10,000 bytes.
const MAX_HEADER: usize = 1 << 20;

/// A .npy file of this length, read from its beginning.
fn read(stream: &mut dyn io::Read, length: usize) -> Result<Vec<Tensor>, Refused> {
    let header = read_header(stream)?;
    let array = describe(&header)?;
    array.fits(length)?;
    let end = array.end;
    Ok(array.tensors(None, &Place::Stored(header.len()..end)))
}

/// The header of a .npy file: all bytes before the data.
///
/// # Errors
/// [`Error`] for another format, a stream that ends before or fails, and a header of more than
/// [`MAX_HEADER`] bytes.
pub(crate) fn read_header(stream: &mut dyn io::Read) -> Result<Vec<u8>, Error> {
    let mut header = Vec::new();
    let mut read = |header: &mut Vec<u8>, count: usize| {
        let more = stream.take(count as u64).read_to_end(header);
        more.map_err(|error| bad(format!("the .npy header cannot be read: {error}")))
    };
    read(&mut header, MAGIC.len() + 2)?;
    let version = header.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    let size = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        &[major, minor] => return Err(bad(format!(".npy version {major}.{minor} is not known"))),
        _ => return Err(bad(TRUNCATED)),
    };
    let fixed = header.len() + size;
    if read(&mut header, size)? < size {
        return Err(bad(TRUNCATED));
    }
    let digits = &header[fixed - size..];
    let length = digits.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    if length > MAX_HEADER {
        return Err(bad(format!("bad .npy header: {length} bytes are too many for a header")));
    }
    if read(&mut header, length)? < length {
        return Err(bad(TRUNCATED));
    }
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
    // The length of the dictionary has 2 bytes in version 1, and 4 in the others.
    let fixed = MAGIC.len() + if header.get(MAGIC.len()) == Some(&1) { 4 } else { 6 };
    let dictionary = header.get(fixed..).unwrap_or_default();
    let (dtype, fortran_order, shape) = Parser::new(dictionary).dictionary()?;
    let size = dtype.size();
    let expected = shape.iter().try_fold(size, |size, &extent| size.checked_mul(extent));
    let end =
        expected.and_then(|length| length.checked_add(start)).ok_or_else(|| bad(TOO_LARGE))?;
    Ok(Array { dtype, fortran_order, shape, start, end })
}

impl Array {
    /// Checks that the data ends at the end of the file, which has `length` bytes.
    ///
    /// # Errors
    /// [`Error`] if not.
    pub(crate) fn fits(&self, length: usize) -> Result<(), Error> {
        let expected = self.end - self.start;
        // The header was within the bytes, unless another process has cut the file.
        let actual = length.saturating_sub(self.start);
        if actual == expected {
            return Ok(());
        }
        let why = format!("shape and dtype say {expected} bytes of data, the file has {actual}");
        Err(bad(why))
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
                    _ => field.size.max(1),
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
