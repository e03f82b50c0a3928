//! The .npy format of numpy, versions 1.0 to 3.0.
//!
//! The header is a literal of a Python dictionary. The reader accepts only headers that numpy
//! reads, and verifies each length. Published parsers allocate the length that the header claims,
//! or parse any Python literal.
//!
//! Structured arrays, whose elements are records with fields, are not read.

mod dtype;
mod header;

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::sync::Arc;

use self::dtype::Dtype;
pub(crate) use self::dtype::content;
use self::header::Parser;
use crate::model::reader::{Contents, Read, Reader, Refused, truncated};
use crate::model::{Data, FileFormat, Layout, Tensor};

impl FileFormat {
    /// The .npy format of numpy; see [`npy`](crate::formats::npy).
    pub const NPY: Self = Self::named("npy");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::NPY,
    endings: &[".npy"],
    begins: |bytes, _| bytes.starts_with(MAGIC),
    read: Read::Header(|stream, length, _| read(stream, length).map(Contents::from)),
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

const TRUNCATED: &str = "truncated: the file ends before its header does";
const TOO_LARGE: &str = "bad .npy header: the shape is too large to exist";
const RANK: &str = "bad .npy header: more than 64 dimensions";

/// The longest header that is accepted, since a header has to be in memory. By default numpy
/// accepts 10,000 bytes.
const MAX_HEADER: u64 = 1 << 20;

/// A .npy file of this length, read from its beginning.
fn read(stream: &mut dyn io::Read, length: u64) -> Result<Vec<Tensor>, Refused> {
    let header = read_header(stream)?;
    let array = describe(&header)?;
    array.fits(length)?;
    let end = array.end;
    Ok(vec![array.tensor(None, Data::Input(header.len() as u64..end))])
}

/// The header of a .npy file: all bytes before the data.
///
/// # Errors
/// [`Error`] for another format, a stream that ends before or fails, and a header of more than
/// [`MAX_HEADER`] bytes.
pub(crate) fn read_header(stream: &mut dyn io::Read) -> Result<Vec<u8>, Error> {
    let mut header = Vec::new();
    let mut read = |header: &mut Vec<u8>, count: u64| {
        let more = stream.take(count).read_to_end(header);
        more.map(|count| count as u64)
            .map_err(|error| bad(format!("the .npy header cannot be read: {error}")))
    };
    read(&mut header, MAGIC.len() as u64 + 2)?;
    let version = header.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    let size = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        &[major, minor] => return Err(bad(format!(".npy version {major}.{minor} is not known"))),
        _ => return Err(bad(TRUNCATED)),
    };
    let fixed = header.len();
    if read(&mut header, size)? < size {
        return Err(bad(TRUNCATED));
    }
    let digits = &header[fixed..];
    let length = digits.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > MAX_HEADER {
        return Err(bad(format!("bad .npy header: {length} bytes are too many for a header")));
    }
    let has = read(&mut header, length)?;
    if has < length {
        let why = "the file ends before its header does";
        return Err(bad(truncated(has, length, why)));
    }
    Ok(header)
}

/// An array, as its header describes it.
pub(crate) struct Array {
    dtype: Dtype,
    fortran_order: bool,
    shape: Vec<u64>,
    /// The range of the data, counted from the beginning of the header.
    start: u64,
    end: u64,
}

/// Describes the array of a header, by its bytes.
///
/// # Errors
/// [`Error`] if this is not a header of an array of a known dtype.
pub(crate) fn describe(header: &[u8]) -> Result<Array, Error> {
    let start = header.len() as u64;
    // The length of the dictionary has 2 bytes in version 1, and 4 in the others.
    let fixed = MAGIC.len() + if header.get(MAGIC.len()) == Some(&1) { 4 } else { 6 };
    let dictionary = header.get(fixed..).unwrap_or_default();
    let (dtype, fortran_order, shape) = Parser::new(dictionary).dictionary()?;
    let expected = shape.iter().try_fold(dtype.size, |size, &extent| size.checked_mul(extent));
    let end =
        expected.and_then(|length| length.checked_add(start)).ok_or_else(|| bad(TOO_LARGE))?;
    Ok(Array { dtype, fortran_order, shape, start, end })
}

impl Array {
    /// Checks that the data ends at the end of the file, which has `length` bytes.
    ///
    /// # Errors
    /// [`Error`] if not.
    pub(crate) fn fits(&self, length: u64) -> Result<(), Error> {
        let expected = self.end - self.start;
        // The header was within the bytes, unless another process has cut the file.
        let actual = length.saturating_sub(self.start);
        if actual == expected {
            return Ok(());
        }
        let why = format!("shape and dtype say {expected} bytes of data, the file has {actual}");
        Err(bad(match actual < expected {
            true => truncated(actual, expected, why),
            false => why,
        }))
    }

    /// The array as a tensor of this name, with this data.
    pub(crate) fn tensor(self, name: Option<&str>, data: Data) -> Tensor {
        let layout = if self.fortran_order { Layout::ColumnMajor } else { Layout::RowMajor };
        let Dtype { name: dtype, content, .. } = self.dtype;
        let mut tensor = Tensor::new("", dtype, self.shape, content, data);
        tensor.described().name = name.map(Arc::from);
        Tensor { layout, ..tensor }
    }
}
