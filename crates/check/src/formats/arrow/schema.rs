//! The schema: the columns of a table, and where each message has their nodes and buffers.

use std::collections::BTreeMap;

use arrow_ipc as fb;
use arrow_schema::{DataType, Field};
use nonfinite::Format;

use super::{bad_type, refused};
use crate::model::ByteOrder;
use crate::model::reader::Refused;

/// The columns of a table, and the dictionaries that they refer to.
#[derive(Default)]
pub(super) struct Schema {
    pub(super) fields: Fields,
    /// The type of the values of each dictionary, by its id.
    pub(super) dictionaries: BTreeMap<i64, Dictionary>,
}

/// The fields of a table.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) columns: Vec<Column>,
    /// The place behind the last field.
    pub(super) end: At,
}

/// The values of a dictionary, as a table with one field.
pub(super) struct Dictionary {
    values: DataType,
    pub(super) fields: Fields,
}

impl Dictionary {
    /// Whether the values are plain numbers or text. Such entries are no column: the columns are
    /// the rows that refer to the entries.
    pub(super) fn is_plain(&self) -> bool {
        !self.values.is_nested()
    }
}

/// Where the node and the buffers of a field are in each message: how many of these are before it.
#[derive(Clone, Copy, Default)]
pub(super) struct At {
    pub(super) nodes: usize,
    pub(super) buffers: usize,
    /// Fields of views. The message has the number of their further buffers.
    pub(super) views: usize,
    /// Unions, which had one buffer more before version 5.
    pub(super) unions: usize,
}

/// A leaf of the schema: something to report.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) dtype: String,
    /// The length of each list of fixed size.
    pub(super) dimensions: Vec<usize>,
    /// Whether lists of varying length are above the leaf.
    pub(super) ragged: bool,
    pub(super) content: Content,
    /// The fields from the top down to the leaf.
    pub(super) links: Vec<Link>,
}

/// The content of a leaf.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Floats(Format),
    NotFloat,
    /// Floats that nobody can locate, with the reason.
    Unreadable(&'static str),
}

/// A field on the way to a leaf.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) at: At,
    pub(super) step: Step,
}

/// What a field is.
#[derive(Clone)]
pub(super) enum Step {
    Struct,
    /// A list of fixed size.
    Fixed(usize),
    /// A list or a map. Offsets have 8 bytes if `wide`, and otherwise 4.
    List {
        wide: bool,
    },
    /// A list view, with offsets and sizes of 8 or 4 bytes.
    Views {
        wide: bool,
    },
    /// A run-end encoded field. The ends and the values are the next two links.
    Runs,
    /// The ends of runs, with their type.
    Ends(DataType),
    /// The rows of a dictionary: the type of the indices, and the id of the dictionary.
    Indices(DataType, i64),
    /// The leaf, if nothing above says so.
    Leaf,
}

impl Schema {
    /// Reads the schema. `length` is the length of the metadata that holds it.
    pub(super) fn read(
        schema: fb::Schema<'_>,
        length: usize,
    ) -> Result<(Self, ByteOrder), Refused> {
        let order = match schema.endianness() {
            fb::Endianness::Little => ByteOrder::Little,
            fb::Endianness::Big => ByteOrder::Big,
            _ => return Err(refused("a byte order that is not known")),
        };
        let schema = super::guarded(|| fb::convert::try_fb_to_schema(schema));
        let schema = schema.map_err(|why| format!("bad Arrow schema: {why}"))?;
        let (read, left) = (Self::default(), length.saturating_mul(64));
        let mut builder = Builder { at: At::default(), columns: Vec::new(), left, read };
        for field in schema.fields() {
            builder.field(field, Place::default(), None)?;
        }
        let Builder { at: end, columns, mut read, .. } = builder;
        read.fields = Fields { columns, end };
        Ok((read, order))
    }
}

/// The path to a field.
#[derive(Clone, Default)]
struct Place {
    name: String,
    /// The text before and behind the type name: the lists around the field.
    before: String,
    after: String,
    links: Vec<Link>,
    dimensions: Vec<usize>,
    ragged: bool,
    unreadable: Option<&'static str>,
}

impl Place {
    fn list(&mut self, kind: &str) {
        self.ragged = true;
        self.dimensions.clear();
        self.before.push_str(kind);
        self.after.insert(0, '>');
    }
}

struct Builder {
    /// The place of the next field.
    at: At,
    columns: Vec<Column>,
    /// Bytes that further names, types and links may take.
    left: usize,
    read: Schema,
}

impl Builder {
    /// Adds a field and its children. `parent` is the type of the field above.
    fn field(
        &mut self,
        field: &Field,
        mut place: Place,
        parent: Option<&DataType>,
    ) -> Result<(), Refused> {
        // The only child of a list has a name without meaning, such as `item`.
        match parent {
            None => place.name.push_str(field.name()),
            Some(DataType::Struct(_) | DataType::Union(..)) => {
                place.name.push('.');
                place.name.push_str(field.name());
            }
            Some(_) => {}
        }
        let bad = || bad_type(field.name());
        let data_type = field.data_type();
        let (step, buffers) = step(field).ok_or_else(bad)?;
        place.links.push(Link { at: self.at, step });
        self.at.nodes += 1;
        self.at.buffers += buffers;
        let mut child = |field: &Field, place| self.field(field, place, Some(data_type));
        match data_type {
            DataType::List(item) | DataType::ListView(item) => {
                place.list("list<");
                child(item, place)
            }
            DataType::LargeList(item) | DataType::LargeListView(item) => {
                place.list("large_list<");
                child(item, place)
            }
            DataType::Map(entries, _) => {
                place.list("map<");
                child(entries, place)
            }
            DataType::FixedSizeList(item, size) => {
                // In lists of varying length, the shape has no further dimensions.
                if !place.ragged {
                    place.dimensions.push(usize::try_from(*size).map_err(|_| bad())?);
                }
                place.before.push_str("fixed_size_list<");
                place.after.insert_str(0, &format!(">[{size}]"));
                child(item, place)
            }
            DataType::Struct(fields) if !fields.is_empty() => {
                fields.iter().try_for_each(|field| child(field, place.clone()))
            }
            DataType::Union(fields, _) => {
                self.at.unions += 1;
                place.unreadable = Some("floats in unions are not looked at");
                let mut fields = fields.iter().map(|(_, field)| field);
                fields.try_for_each(|field| self.field(field, place.clone(), Some(data_type)))
            }
            DataType::RunEndEncoded(ends, values) => {
                let step = Step::Ends(ends.data_type().clone());
                place.links.push(Link { at: self.at, step });
                self.at.nodes += 1;
                self.at.buffers += 2;
                place.before.push_str("run_end_encoded<");
                place.after.insert(0, '>');
                let is_flat = match values.data_type() {
                    DataType::Dictionary(_, entries) => format(entries).is_some(),
                    values => format(values).is_some(),
                };
                if !is_flat {
                    place.unreadable =
                        Some("floats in structs and lists of runs are not looked at");
                }
                self.field(values, place, Some(data_type))
            }
            DataType::Dictionary(_, values) => {
                self.dictionary(field, values)?;
                let dtype = match values.is_nested() {
                    true => "dictionary".to_owned(),
                    false => format!("dictionary<{}>", name(values)),
                };
                self.column(place, &dtype, format(values))
            }
            leaf => {
                let is_view = matches!(leaf, DataType::Utf8View | DataType::BinaryView);
                self.at.views += usize::from(is_view);
                self.column(place, &name(leaf), format(leaf))
            }
        }
    }

    fn column(&mut self, place: Place, dtype: &str, format: Option<Format>) -> Result<(), Refused> {
        let dtype = format!("{}{dtype}{}", place.before, place.after);
        let content = match (format, place.unreadable) {
            (None, _) => Content::NotFloat,
            (Some(_), Some(why)) => Content::Unreadable(why),
            (Some(format), None) => Content::Floats(format),
        };
        let Place { name, links, dimensions, ragged, .. } = place;
        let cost = name.len() + dtype.len() + links.len() * size_of::<Link>();
        self.left = self
            .left
            .checked_sub(cost)
            .ok_or_else(|| refused("names that are far longer than it"))?;
        self.columns.push(Column { name, dtype, dimensions, ragged, content, links });
        Ok(())
    }

    /// Adds the values of a dictionary, which several fields may share.
    fn dictionary(&mut self, field: &Field, values: &DataType) -> Result<(), Refused> {
        let id = id(field).unwrap_or_default();
        if let Some(known) = self.read.dictionaries.get(&id) {
            // The entries are read once, so all fields must agree about their type.
            let agrees = known.values.equals_datatype(values);
            return if agrees { Ok(()) } else { Err(bad_type(field.name())) };
        }
        // A dictionary within itself finds this entry.
        let dictionary = Dictionary { values: values.clone(), fields: Fields::default() };
        self.read.dictionaries.insert(id, dictionary);
        let outer = (std::mem::take(&mut self.at), std::mem::take(&mut self.columns));
        self.field(&Field::new(field.name(), values.clone(), true), Place::default(), None)?;
        let end = std::mem::replace(&mut self.at, outer.0);
        let mut columns = std::mem::replace(&mut self.columns, outer.1);
        columns.iter_mut().for_each(|column| column.name.push_str(" (dictionary)"));
        let fields = Fields { columns, end };
        self.read.dictionaries.entry(id).and_modify(|dictionary| dictionary.fields = fields);
        Ok(())
    }
}

/// The id of the dictionary of a field.
#[expect(deprecated, reason = "arrow-ipc tells the id in no other way")]
fn id(field: &Field) -> Option<i64> {
    field.dict_id()
}

/// What a field is, and how many buffers it has by itself.
fn step(field: &Field) -> Option<(Step, usize)> {
    use DataType as T;
    Some(match field.data_type() {
        T::Struct(_) => (Step::Struct, 1),
        T::FixedSizeList(_, size) => (Step::Fixed(usize::try_from(*size).ok()?), 1),
        T::List(_) | T::Map(..) => (Step::List { wide: false }, 2),
        T::LargeList(_) => (Step::List { wide: true }, 2),
        T::ListView(_) => (Step::Views { wide: false }, 3),
        T::LargeListView(_) => (Step::Views { wide: true }, 3),
        T::RunEndEncoded(..) => (Step::Runs, 0),
        T::Dictionary(indices, _) => (Step::Indices((**indices).clone(), id(field)?), 2),
        T::Union(_, arrow_schema::UnionMode::Dense) => (Step::Leaf, 2),
        T::Union(_, arrow_schema::UnionMode::Sparse) => (Step::Leaf, 1),
        T::Null => (Step::Leaf, 0),
        T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary => (Step::Leaf, 3),
        // Two buffers, numbers or views. Views have further ones.
        _ => (Step::Leaf, 2),
    })
}

/// The format of a type, if it is a float.
pub(super) fn format(data_type: &DataType) -> Option<Format> {
    match data_type {
        DataType::Float16 => Some(Format::F16),
        DataType::Float32 => Some(Format::F32),
        DataType::Float64 => Some(Format::F64),
        _ => None,
    }
}

/// The name of a type without children.
fn name(data_type: &DataType) -> String {
    let name = format!("{data_type:?}").to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
}
