//! A tensor as a file describes it: what its elements are, where their bytes are, and where in it
//! an element lies.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use nonfinite::Format;

use crate::Error;
use crate::blocks::Blocks;
use crate::source::Source;

/// A tensor as a reader hands it over. Nothing of its data has been looked at yet.
#[derive(Debug)]
pub struct Tensor {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The file it lies in, where that is not the file that was asked about: a shard.
    pub file: Option<PathBuf>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape; together with `content` it says how many bytes `data` has. A product that is too
    /// large is refused by the reader.
    pub shape: Vec<usize>,
    /// The order of the elements.
    pub layout: Layout,
    /// What the elements are.
    pub content: Content,
    /// The elements, without gaps.
    pub data: Data,
}

/// Which index runs fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The last, as in C.
    RowMajor,
    /// The first, as in Fortran.
    ColumnMajor,
    /// The last of these axes, which are all; the first of them slowest.
    Axes(Vec<usize>),
}

/// What the elements of a tensor are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Floating-point numbers: each is looked at.
    Floats {
        /// Their format.
        format: Format,
        /// Numbers that make up one element: 2 if they are complex, else 1.
        parts: usize,
        /// The byte order of a number.
        order: ByteOrder,
    },
    /// Quantised blocks: their scales are looked at, the integers in them cannot be anything but
    /// finite.
    Blocks {
        /// The block, and where its scales are.
        blocks: &'static Blocks,
        /// The byte order of a scale.
        order: ByteOrder,
    },
    /// A floating-point format which has neither NaN nor infinity.
    AlwaysFinite,
    /// Integers, booleans, text or times.
    NotFloat,
    /// Something that could hold a NaN that this version cannot see: why. The file counts as one in
    /// error, and its other tensors are checked.
    Unreadable(String),
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant.
    Little,
    /// The most significant.
    Big,
}

impl ByteOrder {
    /// That of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// Where the bytes of a tensor are.
#[non_exhaustive]
pub enum Data {
    /// Here in the input.
    Input(Range<usize>),
    /// Here in another file.
    Other {
        /// The file; tensors share it.
        source: Arc<Source>,
        /// The bytes in it.
        range: Range<usize>,
    },
    /// With the reader, which had to put them together. For short data only.
    Owned(Vec<u8>),
    /// They come out of a decoder, one after the other, and are never in memory as a whole.
    Decoded(Box<dyn Decode>),
    /// A column of a table, in parts, with nulls between its numbers.
    Column(Box<dyn Column>),
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(range) => f.debug_tuple("Input").field(range).finish(),
            Self::Other { source, range } => f
                .debug_struct("Other")
                .field("source", &source.path())
                .field("range", range)
                .finish(),
            Self::Owned(bytes) => f.debug_tuple("Owned").field(&bytes.len()).finish(),
            Self::Decoded(decode) => f.debug_tuple("Decoded").field(&decode.length()).finish(),
            Self::Column(column) => f.debug_tuple("Column").field(&column.parts()).finish(),
        }
    }
}

impl Data {
    /// Bytes of the data.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Input(range) | Self::Other { range, .. } => range.len(),
            Self::Owned(bytes) => bytes.len(),
            Self::Decoded(decode) => decode.length(),
            Self::Column(column) => column.parts().iter().sum(),
        }
    }

    /// Bytes that are decoded to look at it, or are said to be there and are not: of data that lies
    /// in a file as it is, none.
    #[must_use]
    pub fn decoded(&self) -> usize {
        match self {
            Self::Input(_) | Self::Other { .. } | Self::Owned(_) => 0,
            Self::Decoded(decode) => decode.length(),
            Self::Column(column) => column.decoded(),
        }
    }
}

/// Data that has to be decoded: inflated, or freed of nulls.
pub trait Decode: Send + Sync {
    /// How many bytes [`Decode::open`] is to give. Fewer or more of them are an error when the
    /// tensor is scanned.
    fn length(&self) -> usize;

    /// A stream of the data. Must not allocate by what the file claims, only by what it holds.
    ///
    /// # Errors
    /// Whatever keeps the data from being decoded.
    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>>;
}

/// A column of a table: numbers with nulls among them, in parts (batches, row groups) that threads
/// take one by one.
pub trait Column: Send + Sync {
    /// Bytes of the numbers of each part, nulls too. The sum of all must not overflow: readers
    /// refuse that.
    fn parts(&self) -> Vec<usize>;

    /// Bytes that are decoded to show all parts, or are said to be there and are not, with those
    /// that tell the nulls and the lists.
    fn decoded(&self) -> usize {
        self.parts().iter().sum()
    }

    /// Shows the numbers of a part in their order, run by run. Where many nulls are left out, it
    /// shows runs of no numbers, so that it can be stopped there. Memory is that of a page, or of
    /// what tells the nulls and the lists of the part: some hundred MiB at most for each thread,
    /// whatever the file claims.
    ///
    /// # Errors
    /// Whatever keeps the numbers from being read, and what `see` returns.
    fn show(&self, input: &[u8], part: usize, see: &mut See<'_>) -> Result<(), ShowError>;
}

/// Numbers of a column that follow one another.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Their bytes; there may be none.
    pub numbers: &'a [u8],
    /// The element of the tensor that the number at an index belongs to; it rises with the index.
    pub place: &'a dyn Fn(usize) -> usize,
    /// Which of them count, if not all do: those that are null may be anything.
    pub valid: Option<&'a Valid<'a>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Run");
        text.field("bytes", &self.numbers.len())
            .field("nulls", &self.valid.is_some())
            .finish_non_exhaustive()
    }
}

/// Sets the bits of those numbers of a range that count, the first of the range the lowest bit of
/// the first word. All bits must be 0 before, and no fewer than there are numbers.
pub type Valid<'a> = dyn Fn(Range<usize>, &mut [u64]) + 'a;

/// Sees a run of numbers.
pub type See<'a> = dyn FnMut(Run<'_>) -> Result<(), Error> + 'a;

/// Why a part of a column was not seen to its end.
#[derive(Debug)]
pub enum ShowError {
    /// It cannot be read or decoded.
    Data(io::Error),
    /// Who sees it does not want more.
    Seen(Error),
}

impl ShowError {
    /// The error of a check, of a tensor of this name.
    pub(crate) fn of(self, name: impl FnOnce() -> String) -> Error {
        match self {
            Self::Data(error) => Error::Decode { tensor: name(), error },
            Self::Seen(error) => error,
        }
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Data(error)
    }
}

impl Tensor {
    /// Elements of the shape. Readers refuse shapes whose product is too large, so it saturates for
    /// none of theirs. In lists of varying length there are more numbers than that:
    /// [`Tensor::numbers`].
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |product: usize, &extent| product.saturating_mul(extent))
    }

    /// Elements, counted by the data where that is a column: lists of varying length have a shape
    /// of rows only.
    #[must_use]
    pub fn numbers(&self) -> usize {
        match &self.data {
            Data::Column(_) => self.data.length() / self.unit(),
            _ => self.elements(),
        }
    }

    /// Bytes that belong together: a tensor is split at multiples of them only.
    #[must_use]
    pub fn unit(&self) -> usize {
        match &self.content {
            Content::Floats { format, parts, .. } => format.size_in_bytes() * parts,
            Content::Blocks { blocks, .. } => blocks.bytes,
            Content::AlwaysFinite | Content::NotFloat | Content::Unreadable(_) => 1,
        }
    }

    /// Whether there are bytes to look at.
    #[must_use]
    pub fn is_scanned(&self) -> bool {
        matches!(self.content, Content::Floats { .. } | Content::Blocks { .. })
    }

    /// The coordinate of an element, counted in the order of the file.
    #[must_use]
    pub fn coordinate(&self, element: usize) -> Vec<usize> {
        let mut rest = element;
        let mut coordinate = self.shape.clone();
        let mut split = |extent: &mut usize| {
            let size = (*extent).max(1);
            *extent = rest % size;
            rest /= size;
        };
        match &self.layout {
            Layout::RowMajor => coordinate.iter_mut().rev().for_each(&mut split),
            Layout::ColumnMajor => coordinate.iter_mut().for_each(&mut split),
            Layout::Axes(axes) => axes.iter().rev().for_each(|&axis| split(&mut coordinate[axis])),
        }
        coordinate
    }
}
