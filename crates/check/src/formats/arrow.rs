//! Arrow IPC: the file format (.arrow, .feather of version 2) and the streaming format (.arrows),
//! as the columnar format specification of Apache Arrow describes them ("Serialization and
//! Interprocess Communication").
//!
//! A column of floats is a tensor with one element for each row. Each list of fixed size adds a
//! dimension. In lists of varying length, maps and list views the coordinate is the row, since the
//! lists have no common shape. Nulls are not looked at, and neither are numbers under a null row of
//! a struct or a list: the format gives their bytes no meaning. A column that refers to a
//! dictionary of floats is a tensor of the numbers that the rows refer to, and so is a run-end
//! encoded column. Unions, and dictionaries and runs of structs or lists, are unreadable if they
//! hold floats. So are files in the byte order of another machine.
//!
//! This module finds the messages. The crate `arrow-ipc` makes arrays of one column of a batch,
//! without a copy unless buffers are compressed, and `nonfinite-arrow` shows their values. Memory
//! is that of `arrow-ipc`: a compressed column of a batch is in memory as a whole, and so are the
//! dictionaries of the file. A compressed buffer may claim 256 MiB, or 1000 times its length if
//! that is more. A few bytes can stand for very many numbers;
//! [`Options::max_bytes`](crate::Options::max_bytes) is the limit. If `arrow-ipc` panics, the panic
//! becomes an error of the column.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Endianness, Message, MessageHeader, MetadataVersion, RecordBatch};
use arrow_schema::SchemaRef;
use bytes::Bytes;

use super::columns::{self, Kind, Leaf, Walk, bad, guarded};
use super::signatures::{self, ARROW_FILE, ARROW_MESSAGE};
use super::unwinding::unwinding;
use crate::model::reader::{Read, Reader, Refused};
use crate::model::{self, Data, FileFormat, See, Shared, ShowError, Tensor};

impl FileFormat {
    /// Arrow IPC; see [`arrow`](crate::formats::arrow).
    pub const ARROW: Self = Self::named("arrow");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::ARROW,
    endings: &[".arrow", ".arrows", ".feather", ".ipc"],
    begins: signatures::is_arrow,
    read: Read::Shared(|bytes| Ok(tensors(bytes)?.into())),
    shards: None,
};

/// How a file ends.
const END: &[u8] = b"ARROW1";

/// Bytes of a part of a column, if its batch can be cut.
const PART: usize = 4 << 20;

/// The most parts of a batch. The nulls of a whole batch are counted for each part.
const PARTS: usize = 32;

/// The most bytes that a compressed buffer decompresses to, unless it is long.
const MOST: i64 = 256 << 20;

/// The most bytes that a byte of a long compressed buffer decompresses to.
const EACH: i64 = 1000;

fn refused(why: impl Display) -> Refused {
    format!("bad Arrow metadata: {why}").into()
}

/// The file ends before this part does.
fn truncated(what: &str) -> Refused {
    format!("the Arrow file ends before its {what} does").into()
}

/// A length or an offset is negative or too large.
fn length<N>(value: N, what: &str) -> Result<usize, Refused>
where
    usize: TryFrom<N>,
{
    usize::try_from(value).map_err(|_| refused(format_args!("the {what} cannot be")))
}

/// The message of the verifier. The trace on the lines below it is left out.
fn invalid(error: impl Display) -> Refused {
    refused(error.to_string().lines().next().unwrap_or_default())
}

/// The columns of all batches, in the order of the schema.
fn tensors(bytes: Shared) -> Result<Vec<Tensor>, Refused> {
    let bytes = Bytes::from_owner(bytes);
    let (table, described) = if bytes.starts_with(ARROW_FILE) {
        file(&bytes)?
    } else if bytes.starts_with(ARROW_MESSAGE) {
        stream(&bytes)?
    } else {
        return Err("not an Arrow IPC file".into());
    };
    let table = Arc::new(table);
    let mut walk = Walk::new(described.saturating_mul(64));
    let mut tensors = Vec::new();
    for (root, field) in table.schema.fields().iter().enumerate() {
        walk.column(field).ok_or_else(|| refused("names that are far longer than it"))?;
        let root = Root { index: root, has_dictionaries: walk.has_dictionaries };
        walk.has_dictionaries = false;
        for leaf in walk.leaves.drain(..) {
            tensors.push(tensor(&table, root, leaf)?);
        }
    }
    Ok(tensors)
}

/// A message: a copy of its metadata, since another process may write to the map after the
/// verifier, and where its body lies.
struct Framed {
    metadata: Vec<u8>,
    body: Range<usize>,
}

impl Framed {
    /// Reads the message that begins here. None at the end of a stream.
    fn read(bytes: &[u8], at: usize) -> Result<Option<Self>, Refused> {
        let rest = bytes.get(at..).ok_or_else(|| truncated("messages"))?;
        // Before version 0.15 the length came first.
        let (prefix, rest) = match rest.strip_prefix(ARROW_MESSAGE) {
            Some(rest) => (8, rest),
            None => (4, rest),
        };
        let (size, rest) = rest.split_first_chunk().ok_or_else(|| truncated("messages"))?;
        let size = length(i32::from_le_bytes(*size), "length of a message")?;
        if size == 0 {
            return Ok(None);
        }
        let metadata = rest.get(..size).ok_or_else(|| truncated("messages"))?.to_vec();
        let start = at + prefix + size;
        let mut framed = Self { metadata, body: start..start };
        let body = length(framed.message()?.bodyLength(), "length of a body")?;
        let end = start.checked_add(body).filter(|&end| end <= bytes.len());
        framed.body.end = end.ok_or_else(|| truncated("data"))?;
        Ok(Some(framed))
    }

    fn message(&self) -> Result<Message<'_>, Refused> {
        let message = arrow_ipc::root_as_message(&self.metadata).map_err(invalid)?;
        match message.version() {
            MetadataVersion::V4 | MetadataVersion::V5 => Ok(message),
            other => Err(format!("Arrow metadata of version {} is not known", other.0).into()),
        }
    }
}

/// A batch of rows.
struct Batch {
    framed: Framed,
    /// The number of its first row, counted over the file.
    first: usize,
    rows: usize,
    /// The number of batches of dictionaries before it.
    dictionaries: usize,
}

/// The values of the dictionaries, by their ids.
type Dictionaries = Arc<HashMap<i64, ArrayRef>>;

/// A column of the schema.
#[derive(Clone, Copy)]
struct Root {
    index: usize,
    has_dictionaries: bool,
}

struct Table {
    bytes: Buffer,
    schema: SchemaRef,
    batches: Vec<Batch>,
    /// The batches of all dictionaries.
    dictionaries: Vec<Framed>,
    /// What was loaded last: how many batches of dictionaries, and the dictionaries.
    loaded: Mutex<(usize, Dictionaries)>,
}

fn file(bytes: &Bytes) -> Result<(Table, usize), Refused> {
    let rest = bytes.strip_suffix(END).ok_or_else(|| truncated("footer"))?;
    let (rest, size) = rest.split_last_chunk().ok_or_else(|| truncated("footer"))?;
    let size = length(i32::from_le_bytes(*size), "length of the footer")?;
    let start = rest.len().checked_sub(size).ok_or_else(|| truncated("footer"))?;
    // A copy, for the same reason as in a message.
    let footer = rest[start..].to_vec();
    let footer = arrow_ipc::root_as_footer(&footer).map_err(invalid)?;
    let schema = footer.schema().ok_or_else(|| refused("a footer without a schema"))?;
    let mut table = Table::new(schema, bytes)?;
    let (mut total, mut ids) = (0usize, HashSet::new());
    for block in [footer.dictionaries(), footer.recordBatches()].into_iter().flatten().flatten() {
        let at = length(block.offset(), "offset of a batch")?;
        let framed = Framed::read(&bytes[..start], at)?;
        let framed = framed.ok_or_else(|| refused("an empty message for a batch"))?;
        // The footer may name one batch many times.
        total = total.saturating_add(framed.body.end - at);
        if total > bytes.len() {
            return Err(refused("data that overlaps"));
        }
        let replaced = framed.message()?.header_as_dictionary_batch();
        if replaced.is_some_and(|batch| !batch.isDelta() && !ids.insert(batch.id())) {
            return Err(refused("a dictionary that is replaced in a file"));
        }
        table.add(framed)?;
    }
    Ok((table, size))
}

fn stream(bytes: &Bytes) -> Result<(Table, usize), Refused> {
    const NO_SCHEMA: &str = "a stream without a schema";
    let first = Framed::read(bytes, 0)?.ok_or_else(|| refused(NO_SCHEMA))?;
    let schema = first.message()?.header_as_schema().ok_or_else(|| refused(NO_SCHEMA))?;
    let mut table = Table::new(schema, bytes)?;
    let mut at = first.body.end;
    // The marker at the end is optional.
    while at < bytes.len() {
        let Some(framed) = Framed::read(bytes, at)? else {
            let end = at + if bytes[at..].starts_with(ARROW_MESSAGE) { 8 } else { 4 };
            if end < bytes.len() {
                return Err(model::Error::Trailing(end).into());
            }
            break;
        };
        at = framed.body.end;
        table.add(framed)?;
    }
    Ok((table, first.metadata.len()))
}

impl Table {
    fn new(schema: arrow_ipc::Schema<'_>, bytes: &Bytes) -> Result<Self, Refused> {
        let native = if cfg!(target_endian = "big") { Endianness::Big } else { Endianness::Little };
        if schema.endianness() != native {
            return Err("an Arrow file in the byte order of another machine is not read".into());
        }
        let schema = unwinding(|| arrow_ipc::convert::try_fb_to_schema(schema)).map_err(refused)?;
        let schema = Arc::new(schema.map_err(refused)?);
        let (batches, dictionaries, loaded) = Default::default();
        Ok(Self { bytes: bytes.clone().into(), schema, batches, dictionaries, loaded })
    }

    /// Adds a batch of rows or of a dictionary.
    fn add(&mut self, framed: Framed) -> Result<(), Refused> {
        let message = framed.message()?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data())
            }
            _ => None,
        };
        let batch = batch.ok_or_else(|| refused("a message that is no batch"))?;
        bounded(batch, &self.bytes[framed.body.clone()])?;
        if message.header_type() == MessageHeader::DictionaryBatch {
            self.dictionaries.push(framed);
            return Ok(());
        }
        let rows = length(batch.length(), "length of a batch")?;
        let first = self.rows();
        first.checked_add(rows).ok_or_else(|| refused("the number of rows cannot be"))?;
        let dictionaries = self.dictionaries.len();
        self.batches.push(Batch { framed, first, rows, dictionaries });
        Ok(())
    }

    fn rows(&self) -> usize {
        self.batches.last().map_or(0, |batch| batch.first + batch.rows)
    }

    /// The array of a column of a batch.
    fn array(&self, batch: &Batch, root: Root) -> Result<ArrayRef, Refused> {
        let message = batch.framed.message()?;
        let rows = message.header_as_record_batch().ok_or_else(|| refused("no batch"))?;
        let dictionaries = match root.has_dictionaries {
            true => self.dictionaries(batch.dictionaries)?,
            false => Dictionaries::default(),
        };
        let (body, schema) = (self.body(&batch.framed), Arc::clone(&self.schema));
        let version = message.version();
        let decoder = RecordBatchDecoder::try_new(&body, rows, schema, &dictionaries, &version)?;
        let read = decoder.with_projection(Some(&[root.index])).read_record_batch()?;
        Ok(Arc::clone(read.column(0)))
    }

    fn body(&self, framed: &Framed) -> Buffer {
        self.bytes.slice_with_length(framed.body.start, framed.body.len())
    }

    /// The dictionaries after this many batches of them.
    fn dictionaries(&self, count: usize) -> Result<Dictionaries, Refused> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // A stream may add a few entries before each batch of rows.
        let (begun, mut dictionaries) = std::mem::take(&mut *loaded);
        let begun = if begun <= count { begun } else { 0 };
        for framed in &self.dictionaries[begun..count] {
            let message = framed.message()?;
            let batch = message.header_as_dictionary_batch();
            let batch = batch.ok_or_else(|| refused("no dictionary"))?;
            let (body, all) = (self.body(framed), Arc::make_mut(&mut dictionaries));
            read_dictionary(&body, batch, &self.schema, all, &message.version())?;
        }
        *loaded = (count, Arc::clone(&dictionaries));
        Ok(dictionaries)
    }
}

/// Refuses compressed buffers that claim far more than they can hold: `arrow-ipc` allocates what
/// they claim.
fn bounded(batch: RecordBatch<'_>, body: &[u8]) -> Result<(), Refused> {
    let buffers = batch.compression().and_then(|_| batch.buffers());
    for buffer in buffers.into_iter().flatten() {
        let start = length(buffer.offset(), "offset of a buffer")?;
        let claim = body.get(start..).and_then(|rest| rest.first_chunk());
        let claim = claim.map_or(0, |claim| i64::from_le_bytes(*claim));
        let most = MOST.max(buffer.length().saturating_mul(EACH));
        if claim > most {
            let why = format!("a compressed buffer of {claim} bytes, more than {most}");
            return Err(refused(why));
        }
    }
    Ok(())
}

/// The tensor of a leaf of this column.
fn tensor(table: &Arc<Table>, root: Root, leaf: Leaf) -> Result<Tensor, Refused> {
    let shape = [vec![table.rows()], leaf.dimensions.clone()].concat();
    let most = shape.iter().try_fold(1usize, |most, &size| most.checked_mul(size.max(1)));
    let too_large = || refused("the size of a column cannot be");
    most.filter(|&most| most <= isize::MAX as usize).ok_or_else(too_large)?;
    let data = match leaf.kind {
        Kind::Floats(format) => {
            let column = Column::new(table, root, &leaf, format.size_in_bytes())?;
            Data::Column(Box::new(column.ok_or_else(too_large)?))
        }
        Kind::NotFloat | Kind::Unreadable => Data::Owned(Vec::new()),
    };
    Ok(Tensor::new(leaf.name, leaf.dtype, shape, leaf.kind.content(), data))
}

/// A column of floats.
struct Column {
    table: Arc<Table>,
    /// Which column of the schema the floats are in, and the way to them.
    root: Root,
    path: Vec<usize>,
    parts: Vec<Part>,
    decoded: usize,
}

/// Rows of a batch that one thread looks at.
struct Part {
    batch: usize,
    /// The rows, counted from the first row of the batch.
    rows: Range<usize>,
    /// Bytes of the numbers in these rows, nulls included.
    bytes: usize,
}

impl Column {
    /// The parts of all batches. None if the total length overflows. `size` is that of a number.
    fn new(
        table: &Arc<Table>,
        root: Root,
        leaf: &Leaf,
        size: usize,
    ) -> Result<Option<Self>, Refused> {
        let (table, path) = (Arc::clone(table), leaf.path.clone());
        let mut column = Self { table, root, path, parts: Vec::new(), decoded: 0 };
        let (mut total, per_row) = (0usize, leaf.dimensions.iter().product::<usize>());
        for (index, batch) in column.table.batches.iter().enumerate().filter(|of| of.1.rows > 0) {
            let message = batch.framed.message()?;
            let header = message.header_as_record_batch();
            let is_compressed = header.is_some_and(|batch| batch.compression().is_some());
            let numbers = match leaf.ragged {
                true => {
                    let nodes = header.and_then(|batch| batch.nodes());
                    let nodes = nodes.filter(|nodes| leaf.node < nodes.len());
                    let nodes = nodes.ok_or_else(|| refused("a batch has too few nodes"))?;
                    length(nodes.get(leaf.node).length(), "length of a node")?
                }
                false => batch.rows.saturating_mul(per_row),
            };
            let bytes = numbers.checked_mul(size);
            let Some(bytes) = bytes.filter(|&bytes| bytes <= isize::MAX as usize - total) else {
                return Ok(None);
            };
            total += bytes;
            if is_compressed || leaf.is_decoded {
                column.decoded += bytes;
            }
            let step = match is_compressed || leaf.is_decoded || leaf.ragged {
                true => batch.rows,
                false => (PART / (per_row * size).max(1)).max(batch.rows.div_ceil(PARTS)).max(1),
            };
            for start in (0..batch.rows).step_by(step) {
                let rows = start..batch.rows.min(start.saturating_add(step));
                let bytes = if leaf.ragged { bytes } else { rows.len() * per_row * size };
                column.parts.push(Part { batch: index, rows, bytes });
            }
        }
        Ok(Some(column))
    }
}

impl model::Column for Column {
    fn parts(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.bytes).collect()
    }

    fn decoded(&self) -> usize {
        self.decoded
    }

    fn show(&self, part: usize, finite: bool, see: &mut See<'_>) -> Result<(), ShowError> {
        let Part { batch, rows, .. } = &self.parts[part];
        let batch = &self.table.batches[*batch];
        guarded(|| {
            let array = self.table.array(batch, self.root).map_err(bad)?;
            let array = array.slice(rows.start, rows.len());
            columns::show(&array, &self.path, batch.first + rows.start, finite, see)
        })
    }
}
