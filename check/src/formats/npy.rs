//! The .npy format of numpy, versions 1.0 to 3.0.
//!
//! The header is a literal of a Python dictionary. The reader takes only what numpy writes, does not
//! recurse and trusts no length. Published parsers allocate what the header claims, or parse any
//! Python literal.

use std::fmt;
use std::io::{self, Read};

use nonfinite::Format;

use crate::model::reader::{Described, Reader, Stream};
use crate::model::{self, ByteOrder, Content, Data, FileFormat, Layout, Tensor};
use crate::raw;

impl FileFormat {
    /// The .npy format of numpy; see [`npy`](crate::formats::npy).
    pub const NPY: Self = Self::named("npy");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::NPY,
    endings: &[".npy"],
    begins: |bytes| bytes.starts_with(MAGIC),
    tensors: |input| Ok(tensors(input.bytes)?),
    stream: Some(Stream::Described(|stream, length| Ok(describe_stream(stream, length)?))),
    shards: None,
    is_fixable: true,
};

/// How a .npy file begins.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// As many dimensions as numpy takes.
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
        /// Before the dot.
        major: u8,
        /// Behind the dot.
        minor: u8,
    },
    /// The header is not the dictionary that numpy writes.
    Syntax {
        /// Position in the header.
        at: usize,
        /// What numpy would have written there.
        expected: &'static str,
    },
    /// The dictionary has this key twice.
    RepeatedKey(&'static str),
    /// The dictionary lacks this key.
    MissingKey(&'static str),
    /// A dimension is negative.
    NegativeDimension,
    /// More dimensions than numpy takes.
    Rank,
    /// The shape holds more bytes than this machine can address.
    ShapeOverflow,
    /// The data is not as long as shape and dtype say.
    DataLength {
        /// What they say.
        expected: usize,
        /// The length of the data.
        actual: usize,
    },
    /// Structured or subarray dtype.
    Structured,
    /// Pickled Python objects.
    Objects,
    /// A dtype that is not known, such as long double.
    Dtype(String),
    /// The header is longer than the check takes.
    HeaderTooLong(usize),
    /// The stream failed, for example in a decoder.
    Stream(io::ErrorKind),
}

impl Error {
    /// Whether the array is valid, and only its dtype is not supported.
    pub(crate) fn is_of_dtype(&self) -> bool {
        matches!(self, Self::Structured | Self::Objects | Self::Dtype(_))
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
            Self::Structured => f.write_str("structured dtypes are not supported"),
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

/// The tensor of a .npy file, which has no name.
///
/// # Errors
/// [`Error`] if the file is not one whole array of a known dtype.
pub fn tensors(bytes: &[u8]) -> Result<Vec<Tensor>, Error> {
    Ok(describe_stream(&mut &bytes[..], Some(bytes.len()))?.tensors)
}

/// Whether the data ends where the file does.
///
/// # Errors
/// [`Error::DataLength`] if not.
pub(crate) fn fits(tensor: &Tensor, end: usize, length: usize) -> Result<(), Error> {
    let expected = tensor.data.length();
    // The header was within the bytes, unless another process cut the file.
    let actual = length.saturating_sub(end - expected);
    if actual == expected { Ok(()) } else { Err(Error::DataLength { expected, actual }) }
}

/// The longest header that is taken, since it has to be in memory. By default numpy takes no more
/// than 10,000 bytes.
const MAX_HEADER: usize = 1 << 20;

/// A .npy file that is read from its beginning. The length is that of the file, if it is known.
fn describe_stream(stream: &mut dyn Read, length: Option<usize>) -> Result<Described, Error> {
    let header = read_header(stream)?;
    let (tensor, end) = describe(&header)?;
    if let Some(length) = length {
        fits(&tensor, end, length)?;
    }
    Ok(Described { tensors: vec![tensor], header: header.len(), end: Some(end) })
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
    if digits.len() < size {
        return Err(Error::TruncatedHeader);
    }
    let length = digits.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    if length > MAX_HEADER {
        return Err(Error::HeaderTooLong(length));
    }
    // `describe` finds out if bytes are missing.
    read(&mut header, length)?;
    Ok(header)
}

/// The tensor that a header describes, and the byte at which its data ends. The bytes begin with
/// the header and may end behind it.
///
/// # Errors
/// [`Error`] if this is not a header of an array of a known dtype.
pub(crate) fn describe(bytes: &[u8]) -> Result<(Tensor, usize), Error> {
    let (text, start) = split(bytes)?;
    let (descr, fortran_order, shape) = Parser { text, at: 0 }.dictionary()?;
    let (size, content) = content(descr)?;
    let expected = shape.iter().try_fold(size, |size, &extent| size.checked_mul(extent));
    let end = expected.and_then(|length| length.checked_add(start)).ok_or(Error::ShapeOverflow)?;
    let layout = if fortran_order { Layout::ColumnMajor } else { Layout::RowMajor };
    let data = Data::Input(start..end);
    let tensor =
        Tensor { name: None, file: None, dtype: descr.to_owned(), shape, layout, content, data };
    Ok((tensor, end))
}

/// The dictionary, and where the data begins.
fn split(bytes: &[u8]) -> Result<(&[u8], usize), Error> {
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
    let length = usize::try_from(length).map_err(|_| Error::TruncatedHeader)?;
    let (text, data) = rest.split_at_checked(length).ok_or(Error::TruncatedHeader)?;
    Ok((text, bytes.len() - data.len()))
}

/// The size of an element and what it is.
fn content(descr: &str) -> Result<(usize, Content), Error> {
    let unsupported = || Error::Dtype(descr.to_owned());
    let (order, rest) = descr.split_at_checked(1).ok_or_else(unsupported)?;
    let order = match order {
        "<" => Some(ByteOrder::Little),
        ">" => Some(ByteOrder::Big),
        "|" => None,
        _ => return Err(unsupported()),
    };
    let floats = |format: Format, parts| {
        let order = order.ok_or_else(unsupported)?;
        Ok((format.size_in_bytes() * parts, Content::Floats { format, parts, order }))
    };
    let other = |count: &str, unit: usize| {
        let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let count = if digits { count.parse::<usize>().ok() } else { None };
        let size = count.and_then(|count| count.checked_mul(unit)).ok_or_else(unsupported)?;
        Ok((size, Content::NotFloat))
    };
    let (kind, size) = rest.split_at_checked(1).ok_or_else(unsupported)?;
    match (kind, size) {
        ("f", "2") => floats(Format::F16, 1),
        ("f", "4") => floats(Format::F32, 1),
        ("f", "8") => floats(Format::F64, 1),
        ("c", "8") => floats(Format::F32, 2),
        ("c", "16") => floats(Format::F64, 2),
        ("b", "1") | ("i" | "u", "1" | "2" | "4" | "8") | ("S", _) => other(size, 1),
        ("U", _) => other(size, 4),
        // Times carry a unit, as in `<M8[ns]`.
        ("M" | "m", _) if size == "8" || size.starts_with("8[") => other("8", 1),
        ("V", _) | ("f", "1") => {
            let size = raw::size(rest).ok_or_else(unsupported)?;
            let why = format!(
                "dtype '{descr}' is raw bytes, as bf16 and fp8 are saved: say what they are, as in {}",
                if size == 1 { "--raw-dtype V1=f8e4m3fn" } else { "--raw-dtype V2=bf16" }
            );
            Ok((size, Content::Unreadable(why)))
        }
        ("O", _) => Err(Error::Objects),
        _ => Err(unsupported()),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    /// `descr`, `fortran_order` and `shape`; nothing but space may follow.
    fn dictionary(mut self) -> Result<(&'a str, bool, Vec<usize>), Error> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{', "'{'")?;
        while !self.take(b'}') {
            let start = self.at;
            let key = self.string()?;
            self.expect(b':', "':'")?;
            match key {
                "descr" => set(&mut descr, "descr", self.descr()?)?,
                "fortran_order" => set(&mut fortran_order, "fortran_order", self.boolean()?)?,
                "shape" => set(&mut shape, "shape", self.shape()?)?,
                _ => {
                    return Err(Error::Syntax {
                        at: start,
                        expected: "'descr', 'fortran_order' or 'shape'",
                    });
                }
            }
            if !self.take(b',') {
                self.expect(b'}', "',' or '}'")?;
                break;
            }
        }
        self.space();
        if self.at != self.text.len() {
            return self.fail("nothing but space");
        }
        let descr = descr.ok_or(Error::MissingKey("descr"))?;
        let fortran_order = fortran_order.ok_or(Error::MissingKey("fortran_order"))?;
        Ok((descr, fortran_order, shape.ok_or(Error::MissingKey("shape"))?))
    }

    fn descr(&mut self) -> Result<&'a str, Error> {
        match self.peek() {
            Some(b'[' | b'(') => Err(Error::Structured),
            _ => self.string(),
        }
    }

    fn boolean(&mut self) -> Result<bool, Error> {
        self.space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.fail("True or False")
    }

    /// A tuple of integers; as in Python, one alone needs a comma.
    fn shape(&mut self) -> Result<Vec<usize>, Error> {
        let mut shape = Vec::new();
        self.expect(b'(', "'('")?;
        while !self.take(b')') {
            if shape.len() == MAX_RANK {
                return Err(Error::Rank);
            }
            shape.push(self.integer()?);
            if !self.take(b',') {
                self.expect(b')', "',' or ')'")?;
                if shape.len() == 1 {
                    return self.fail("',' in a tuple of one");
                }
                break;
            }
        }
        Ok(shape)
    }

    fn integer(&mut self) -> Result<usize, Error> {
        if self.take(b'-') {
            return Err(Error::NegativeDimension);
        }
        let start = self.at;
        let mut value = 0usize;
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            let next = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(usize::from(digit - b'0')));
            value = next.ok_or(Error::ShapeOverflow)?;
            self.at += 1;
        }
        if self.at == start {
            return self.fail("an integer");
        }
        // Python 2 marked long integers.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(value)
    }

    /// A string without escapes, which numpy needs for names of fields only.
    fn string(&mut self) -> Result<&'a str, Error> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return self.fail("a string") };
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|&byte| byte == quote) else {
            return self.fail("a string that ends");
        };
        match std::str::from_utf8(&rest[..length]) {
            Ok(string) if string.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') => {
                self.at += length + 2;
                Ok(string)
            }
            _ => self.fail("a string of plain characters"),
        }
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.take(byte) { Ok(()) } else { self.fail(expected) }
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, Error> {
        Err(Error::Syntax { at: self.at, expected })
    }
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), Error> {
    match slot.replace(value) {
        Some(_) => Err(Error::RepeatedKey(key)),
        None => Ok(()),
    }
}
