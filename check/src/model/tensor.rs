//! A tensor as a file describes it: its elements, and the coordinates of elements.

use std::ops::Range;
use std::path::PathBuf;

use nonfinite::Format;

use super::blocks::Blocks;
use super::byte_order::ByteOrder;
use super::data::Data;
use super::reason::Reason;

/// A tensor as a reader returns it. Its data has not been looked at yet.
#[derive(Debug)]
pub struct Tensor {
    /// The name, if the file gives one.
    pub name: Option<String>,
    /// The file of the tensor, if it is not the file that was checked: a shard.
    pub file: Option<PathBuf>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape. The length of `data` follows from the shape and `content`. Readers refuse shapes
    /// with too large a product.
    pub shape: Vec<usize>,
    /// The order of the elements.
    pub layout: Layout,
    /// The kind of the elements.
    pub content: Content,
    /// The elements, without gaps.
    pub data: Data,
}

/// Which index runs fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The last index, as in C.
    RowMajor,
    /// The first index, as in Fortran.
    ColumnMajor,
    /// All axes, from the slowest to the fastest.
    Axes(Vec<usize>),
}

/// The kind of the elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Floating-point numbers. Each is looked at.
    Floats {
        /// Their format.
        format: Format,
        /// Numbers in an element: 2 for complex numbers, otherwise 1.
        parts: usize,
        /// The byte order of a number.
        order: ByteOrder,
    },
    /// Quantised blocks. Their scales are looked at; the integers in them are always finite.
    Blocks {
        /// The block, and the places of its scales.
        blocks: &'static Blocks,
        /// The byte order of a scale.
        order: ByteOrder,
    },
    /// A floating-point format that has neither NaN nor infinity.
    AlwaysFinite,
    /// Integers, booleans, text or times.
    NotFloat,
    /// Numbers that this version cannot look at and that may hold a NaN, with the reason. The file
    /// counts as one in error, and its other tensors are checked.
    Unreadable(Reason),
    /// A damaged part of the file, such as a member of an archive, although there may be a NaN in
    /// the part: why. The other tensors are checked.
    Damaged(Reason),
}

impl Content {
    /// Bytes of a unit. A tensor is split only at multiples of this length.
    #[must_use]
    pub fn unit(&self) -> usize {
        match self {
            Self::Floats { format, parts, .. } => format.size_in_bytes() * parts,
            Self::Blocks { blocks, .. } => blocks.bytes,
            Self::AlwaysFinite | Self::NotFloat | Self::Unreadable(_) | Self::Damaged(_) => 1,
        }
    }
}

impl Tensor {
    /// The dtype of bytes without a known meaning.
    pub(crate) const BYTES: &'static str = "bytes";

    /// Which part of a file does not refer to bytes outside of all its parts.
    pub(crate) const NO_TENSOR: &'static str = "no tensor refers to these bytes";

    /// The name of bytes that no part of a file refers to.
    pub(crate) fn name_of_bytes(bytes: &Range<usize>) -> String {
        format!("bytes {} to {}", bytes.start, bytes.end)
    }

    /// Bytes of the input that nothing refers to: which part of the file does not.
    pub(crate) fn unreferenced(bytes: Range<usize>, why: &str) -> Self {
        let reason = Reason::Unreferenced { bytes: bytes.clone(), why: why.to_owned() };
        Self {
            name: Some(Self::name_of_bytes(&bytes)),
            file: None,
            dtype: Self::BYTES.to_owned(),
            shape: vec![bytes.len()],
            layout: Layout::RowMajor,
            content: Content::Unreadable(reason),
            data: Data::Input(bytes),
        }
    }

    /// The name, or an empty string.
    pub(crate) fn label(&self) -> String {
        self.name.clone().unwrap_or_default()
    }

    /// The product of the shape. Readers refuse shapes with too large a product, so it never
    /// saturates for their tensors. Lists of varying length hold more numbers: see
    /// [`Tensor::numbers`].
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |product: usize, &extent| product.saturating_mul(extent))
    }

    /// The number of elements. For a column, counted by its data: the shape of lists of varying
    /// length has the number of rows only.
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

    /// Bytes of a unit. A tensor is split only at multiples of this length.
    #[must_use]
    pub fn unit(&self) -> usize {
        self.content.unit()
    }

    /// Whether there are bytes to look at.
    #[must_use]
    pub fn is_scanned(&self) -> bool {
        match self.content {
            Content::Floats { .. } | Content::Blocks { .. } => true,
            Content::AlwaysFinite
            | Content::NotFloat
            | Content::Unreadable(_)
            | Content::Damaged(_) => false,
        }
    }
}

/// The part of a report on a tensor that does not depend on the data.
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

    /// A damaged part of another file: why.
    pub(crate) fn damaged(name: String, file: PathBuf, why: String) -> Self {
        Self {
            name: Some(name),
            file: Some(file),
            dtype: Tensor::BYTES.to_owned(),
            shape: vec![0],
            layout: Layout::RowMajor,
            content: Content::Damaged(Reason::Part(why)),
            elements: 0,
            bytes: 0,
        }
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
