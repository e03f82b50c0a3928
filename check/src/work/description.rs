//! Tensors and their contents, in a form that can be serialised.

use nonfinite::Format;
use serde::{Deserialize, Serialize};

use super::error::Error;
use crate::formats::ggml_types;
use crate::model::{ByteOrder, Content, Description, Layout, Reason};

/// A tensor of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlannedTensor {
    name: Option<String>,
    file: Option<String>,
    dtype: String,
    shape: Vec<usize>,
    order: Order,
    content: Elements,
    elements: usize,
    bytes: usize,
    /// The length that pieces have to cover, in bytes or in parts of a column. 0 if nothing is
    /// looked at.
    pub(super) extent: u64,
}

/// [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    RowMajor,
    ColumnMajor,
    Axes(Vec<usize>),
}

/// [`Content`], with names of formats and types of blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Elements {
    Floats { format: String, parts: usize, big_endian: bool },
    Blocks { ggml_type: String, big_endian: bool },
    AlwaysFinite,
    NotFloat,
    Unreadable(Reason),
    Damaged(Reason),
}

impl PlannedTensor {
    pub(super) fn new(description: Description, extent: u64) -> Result<Self, Error> {
        let Description { name, file, dtype, shape, layout, content, elements, bytes } =
            description;
        let file = match file.map(|file| file.into_os_string().into_string()) {
            Some(Err(_)) => return Err(Error::Invalid("a path that is not UTF-8")),
            Some(Ok(file)) => Some(file),
            None => None,
        };
        let order = match layout {
            Layout::RowMajor => Order::RowMajor,
            Layout::ColumnMajor => Order::ColumnMajor,
            Layout::Axes(axes) => Order::Axes(axes),
        };
        let content = Elements::new(&content)?;
        Ok(Self { name, file, dtype, shape, order, content, elements, bytes, extent })
    }

    pub(super) fn describe(&self) -> Result<Description, Error> {
        let layout = match &self.order {
            Order::RowMajor => Layout::RowMajor,
            Order::ColumnMajor => Layout::ColumnMajor,
            Order::Axes(axes) => {
                let mut sorted = axes.clone();
                sorted.sort_unstable();
                if !sorted.into_iter().eq(0..self.shape.len()) {
                    return Err(Error::Invalid("axes that are not those of the shape"));
                }
                Layout::Axes(axes.clone())
            }
        };
        Ok(Description {
            name: self.name.clone(),
            file: self.file.as_ref().map(Into::into),
            dtype: self.dtype.clone(),
            shape: self.shape.clone(),
            layout,
            content: self.content.content()?,
            elements: self.elements,
            bytes: self.bytes,
        })
    }
}

impl Elements {
    pub(super) fn new(content: &Content) -> Result<Self, Error> {
        Ok(match content {
            Content::Floats { format, parts, order } => Self::Floats {
                format: format.name().to_owned(),
                parts: *parts,
                big_endian: *order == ByteOrder::Big,
            },
            Content::Blocks { blocks, order } => Self::Blocks {
                ggml_type: ggml_types::name_of(blocks)
                    .ok_or(Error::Invalid("blocks that are not those of ggml"))?
                    .to_owned(),
                big_endian: *order == ByteOrder::Big,
            },
            Content::AlwaysFinite => Self::AlwaysFinite,
            Content::NotFloat => Self::NotFloat,
            Content::Unreadable(why) => Self::Unreadable(why.clone()),
            Content::Damaged(why) => Self::Damaged(why.clone()),
        })
    }

    pub(super) fn content(&self) -> Result<Content, Error> {
        let order = |big| if big { ByteOrder::Big } else { ByteOrder::Little };
        Ok(match self {
            Self::Floats { format, parts, big_endian } => {
                let formats = Format::ALL.iter().copied();
                let format = formats
                    .into_iter()
                    .find(|known| known.name() == format)
                    .ok_or(Error::Invalid("a format of numbers that is not known"))?;
                if !(1..=2).contains(parts) {
                    return Err(Error::Invalid("an element of more than two numbers"));
                }
                Content::Floats { format, parts: *parts, order: order(*big_endian) }
            }
            Self::Blocks { ggml_type, big_endian } => Content::Blocks {
                blocks: ggml_types::blocks_of(ggml_type)
                    .ok_or(Error::Invalid("a type of blocks that is not known"))?,
                order: order(*big_endian),
            },
            Self::AlwaysFinite => Content::AlwaysFinite,
            Self::NotFloat => Content::NotFloat,
            Self::Unreadable(why) => Content::Unreadable(why.clone()),
            Self::Damaged(why) => Content::Damaged(why.clone()),
        })
    }
}
