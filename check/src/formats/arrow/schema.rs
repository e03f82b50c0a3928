//! The schema: the nodes and buffers of a batch, and which of the buffers hold floats.

use std::collections::BTreeMap;

use arrow_ipc as fb;
use nonfinite::Format;

use super::error::Error;
use super::unused;
use crate::model::{ByteOrder, Tensor};

/// The fields of a table, and the fields of the dictionaries that they refer to.
pub(super) struct Schema {
    pub(super) fields: Fields,
    /// The type of the values of each dictionary, by its id.
    pub(super) dictionaries: BTreeMap<i64, Fields>,
    pub(super) order: ByteOrder,
    /// Metadata that is not text.
    pub(super) unread: Vec<Tensor>,
}

impl Default for Schema {
    fn default() -> Self {
        let (fields, dictionaries, unread) = Default::default();
        Self { fields, dictionaries, order: ByteOrder::Little, unread }
    }
}

/// Fields in the order of the nodes of a batch: each before its children.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) nodes: Vec<Node>,
    pub(super) columns: Vec<Column>,
    /// The format of the entries, if this is a dictionary of plain floats. Its entries are no
    /// column: the columns are the rows that refer to the entries.
    pub(super) entries: Option<Format>,
}

impl Fields {
    /// Whether the entries of a dictionary of the one type can be read as those of the other.
    fn agrees(&self, other: &Self) -> bool {
        let nodes = |fields: &Self| -> Vec<_> {
            fields.nodes.iter().map(|node| (node.parent, node.buffers, node.step)).collect()
        };
        let dtypes = |fields: &Self| -> Vec<_> {
            fields.columns.iter().map(|column| column.dtype.clone()).collect()
        };
        (nodes(self), dtypes(self), self.entries) == (nodes(other), dtypes(other), other.entries)
    }
}

/// A field or a child of one.
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    pub(super) buffers: Buffers,
    pub(super) step: Step,
}

/// The buffers of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffers {
    /// This number of buffers.
    Count(usize),
    /// Two, and further ones. The batch gives their number.
    Views,
    /// This number of buffers, and one more before version 5.
    Union(usize),
}

/// Which elements of a child belong to an element of its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The element at the same index. Also the step of a node without a child.
    Same,
    /// This number of consecutive elements.
    Fixed(usize),
    /// The elements between two offsets. An offset has 8 bytes if `wide`, and otherwise 4.
    List { wide: bool },
    /// A rule that this module does not implement.
    Other,
}

/// A leaf: something to report.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) dtype: String,
    /// The nodes from the field down to the leaf.
    pub(super) chain: Vec<usize>,
    /// The length of each list of fixed size.
    pub(super) dimensions: Vec<usize>,
    /// Whether lists of varying length are above the leaf.
    pub(super) ragged: bool,
    pub(super) content: Content,
    /// The id of the dictionary that the rows refer to, if its entries are floats.
    pub(super) dictionary: Option<Indices>,
}

impl Column {
    /// The format of the numbers, if they are looked at.
    pub(super) fn format(&self) -> Option<Format> {
        match self.content {
            Content::Floats(format) => Some(format),
            Content::NotFloat | Content::Unreadable(_) => None,
        }
    }
}

/// How a column refers to a dictionary.
#[derive(Clone, Copy)]
pub(super) struct Indices {
    /// The number of the dictionary.
    pub(super) id: i64,
    /// Bytes of an index.
    pub(super) size: usize,
    pub(super) is_signed: bool,
}

impl Indices {
    /// The value of an index; a negative one is beyond every dictionary.
    pub(super) fn value(self, bytes: &[u8], order: ByteOrder) -> usize {
        let fold = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let value = match order {
            ByteOrder::Little => bytes.iter().rev().fold(0, fold),
            ByteOrder::Big => bytes.iter().fold(0, fold),
        };
        let is_negative = self.is_signed && value >> (8 * self.size - 1) == 1;
        if is_negative { usize::MAX } else { usize::try_from(value).unwrap_or(usize::MAX) }
    }
}

/// The content of a leaf.
pub(super) enum Content {
    Floats(Format),
    NotFloat,
    /// Floats that this module cannot locate, with the reason.
    Unreadable(&'static str),
}

impl Schema {
    /// Reads the schema. `length` is the length of the metadata that holds it.
    pub(super) fn read(schema: fb::Schema<'_>, length: usize) -> Result<Self, Error> {
        let order = match schema.endianness() {
            fb::Endianness::Little => ByteOrder::Little,
            fb::Endianness::Big => ByteOrder::Big,
            _ => return Err(Error::Message("a byte order that is not known")),
        };
        let mut builder = Builder {
            fields: Fields::default(),
            dictionaries: BTreeMap::new(),
            left: length.saturating_mul(64),
            unread: unused::metadata(schema.custom_metadata()).collect(),
        };
        for field in schema.fields().into_iter().flatten() {
            builder.field(field, None, &Place::default(), false)?;
        }
        let Builder { fields, dictionaries, unread, .. } = builder;
        Ok(Self { fields, dictionaries, order, unread })
    }
}

/// The path to a field.
#[derive(Clone, Default)]
struct Place {
    name: String,
    /// The text before and behind the type name: the lists around the field.
    before: String,
    after: String,
    chain: Vec<usize>,
    dimensions: Vec<usize>,
    ragged: bool,
    unreadable: Option<&'static str>,
}

struct Builder {
    fields: Fields,
    dictionaries: BTreeMap<i64, Fields>,
    /// Bytes that further names, types and chains may take.
    left: usize,
    unread: Vec<Tensor>,
}

impl Builder {
    /// Adds a field and its children. A field with a dictionary adds its indices, except where the
    /// caller asks for the values of the dictionary.
    fn field(
        &mut self,
        field: fb::Field<'_>,
        parent: Option<usize>,
        place: &Place,
        values: bool,
    ) -> Result<(), Error> {
        self.unread.extend(unused::metadata(field.custom_metadata()).filter(|_| !values));
        let mut place = place.clone();
        let name = field.name().unwrap_or_default();
        let listed = parent.is_some_and(|parent| {
            matches!(self.fields.nodes[parent].step, Step::Fixed(_) | Step::List { .. })
        });
        // The only child of a list has a name without meaning, such as `item`.
        if !listed {
            if parent.is_some() {
                place.name.push('.');
            }
            place.name.push_str(name);
        }
        let index = self.fields.nodes.len();
        place.chain.push(index);
        let cost =
            place.name.len() + place.before.len() + place.after.len() + 16 * place.chain.len();
        self.left = self.left.checked_sub(cost).ok_or(Error::Names)?;

        if let Some(dictionary) = field.dictionary().filter(|_| !values) {
            self.fields.nodes.push(Node { parent, buffers: Buffers::Count(2), step: Step::Same });
            return self.rows(field, dictionary, place);
        }
        let bad = || Error::Type(name.to_owned());
        let children: Vec<_> = field.children().into_iter().flatten().collect();
        let (buffers, step) = layout(&field).ok_or_else(bad)?;
        self.fields.nodes.push(Node { parent, buffers, step });
        match step {
            Step::Fixed(size) => {
                if place.ragged { /* the shape has no more dimensions */
                } else {
                    place.dimensions.push(size)
                }
                place.before.push_str("fixed_size_list<");
                place.after.insert_str(0, &format!(">[{size}]"));
            }
            Step::List { wide } => {
                place.ragged = true;
                place.dimensions.clear();
                place.before.push_str(match field.type_type() {
                    fb::Type::Map => "map<",
                    _ if wide => "large_list<",
                    _ => "list<",
                });
                place.after.insert(0, '>');
            }
            Step::Other => {
                place.unreadable = Some("floats in unions, runs and list views are not looked at")
            }
            Step::Same => {}
        }
        match (step, children.len()) {
            (Step::Fixed(_) | Step::List { .. }, 1) | (Step::Other, _) => {}
            (Step::Same, count) if count == 0 || field.type_type() == fb::Type::Struct_ => {}
            (Step::Same | Step::Fixed(_) | Step::List { .. }, _) => return Err(bad()),
        }
        if children.is_empty() {
            let (dtype, format) = element(&field).ok_or_else(bad)?;
            let content = content(format, &place);
            self.column(place, &dtype, content, None);
            return Ok(());
        }
        children.into_iter().try_for_each(|child| self.field(child, Some(index), &place, false))
    }

    fn column(&mut self, place: Place, dtype: &str, content: Content, dictionary: Option<Indices>) {
        let dtype = format!("{}{dtype}{}", place.before, place.after);
        let Place { name, chain, dimensions, ragged, .. } = place;
        let column = Column { name, dtype, chain, dimensions, ragged, content, dictionary };
        self.fields.columns.push(column);
    }

    /// Adds the column of a field whose rows refer to a dictionary.
    fn rows(
        &mut self,
        field: fb::Field<'_>,
        encoding: fb::DictionaryEncoding<'_>,
        place: Place,
    ) -> Result<(), Error> {
        let name = field.name().unwrap_or_default();
        let bad = || Error::Type(name.to_owned());
        let id = encoding.id();
        self.dictionary(field, id, name)?;
        let is_plain = field.children().is_none_or(|children| children.is_empty());
        let (dtype, format) = match is_plain {
            true => {
                let (dtype, format) = element(&field).ok_or_else(bad)?;
                (format!("dictionary<{dtype}>"), format)
            }
            false => ("dictionary".to_owned(), None),
        };
        let (bits, is_signed) =
            encoding.indexType().map_or((32, true), |int| (int.bitWidth(), int.is_signed()));
        if ![8, 16, 32, 64].contains(&bits) {
            return Err(bad());
        }
        let indices = Indices { id, size: bits as usize / 8, is_signed };
        let content = content(format, &place);
        self.column(place, &dtype, content, format.map(|_| indices));
        Ok(())
    }

    /// Adds the entries of a dictionary, which several columns may share. Entries that are structs
    /// or lists become the columns of a table of their own.
    fn dictionary(&mut self, field: fb::Field<'_>, id: i64, name: &str) -> Result<(), Error> {
        let is_known = self.dictionaries.contains_key(&id);
        let outer = std::mem::take(&mut self.fields);
        // A dictionary within a dictionary has its own id.
        self.dictionaries.entry(id).or_default();
        self.field(field, None, &Place::default(), true)?;
        let mut inner = std::mem::replace(&mut self.fields, outer);
        if let ([_], [column]) = (&inner.nodes[..], &inner.columns[..]) {
            inner.entries = column.format();
            inner.columns.clear();
        }
        for column in &mut inner.columns {
            column.name = format!(
                "{} (dictionary)",
                if column.name.is_empty() { name } else { &column.name }
            );
        }
        // Fields that share a dictionary must agree on its type: the entries are read as those of
        // the first field.
        match is_known {
            true if self.dictionaries[&id].agrees(&inner) => {}
            true => return Err(Error::Type(name.to_owned())),
            false => drop(self.dictionaries.insert(id, inner)),
        }
        Ok(())
    }
}

/// The content of a leaf of this format.
fn content(format: Option<Format>, place: &Place) -> Content {
    match (format, place.unreadable) {
        (None, _) => Content::NotFloat,
        (Some(_), Some(why)) => Content::Unreadable(why),
        (Some(format), None) => Content::Floats(format),
    }
}

/// The buffers of a type, and the step to its children.
fn layout(field: &fb::Field<'_>) -> Option<(Buffers, Step)> {
    let count = Buffers::Count;
    Some(match field.type_type() {
        fb::Type::Null => (count(0), Step::Same),
        fb::Type::Utf8 | fb::Type::Binary | fb::Type::LargeUtf8 | fb::Type::LargeBinary => {
            (count(3), Step::Same)
        }
        fb::Type::Utf8View | fb::Type::BinaryView => (Buffers::Views, Step::Same),
        fb::Type::Struct_ => (count(1), Step::Same),
        fb::Type::List | fb::Type::Map => (count(2), Step::List { wide: false }),
        fb::Type::LargeList => (count(2), Step::List { wide: true }),
        fb::Type::FixedSizeList => {
            let size = field.type_as_fixed_size_list()?.listSize();
            (count(1), Step::Fixed(usize::try_from(size).ok()?))
        }
        fb::Type::ListView | fb::Type::LargeListView => (count(3), Step::Other),
        fb::Type::RunEndEncoded => (count(0), Step::Other),
        fb::Type::Union => match field.type_as_union()?.mode() {
            fb::UnionMode::Sparse => (Buffers::Union(1), Step::Other),
            fb::UnionMode::Dense => (Buffers::Union(2), Step::Other),
            _ => return None,
        },
        fb::Type::NONE => return None,
        // `element` refuses types that are not known.
        _ => (count(2), Step::Same),
    })
}

/// The name of a type without children, and its format if the type is a float.
fn element(field: &fb::Field<'_>) -> Option<(String, Option<Format>)> {
    Some(match field.type_type() {
        fb::Type::FloatingPoint => match field.type_as_floating_point()?.precision() {
            fb::Precision::HALF => ("float16".to_owned(), Some(Format::F16)),
            fb::Precision::SINGLE => ("float32".to_owned(), Some(Format::F32)),
            fb::Precision::DOUBLE => ("float64".to_owned(), Some(Format::F64)),
            _ => return None,
        },
        fb::Type::Int => {
            let int = field.type_as_int()?;
            (format!("{}int{}", if int.is_signed() { "" } else { "u" }, int.bitWidth()), None)
        }
        kind => (kind.variant_name()?.trim_end_matches('_').to_ascii_lowercase(), None),
    })
}
