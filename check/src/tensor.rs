//! A tensor as a file describes it: what its elements are, where their bytes are, and where in it an element lies.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use nonfinite::Format;

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
    /// The shape; together with `content` it says how many bytes `data` has. A product that is too large is
    /// refused by the reader.
    pub shape: Vec<usize>,
    /// The order of the elements.
    pub layout: Layout,
    /// What the elements are.
    pub content: Content,
    /// The elements, without gaps.
    pub data: Data,
}

/// Which index runs fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The last, as in C.
    RowMajor,
    /// The first, as in Fortran.
    ColumnMajor,
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
    /// Quantised blocks: their scales are looked at, the integers in them cannot be anything but finite.
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
    /// Something that could hold a NaN that this version cannot see: why. The file counts as one in error, and its other
    /// tensors are checked.
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
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(range) => f.debug_tuple("Input").field(range).finish(),
            Self::Other { source, range } => {
                f.debug_struct("Other").field("source", &source.path()).field("range", range).finish()
            }
            Self::Owned(bytes) => f.debug_tuple("Owned").field(&bytes.len()).finish(),
            Self::Decoded(decode) => f.debug_tuple("Decoded").field(&decode.length()).finish(),
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
        }
    }
}

/// Data that has to be decoded: inflated, or freed of nulls.
pub trait Decode: Send + Sync {
    /// How many bytes [`Decode::open`] is to give. Fewer or more of them are an error when the tensor is scanned.
    fn length(&self) -> usize;

    /// A stream of the data. Must not allocate by what the file claims, only by what it holds.
    ///
    /// # Errors
    /// Whatever keeps the data from being decoded.
    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>>;
}

impl Tensor {
    /// Elements of the shape. Readers refuse shapes whose product is too large, so it saturates for none of theirs.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |product: usize, &extent| product.saturating_mul(extent))
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
        match self.layout {
            Layout::RowMajor => coordinate.iter_mut().rev().for_each(&mut split),
            Layout::ColumnMajor => coordinate.iter_mut().for_each(&mut split),
        }
        coordinate
    }
}
