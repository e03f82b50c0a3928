//! A tensor as a file describes it: what its elements are, and where in the tensor an element lies.

use std::ops::Range;
use std::path::PathBuf;

use nonfinite::Format;

use super::blocks::Blocks;
use super::byte_order::ByteOrder;
use super::data::Data;

/// A tensor as a reader hands it over. Nothing has looked at its data yet.
#[derive(Debug)]
pub struct Tensor {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The file that holds the tensor, if that is not the file that was asked about: a shard.
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
    /// These axes, which are all, from the slowest to the fastest.
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
    /// Quantised blocks: their scales are looked at. The integers in them are always finite.
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
    /// Numbers that this version cannot look at, although there may be a NaN: why. The file counts
    /// as one in error, and its other tensors are checked.
    Unreadable(String),
}

impl Content {
    /// Bytes that belong together: a tensor is split at multiples of them only.
    #[must_use]
    pub fn unit(&self) -> usize {
        match self {
            Self::Floats { format, parts, .. } => format.size_in_bytes() * parts,
            Self::Blocks { blocks, .. } => blocks.bytes,
            Self::AlwaysFinite | Self::NotFloat | Self::Unreadable(_) => 1,
        }
    }
}

impl Tensor {
    /// The dtype of bytes of which only their place is known.
    pub(crate) const BYTES: &'static str = "bytes";

    /// Why bytes are not looked at that belong to no part of a file.
    pub(crate) const NO_TENSOR: &'static str = "no tensor refers to these bytes";

    /// Bytes of the input that nobody looks at: why.
    pub(crate) fn of_nobody(bytes: Range<usize>, why: &str) -> Self {
        Self {
            name: Some(format!("bytes {} to {}", bytes.start, bytes.end)),
            file: None,
            dtype: Self::BYTES.to_owned(),
            shape: vec![bytes.len()],
            layout: Layout::RowMajor,
            content: Content::Unreadable(why.to_owned()),
            data: Data::Input(bytes),
        }
    }

    /// The name, or an empty text.
    pub(crate) fn label(&self) -> String {
        self.name.clone().unwrap_or_default()
    }

    /// Elements of the shape. Readers refuse shapes whose product is too large, so the product
    /// never saturates for their tensors. Lists of varying length hold more numbers than that:
    /// [`Tensor::numbers`].
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |product: usize, &extent| product.saturating_mul(extent))
    }

    /// Elements. Those of a column are counted by its data, since lists of varying length have a
    /// shape of rows only.
    #[must_use]
    pub fn numbers(&self) -> usize {
        match &self.data {
            Data::Column(_) if self.is_scanned() => self.data.length() / self.unit(),
            Data::Input(_)
            | Data::Other { .. }
            | Data::Owned(_)
            | Data::Decoded(_)
            | Data::Column(_) => self.elements(),
        }
    }

    /// Bytes that belong together: a tensor is split at multiples of them only.
    #[must_use]
    pub fn unit(&self) -> usize {
        self.content.unit()
    }

    /// Whether there are bytes to look at.
    #[must_use]
    pub fn is_scanned(&self) -> bool {
        match self.content {
            Content::Floats { .. } | Content::Blocks { .. } => true,
            Content::AlwaysFinite | Content::NotFloat | Content::Unreadable(_) => false,
        }
    }

    /// The coordinate of an element, counted in the order of the file.
    #[must_use]
    pub fn coordinate(&self, element: usize) -> Vec<usize> {
        coordinate(&self.shape, &self.layout, element)
    }
}

/// What a report says of a tensor, whatever is found in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Description {
    pub(crate) name: Option<String>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) layout: Layout,
    pub(crate) content: Content,
    /// [`Tensor::numbers`].
    pub(crate) elements: usize,
    /// Bytes of the data.
    pub(crate) bytes: usize,
}

impl Description {
    /// The coordinate of an element, counted in the order of the file.
    pub(crate) fn coordinate(&self, element: usize) -> Vec<usize> {
        coordinate(&self.shape, &self.layout, element)
    }
}

impl From<Tensor> for Description {
    fn from(tensor: Tensor) -> Self {
        let (elements, bytes) = (tensor.numbers(), tensor.data.length());
        let Tensor { name, file, dtype, shape, layout, content, data: _ } = tensor;
        Self { name, file, dtype, shape, layout, content, elements, bytes }
    }
}

fn coordinate(shape: &[usize], layout: &Layout, element: usize) -> Vec<usize> {
    let mut rest = element;
    let mut coordinate = shape.to_vec();
    let mut split = |extent: &mut usize| {
        let size = (*extent).max(1);
        *extent = rest % size;
        rest /= size;
    };
    match layout {
        Layout::RowMajor => coordinate.iter_mut().rev().for_each(&mut split),
        Layout::ColumnMajor => coordinate.iter_mut().for_each(&mut split),
        Layout::Axes(axes) => axes.iter().rev().for_each(|&axis| split(&mut coordinate[axis])),
    }
    coordinate
}
