//! Arrow IPC: the file format (.arrow, .feather of version 2) and the streaming format (.arrows),
//! as the columnar format specification of Apache Arrow describes them ("Serialization and
//! Interprocess Communication").
//!
//! A column of floats is a tensor of one element a row; lists of fixed size add a dimension each.
//! In lists of varying length the coordinate is the row, since there is no other shape. Nulls are
//! not looked at, whatever their bytes are, and neither is what lies under a null row of a struct
//! or a list. A dictionary of floats is a tensor of its own. Columns of unions, of runs and of list
//! views are reported as unreadable if they hold floats.
//!
//! In a stream what tells the nulls and lists of a batch comes before its numbers, which so need
//! not be in memory: see [`crate::check_stream`]. What is held of a column is given back behind the
//! last that it is shared with; more than 256 MiB of a column and a batch (2^26 lists, or 2^31
//! nulls) are refused. A file need not be in this order, and cannot come as a stream.
//!
//! Metadata is read through the tables of `arrow-ipc`, after their verifier; what they say of the
//! data is verified here, and data is read where it lies. Compressed numbers (LZ4, Zstandard) are
//! decompressed as streams; the bits of nulls and the offsets of lists into memory, no more than
//! 256 MiB for the part of a column that a thread looks at. Little data can decompress to much: how
//! much is taken is bounded by [`crate::Options::expansion`].

mod batch;
mod column;
mod compression;
mod levels;
mod numbers;
mod schema;
mod stream;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_ipc::{Message, MessageHeader, MetadataVersion, RecordBatch};
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};

use self::batch::Batch;
use self::column::Table;
use self::schema::Schema;
pub(crate) use self::stream::scan;
use crate::source::Input;
use crate::tensor::Tensor;

/// How a file begins.
pub const MAGIC: &[u8] = super::ARROW_FILE;
/// How each message of a stream begins.
pub const CONTINUATION: &[u8] = super::ARROW_MESSAGE;
/// How a file ends.
const END: &[u8] = b"ARROW1";

/// Why bytes are no Arrow IPC file or stream that can be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Neither a file nor a stream.
    Magic,
    /// It ends before this does.
    Truncated(&'static str),
    /// Metadata is not what the format has there.
    Metadata(InvalidFlatbuffer),
    /// A message of another kind than that which belongs there, or without one.
    Message(&'static str),
    /// A version of the format before 0.8, or one to come.
    Version(i16),
    /// Names and types are far longer than the metadata they come from.
    Names,
    /// A type that contradicts itself.
    Type(String),
    /// Messages overlap, or buffers do.
    Overlap,
    /// A length or an offset is negative, too large, or does not fit the others.
    Length(&'static str),
    /// A batch has fewer nodes or buffers than its schema needs.
    Missing(&'static str),
    /// A batch is compressed in a way that is not known.
    Codec(i8),
    /// What tells the nulls and lists of a column in a batch is more than a stream may have of it.
    Held,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not an Arrow IPC file"),
            Self::Truncated(what) => write!(f, "the Arrow file ends before its {what} does"),
            Self::Metadata(error) => write!(f, "bad Arrow metadata: {}", first_line(error)),
            Self::Message(what) => write!(f, "bad Arrow metadata: {what}"),
            Self::Version(version) => write!(f, "Arrow metadata of version {version} is not known"),
            Self::Names => f.write_str("bad Arrow metadata: names that are far longer than it"),
            Self::Type(name) => write!(f, "bad Arrow metadata: the type of {name:?}"),
            Self::Overlap => f.write_str("bad Arrow metadata: data that overlaps"),
            Self::Length(what) => write!(f, "bad Arrow metadata: the {what} cannot be"),
            Self::Missing(what) => write!(f, "bad Arrow metadata: a batch has too few {what}"),
            Self::Codec(codec) => write!(f, "Arrow compression {codec} is not known"),
            Self::Held => {
                f.write_str("a batch of too many rows for a stream: give the path of a file")
            }
        }
    }
}

/// The trace of the verifier follows on lines of its own.
fn first_line(error: &InvalidFlatbuffer) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

impl std::error::Error for Error {}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        Self::Arrow(error)
    }
}

impl From<InvalidFlatbuffer> for Error {
    fn from(error: InvalidFlatbuffer) -> Self {
        Self::Metadata(error)
    }
}

/// The columns of all batches, in the order of the schema, and behind them the dictionaries.
///
/// # Errors
/// [`crate::Error::Arrow`] for anything but a whole, good file or stream, and
/// [`crate::Error::Trailing`].
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, crate::Error> {
    let bytes = input.bytes;
    let mut reader = Reader::default();
    if bytes.starts_with(MAGIC) {
        reader.file(bytes)?;
    } else if bytes.starts_with(CONTINUATION) {
        reader.stream(bytes)?;
    } else {
        return Err(Error::Magic.into());
    }
    Ok(reader.finish()?)
}

/// How far the verifier of tables goes: not farther than metadata of this length that was not made
/// to keep it busy.
fn verifier(length: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: 128,
        max_tables: length,
        max_apparent_size: length.saturating_mul(16),
        ..VerifierOptions::default()
    }
}

/// A message: its metadata, and where its body begins.
struct Framed {
    metadata: Vec<u8>,
    body: usize,
}

impl Framed {
    /// The message that begins here; none at the end of a stream.
    fn read(bytes: &[u8], at: usize) -> Result<Option<Self>, Error> {
        let rest = bytes.get(at..).ok_or(Error::Truncated("messages"))?;
        // Before version 0.15 the length came first.
        let (prefix, rest) = match rest.strip_prefix(CONTINUATION) {
            Some(rest) => (8, rest),
            None => (4, rest),
        };
        let (length, rest) = rest.split_first_chunk().ok_or(Error::Truncated("messages"))?;
        let length = i32::from_le_bytes(*length);
        if length == 0 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| Error::Length("length of a message"))?;
        // A copy, since a map that another process writes to must not change behind the verifier.
        let metadata = rest.get(..length).ok_or(Error::Truncated("messages"))?.to_vec();
        Ok(Some(Self { metadata, body: at + prefix + length }))
    }

    fn message(&self) -> Result<Message<'_>, Error> {
        let message =
            arrow_ipc::root_as_message_with_opts(&verifier(self.metadata.len()), &self.metadata)?;
        match message.version() {
            MetadataVersion::V4 | MetadataVersion::V5 => Ok(message),
            MetadataVersion(version) => Err(Error::Version(version)),
        }
    }

    /// Where the body should lie.
    fn body(&self, message: &Message<'_>) -> Result<Range<usize>, Error> {
        let length =
            usize::try_from(message.bodyLength()).map_err(|_| Error::Length("length of a body"))?;
        let end = self.body.checked_add(length).ok_or(Error::Length("length of a body"))?;
        Ok(self.body..end)
    }

    /// The schema that a stream begins with.
    fn schema(&self, message: &Message<'_>) -> Result<Schema, Error> {
        let schema = message.header_as_schema().ok_or(NO_SCHEMA)?;
        Schema::read(schema, self.metadata.len())
    }
}

const NO_SCHEMA: Error = Error::Message("a stream without a schema");
const NO_COLUMN: Error = Error::Message("a dictionary that no column has");

/// The batch of a message, and the id of its dictionary if it is of one.
fn batch<'a>(message: &Message<'a>) -> Result<(Option<i64>, RecordBatch<'a>), Error> {
    match message.header_type() {
        MessageHeader::RecordBatch => {
            let batch =
                message.header_as_record_batch().ok_or(Error::Message("a batch without one"))?;
            Ok((None, batch))
        }
        MessageHeader::DictionaryBatch => {
            let dictionary = message.header_as_dictionary_batch();
            let dictionary = dictionary.ok_or(Error::Message("a dictionary without one"))?;
            let batch = dictionary.data().ok_or(Error::Message("a dictionary without values"))?;
            Ok((Some(dictionary.id()), batch))
        }
        _ => Err(Error::Message("a message that is no batch")),
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    schema: Schema,
    batches: Vec<Batch>,
    /// Those of dictionaries, by their ids.
    dictionaries: BTreeMap<i64, Vec<Batch>>,
    /// Where the messages lie, with their bodies.
    used: Vec<Range<usize>>,
    /// Bytes of all of them.
    total: usize,
}

impl Reader {
    fn file(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let rest = bytes.strip_suffix(END).ok_or(Error::Truncated("footer"))?;
        let (rest, length) = rest.split_last_chunk().ok_or(Error::Truncated("footer"))?;
        let length = usize::try_from(i32::from_le_bytes(*length))
            .map_err(|_| Error::Length("length of the footer"))?;
        let start = rest.len().checked_sub(length).filter(|&start| start >= MAGIC.len());
        let start = start.ok_or(Error::Length("length of the footer"))?;
        let footer = rest[start..].to_vec();
        let footer = arrow_ipc::root_as_footer_with_opts(&verifier(length), &footer)?;
        let schema = footer.schema().ok_or(Error::Message("a footer without a schema"))?;
        self.schema = Schema::read(schema, length)?;
        let blocks =
            [footer.dictionaries(), footer.recordBatches()].into_iter().flatten().flatten();
        for block in blocks {
            let at =
                usize::try_from(block.offset()).map_err(|_| Error::Length("offset of a batch"))?;
            let framed = Framed::read(&bytes[..start], at)?;
            let framed = framed.ok_or(Error::Message("an empty message for a batch"))?;
            self.message(&framed, at, &bytes[..start])?;
        }
        self.used.sort_unstable_by_key(|range| range.start);
        let overlap = self.used.windows(2).any(|pair| pair[0].end > pair[1].start);
        if overlap { Err(Error::Overlap) } else { Ok(()) }
    }

    fn stream(&mut self, bytes: &[u8]) -> Result<(), crate::Error> {
        let first = Framed::read(bytes, 0)?.ok_or(NO_SCHEMA)?;
        let message = first.message()?;
        self.schema = first.schema(&message)?;
        let mut at = first.body(&message)?.end;
        if at > bytes.len() {
            return Err(Error::Truncated("data").into());
        }
        // The end may be marked or not.
        while at < bytes.len() {
            let Some(framed) = Framed::read(bytes, at)? else {
                let end = at + if bytes[at..].starts_with(CONTINUATION) { 8 } else { 4 };
                return if end == bytes.len() { Ok(()) } else { Err(crate::Error::Trailing(end)) };
            };
            at = self.message(&framed, at, bytes)?;
        }
        Ok(())
    }

    /// A batch of rows or of a dictionary; returns where its body ends.
    fn message(&mut self, framed: &Framed, at: usize, bytes: &[u8]) -> Result<usize, Error> {
        let message = framed.message()?;
        let body = framed.body(&message)?;
        if body.end > bytes.len() {
            return Err(Error::Truncated("data"));
        }
        self.used.push(at..body.end);
        // A block may be repeated as often as the footer is long, so this does not wait for the
        // last.
        self.total = self.total.saturating_add(body.end - at);
        if self.total > bytes.len() {
            return Err(Error::Overlap);
        }
        let end = body.end;
        let old = message.version() == MetadataVersion::V4;
        let (dictionary, batch) = batch(&message)?;
        let (fields, batches) = match dictionary {
            None => (&self.schema.fields, &mut self.batches),
            Some(id) => {
                let fields = self.schema.dictionaries.get(&id);
                (fields.ok_or(NO_COLUMN)?, self.dictionaries.entry(id).or_default())
            }
        };
        let first = batches.last().map_or(0, Batch::end);
        batches.push(Batch::read(batch, body, first, fields, old)?);
        Ok(end)
    }

    fn finish(mut self) -> Result<Vec<Tensor>, Error> {
        let mut tensors = Vec::new();
        let fields = std::mem::take(&mut self.schema.dictionaries);
        let mut tables = vec![(self.schema.fields, self.batches)];
        tables.extend(
            fields
                .into_iter()
                .map(|(id, fields)| (fields, self.dictionaries.remove(&id).unwrap_or_default())),
        );
        for (mut fields, batches) in tables {
            let columns = std::mem::take(&mut fields.columns);
            let table = Arc::new(Table { fields, batches, order: self.schema.order });
            for column in columns {
                tensors.push(column::of_table(&table, column)?);
            }
        }
        Ok(tensors)
    }
}
