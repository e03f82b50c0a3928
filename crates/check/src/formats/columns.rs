//! Columns of tables, as Arrow describes them: the leaves of a schema, and the floats of a leaf.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::NullBuffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field};
use nonfinite::{Format, Predicate};
use nonfinite_arrow::Column;

use super::unwinding::unwinding;
use crate::model::{ByteOrder, Content, Run, See, ShowError, Valid};

/// A leaf of a schema: something to report.
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) dtype: String,
    /// The length of each list of fixed size. Empty below a list of varying length.
    pub(super) dimensions: Vec<usize>,
    /// Whether a list of varying length is above the leaf.
    pub(super) ragged: bool,
    pub(super) kind: Kind,
    /// The child that leads to the leaf, for each level from the top down.
    pub(super) path: Vec<usize>,
    /// Whether a map is above the leaf.
    pub(super) in_map: bool,
    /// Whether its numbers are decoded: those of a dictionary, or of runs.
    pub(super) is_decoded: bool,
    /// The index of its node in a batch of Arrow IPC.
    pub(super) node: usize,
}

/// What a leaf holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One float for each row: plain, of a dictionary, or of a run.
    Floats(Format),
    NotFloat,
    /// Floats that are not looked at.
    Unreadable,
}

impl Kind {
    /// As the content of a tensor, in the byte order of the machine.
    pub(super) fn content(self) -> Content {
        match self {
            Self::Floats(format) => Content::Floats { format, parts: 1, order: ByteOrder::NATIVE },
            Self::NotFloat => Content::NotFloat,
            Self::Unreadable => {
                let types = "unions, and of dictionaries and runs of structs or lists";
                Content::Unreadable(format!("floats of {types} are not looked at").into())
            }
        }
    }
}

/// A walk through a schema.
pub(super) struct Walk {
    pub(super) leaves: Vec<Leaf>,
    /// The number of nodes so far.
    nodes: usize,
    /// Bytes that further names and types may take: each leaf of a struct repeats its name.
    left: usize,
    /// Whether there was a dictionary.
    pub(super) has_dictionaries: bool,
}

/// A place in a schema.
#[derive(Clone, Default)]
struct Place {
    name: String,
    /// The text before and behind the type name: the lists above.
    before: String,
    after: String,
    dimensions: Vec<usize>,
    ragged: bool,
    in_map: bool,
    path: Vec<usize>,
}

impl Place {
    fn list(mut self, kind: &str) -> Self {
        self.before.push_str(kind);
        self.after.insert(0, '>');
        self.dimensions.clear();
        self.ragged = true;
        self.path.push(0);
        self
    }
}

impl Walk {
    /// Begins a walk. `left` is the most bytes that names and types of leaves may take.
    pub(super) fn new(left: usize) -> Self {
        Self { leaves: Vec::new(), nodes: 0, left, has_dictionaries: false }
    }

    /// Adds the leaves of a column. None if their names are too long.
    pub(super) fn column(&mut self, field: &Field) -> Option<()> {
        let place = Place { name: field.name().clone(), ..Place::default() };
        self.field(field.data_type(), place)
    }

    fn field(&mut self, data_type: &DataType, mut place: Place) -> Option<()> {
        let node = self.nodes;
        self.nodes += 1;
        match data_type {
            DataType::List(item) | DataType::ListView(item) => {
                self.field(item.data_type(), place.list("list<"))
            }
            DataType::LargeList(item) | DataType::LargeListView(item) => {
                self.field(item.data_type(), place.list("large_list<"))
            }
            DataType::Map(entries, _) => {
                place.in_map = true;
                self.field(entries.data_type(), place.list("map<"))
            }
            DataType::FixedSizeList(item, size) => {
                // In lists of varying length, the shape has no further dimensions.
                if !place.ragged {
                    place.dimensions.push(usize::try_from(*size).ok()?);
                }
                place.before.push_str("fixed_size_list<");
                place.after.insert_str(0, &format!(">[{size}]"));
                place.path.push(0);
                self.field(item.data_type(), place)
            }
            DataType::Struct(fields) if !fields.is_empty() => {
                fields.iter().enumerate().try_for_each(|(index, field)| {
                    let mut place = place.clone();
                    place.name.push('.');
                    place.name.push_str(field.name());
                    place.path.push(index);
                    self.field(field.data_type(), place)
                })
            }
            _ => {
                let floats_below = self.below(data_type)?;
                let kind = match format(data_type) {
                    Some(format) => Kind::Floats(format),
                    None if floats_below => Kind::Unreadable,
                    None => Kind::NotFloat,
                };
                let Place { name, before, after, dimensions, ragged, in_map, path } = place;
                let dtype = format!("{before}{}{after}", type_name(data_type));
                self.left = self.left.checked_sub(name.len() + dtype.len())?;
                let is_decoded = !data_type.is_floating();
                self.leaves.push(Leaf {
                    name,
                    dtype,
                    dimensions,
                    ragged,
                    kind,
                    path,
                    in_map,
                    is_decoded,
                    node,
                });
                Some(())
            }
        }
    }

    /// Whether there are floats in the children of a leaf.
    fn below(&mut self, data_type: &DataType) -> Option<bool> {
        let mut below = Self { nodes: self.nodes, ..Self::new(self.left) };
        let mut child = |data_type| below.field(data_type, Place::default());
        match data_type {
            DataType::Union(fields, _) => {
                fields.iter().try_for_each(|(_, field)| child(field.data_type()))?;
            }
            DataType::RunEndEncoded(ends, values) => {
                [ends, values].into_iter().try_for_each(|field| child(field.data_type()))?;
            }
            DataType::Dictionary(_, values) => {
                child(values)?;
                // Entries have their nodes in messages of their own.
                below.nodes = self.nodes;
                below.has_dictionaries = true;
            }
            _ => {}
        }
        self.nodes = below.nodes;
        self.has_dictionaries |= below.has_dictionaries;
        Some(below.leaves.iter().any(|leaf| leaf.kind != Kind::NotFloat))
    }
}

/// The format of the floats of a type that has one for each row.
fn format(data_type: &DataType) -> Option<Format> {
    match data_type {
        DataType::Float16 => Some(Format::F16),
        DataType::Float32 => Some(Format::F32),
        DataType::Float64 => Some(Format::F64),
        DataType::Dictionary(_, values) => format(values),
        DataType::RunEndEncoded(_, values) => format(values.data_type()),
        _ => None,
    }
}

/// The name of the type of a leaf.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Dictionary(_, values) => format!("dictionary<{}>", type_name(values)),
        DataType::RunEndEncoded(_, values) => {
            format!("run_end_encoded<{}>", type_name(values.data_type()))
        }
        _ => {
            let name = format!("{data_type:?}").to_ascii_lowercase();
            name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
        }
    }
}

/// The data of a column with one leaf only, the one that the path leads to. A map becomes a list.
fn only(data: ArrayData, path: &[usize]) -> Result<ArrayData, ArrowError> {
    let Some((&child, path)) = path.split_first() else { return Ok(data) };
    let below = data.child_data().get(child).cloned();
    let below =
        only(below.ok_or_else(|| ArrowError::SchemaError(format!("no child {child}")))?, path)?;
    let field = Arc::new(Field::new("", below.data_type().clone(), true));
    let data_type = match data.data_type() {
        DataType::List(_) | DataType::Map(..) => DataType::List(field),
        DataType::LargeList(_) => DataType::LargeList(field),
        DataType::ListView(_) => DataType::ListView(field),
        DataType::LargeListView(_) => DataType::LargeListView(field),
        DataType::FixedSizeList(_, size) => DataType::FixedSizeList(field, *size),
        _ => DataType::Struct(vec![field].into()),
    };
    data.into_builder().data_type(data_type).child_data(vec![below]).build()
}

/// Shows the floats of a leaf of a column. `first` is the number of its first row in the table. In
/// lists of fixed size only, each number has a place of its own; otherwise the place is the row.
/// Unless `finite` numbers matter, arrays that hold nothing else may be left out.
pub(super) fn show(
    array: &ArrayRef,
    path: &[usize],
    first: usize,
    finite: bool,
    see: &mut See<'_>,
) -> Result<(), ShowError> {
    let array = make_array(only(array.to_data(), path).map_err(bad)?);
    let column = Column::new(&array).map_err(bad)?;
    let first = first * column.places_per_row();
    column.visit((!finite).then_some(Predicate::NonFinite), &mut |values| {
        let data = values.array().to_data();
        let size = values.array().data_type().primitive_width().unwrap_or(1);
        let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
        let numbers = &bytes[data.offset() * size..][..data.len() * size];
        let place = |index| first + values.place(index);
        let valid = |run: Range<usize>, bits: &mut [u64]| {
            values.nulls().into_iter().for_each(|nulls| copy(nulls, run.clone(), bits));
        };
        let valid = values.nulls().map(|_| &valid as &Valid<'_>);
        see(Run { numbers, place: &place, valid }).map_err(ShowError::Seen)
    })
}

/// Copies the bits of a range.
fn copy(nulls: &NullBuffer, range: Range<usize>, to: &mut [u64]) {
    let bits = nulls.inner().slice(range.start, range.len());
    for (word, bits) in to.iter_mut().zip(bits.bit_chunks().iter_padded()) {
        *word = bits;
    }
}

/// The result of a function that shows or reads data. A panic becomes an error.
pub(super) fn guarded<T>(function: impl FnOnce() -> Result<T, ShowError>) -> Result<T, ShowError> {
    unwinding(function).unwrap_or_else(|why| Err(bad(why).into()))
}

/// The error of data that cannot be read.
pub(super) fn bad(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
