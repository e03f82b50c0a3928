//! A tensor as a file describes it: its elements, and the coordinates of elements.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use nonfinite::Format;
use serde::{Deserialize, Serialize};

use super::blocks::Blocks;
use super::byte_order::ByteOrder;
use super::data::Data;
use super::reason::Reason;

/// What a file says about a tensor, without its numbers. Everything that knows the tensor shares
/// one description, since a hostile file can describe a million tensors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Description {
    /// The name, if the file gives one.
    pub name: Option<Arc<str>>,
    /// The file of the tensor, if it is not the file that was checked: a shard.
    pub file: Option<Arc<Path>>,
    /// The element type as the file spells it.
    pub dtype: Cow<'static, str>,
    /// The shape. The last index runs fastest, except in column-major arrays of numpy.
    pub shape: Vec<u64>,
    /// The storage of PyTorch whose elements stand for those of the tensor: the tensor is a view
    /// that repeats elements. Then `shape` is the number of these elements.
    pub storage: Option<Box<Storage>>,
    /// Whether the file leaves out the data, as that of example inputs of a traced module. Then
    /// the tensor has no elements.
    pub is_left_out: bool,
}

/// Elements of a storage of PyTorch that stand for those of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Storage {
    /// The key of the storage in the file.
    pub key: String,
    /// The index of the first of these elements in the storage.
    pub start: u64,
}

impl Description {
    /// The name for people, with what else the elements stand for. None without a name.
    ///
    /// `w (storage 0, elements 3..9)` or `inputs (left out of the file)`.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let mut title = self.name.as_deref()?.to_owned();
        if let Some(Storage { key, start }) = self.storage.as_deref() {
            let count = self.shape.first().copied().unwrap_or_default();
            title += &format!(" (storage {key}, elements {start}..{})", start + count);
        }
        if self.is_left_out {
            title += " (left out of the file)";
        }
        Some(title)
    }

    /// Whether the name says that the tensor is trained: a weight, or a bias of one axis. Its large
    /// numbers hide nothing, so the tensor is no mask.
    pub(crate) fn is_weight(&self) -> bool {
        let name = self.name.as_deref().unwrap_or_default();
        name.ends_with("weight")
            || last_part(name) == "bias" && self.shape.len() < 2
            || words(last_part(name)).any(|word| {
                matches!(word, "weights" | "kernel" | "embed" | "embedding" | "token" | "proj")
            })
    }
}

/// The last part of a name, with dots or slashes between parts.
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit(['.', '/']).next().unwrap_or(name)
}

/// The words of a name: `inv` and `freq` of `inv_freq`.
pub(crate) fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|char: char| !char.is_ascii_alphanumeric())
}

/// A tensor as a reader returns it: its description, and the place of its data.
pub(crate) struct Tensor {
    pub(crate) description: Arc<Description>,
    /// The order of the elements.
    pub(crate) layout: Layout,
    /// The kind of the elements.
    pub(crate) content: Content,
    /// The elements, without gaps. Their length follows from the shape and `content`. Readers
    /// refuse shapes with too large a product.
    pub(crate) data: Data,
}

impl Deref for Tensor {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.description
    }
}

/// Which index runs fastest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    /// The last index, as in C.
    RowMajor,
    /// The first index, as in Fortran.
    ColumnMajor,
    /// All axes, from the slowest to the fastest.
    Axes(Box<[usize]>),
}

/// The kind of the elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    /// Floating-point numbers. Each is looked at.
    Floats {
        /// Their format.
        #[serde(with = "super::format_name")]
        format: Format,
        /// Numbers in an element: 2 for complex numbers, otherwise 1.
        parts: usize,
        /// The byte order of a number.
        order: ByteOrder,
    },
    /// Quantised blocks. Their scales are looked at; the integers in them are always finite.
    Blocks {
        /// The block, and the places of its scales.
        #[serde(with = "super::block_types")]
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
    pub(crate) fn unit(&self) -> usize {
        match self {
            Self::Floats { format, parts, .. } => format.size_in_bytes() * parts,
            Self::Blocks { blocks, .. } => blocks.bytes,
            Self::AlwaysFinite | Self::NotFloat | Self::Unreadable(_) | Self::Damaged(_) => 1,
        }
    }

    /// Whether there are numbers to look at.
    pub(crate) fn is_scanned(&self) -> bool {
        matches!(self, Self::Floats { .. } | Self::Blocks { .. })
    }
}

impl Tensor {
    /// A tensor of this file, in row-major order.
    pub(crate) fn new(
        name: impl Into<Arc<str>>,
        dtype: impl Into<Cow<'static, str>>,
        shape: Vec<u64>,
        content: Content,
        data: Data,
    ) -> Self {
        let (name, dtype) = (Some(name.into()), dtype.into());
        let description = Description { name, dtype, shape, ..Description::default() };
        Self { description: description.into(), layout: Layout::RowMajor, content, data }
    }

    /// The description, to change it. Readers do so before anything else shares it.
    pub(crate) fn described(&mut self) -> &mut Description {
        Arc::make_mut(&mut self.description)
    }

    /// The dtype of bytes without a known meaning.
    pub(crate) const BYTES: &'static str = "bytes";

    /// Makes the tensor one of these elements of a storage.
    pub(crate) fn stand_for(&mut self, key: String, elements: Range<u64>) {
        let storage = Storage { key, start: elements.start };
        self.described().shape = vec![elements.end - elements.start];
        self.described().storage = Some(storage.into());
        self.layout = Layout::RowMajor;
    }

    /// The name, or an empty string.
    pub(crate) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The product of the shape. Readers refuse shapes with too large a product, so it never
    /// saturates for their tensors.
    pub(crate) fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent))
    }

    /// Bytes of a unit. A tensor is split only at multiples of this length.
    pub(crate) fn unit(&self) -> usize {
        self.content.unit()
    }

    /// Whether there are numbers to look at.
    pub(crate) fn is_scanned(&self) -> bool {
        self.content.is_scanned()
    }
}

/// A [`Description`], and what else a report needs to know about a tensor besides its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FullDescription {
    pub(crate) description: Arc<Description>,
    pub(crate) layout: Layout,
    pub(crate) content: Content,
    /// [`Tensor::elements`].
    pub(crate) elements: u64,
    /// Bytes of the data.
    pub(crate) bytes: u64,
}

impl FullDescription {
    /// The full description of this tensor.
    pub(crate) fn of(tensor: &Tensor) -> Self {
        Self {
            description: Arc::clone(&tensor.description),
            layout: tensor.layout.clone(),
            content: tensor.content.clone(),
            elements: tensor.elements(),
            bytes: tensor.data.length(),
        }
    }

    /// The coordinate of an element, counted in the order of the file.
    pub(crate) fn coordinate(&self, element: u64) -> Vec<u64> {
        coordinate(&self.description.shape, &self.layout, element)
    }

    /// Whether these are the descriptions of these tensors.
    pub(crate) fn are_of<'a>(
        all: impl ExactSizeIterator<Item = &'a Self>,
        tensors: &[Tensor],
    ) -> bool {
        all.len() == tensors.len() && all.zip(tensors).all(|(it, tensor)| *it == Self::of(tensor))
    }

    /// A damaged part of another file: why.
    pub(crate) fn damaged(name: &str, file: Arc<Path>, why: String) -> Self {
        let content = Content::Damaged(Reason::Part(why));
        let data = Data::Owned(Vec::new());
        let mut tensor = Tensor::new(name, Tensor::BYTES, vec![0], content, data);
        tensor.described().file = Some(file);
        Self::of(&tensor)
    }
}

/// The coordinate of an element of this shape, counted in the order of the file.
pub(crate) fn coordinate(shape: &[u64], layout: &Layout, element: u64) -> Vec<u64> {
    let mut rest = element;
    let mut coordinate = shape.to_vec();
    let mut split = |extent: &mut u64| {
        let size = (*extent).max(1);
        *extent = rest % size;
        rest /= size;
    };
    match layout {
        Layout::RowMajor => coordinate.iter_mut().rev().for_each(&mut split),
        Layout::ColumnMajor => coordinate.iter_mut().for_each(&mut split),
        Layout::Axes(axes) => {
            axes.iter().rev().for_each(|&axis| split(&mut coordinate[axis]));
        }
    }
    coordinate
}
