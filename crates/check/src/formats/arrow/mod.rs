//! Arrow IPC: the file format (.arrow, .feather of version 2) and the streaming format (.arrows),
//! as the columnar format specification of Apache Arrow describes them ("Serialization and
//! Interprocess Communication").
//!
//! A column of floats is a tensor with one element for each row. Each list of fixed size adds a
//! dimension. In lists of varying length and in list views the coordinate is the row, since the
//! lists have no common shape. Nulls are not looked at, and neither are numbers under a null row of
//! a struct or a list: the format gives their bytes no meaning. A column that refers to a
//! dictionary of floats is a tensor of the numbers that the rows refer to, and so is a run-end
//! encoded column. Entries without a row are not looked at. A dictionary of structs or lists with
//! floats is a tensor of its own, with one element for each entry. Columns of unions are unreadable
//! if they hold floats.
//!
//! The crate `arrow-ipc` reads schemas and makes arrays of messages, and `nonfinite-arrow` shows
//! their values. This module finds the messages, and bounds memory and work. For each part of a
//! column, it copies the buffers of the column to a message of its own, in the byte order of the
//! machine. So `arrow-ipc` never sees a length that the file does not have, and a thread takes the
//! memory of a part: about 4 MiB if the buffers are not compressed, unless a row is longer. A batch
//! with list views, with runs or with compressed buffers is one part. Compressed buffers of a
//! column (LZ4, Zstandard) and of its dictionary may together decompress to 256 MiB, or to 8 times
//! their length if that is more. A few bytes can stand for very many numbers;
//! [`Options::max_bytes`](crate::Options::max_bytes) is the limit.

mod batch;
mod column;
mod compression;
mod message;
mod part;
mod schema;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_ipc::MetadataVersion;
use arrow_schema::ArrowError;

use self::batch::{Batch, Versions};
use self::column::Table;
use self::message::{Framed, NO_SCHEMA, OfDictionary, first_line, verifier};
use self::schema::Schema;
use crate::formats::signatures::{self, ARROW_FILE, ARROW_MESSAGE};
use crate::formats::unwinding::unwinding;
use crate::model::reader::{Read, Reader, Refused};
use crate::model::{self, ByteOrder, FileFormat, Input, Tensor};

impl FileFormat {
    /// Arrow IPC; see [`arrow`](crate::formats::arrow).
    pub const ARROW: Self = Self::named("arrow");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::ARROW,
    endings: &[".arrow", ".arrows", ".feather", ".ipc"],
    begins: signatures::is_arrow,
    read: Read::Whole(|input| Ok(tensors(input)?.into())),
    shards: None,
};

/// How a file ends.
const END: &[u8] = b"ARROW1";

fn refused(why: &str) -> Refused {
    format!("bad Arrow metadata: {why}").into()
}

/// The file ends before this part does.
fn truncated(what: &str) -> Refused {
    format!("the Arrow file ends before its {what} does").into()
}

/// A length or an offset is negative, too large, or does not fit the others.
fn too_large(what: &str) -> Refused {
    refused(&format!("the {what} cannot be"))
}

/// A batch has fewer nodes or buffers than its schema needs.
fn missing(what: &str) -> Refused {
    refused(&format!("a batch has too few {what}"))
}

/// A type contradicts itself.
fn bad_type(name: &str) -> Refused {
    refused(&format!("the type of {name:?}"))
}

/// The columns of all batches, in the order of the schema, and behind them the dictionaries.
fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Refused> {
    let bytes = input.bytes;
    if bytes.starts_with(ARROW_FILE) {
        file(bytes)?.finish(bytes)
    } else if bytes.starts_with(ARROW_MESSAGE) {
        stream(bytes)?.finish(bytes)
    } else {
        Err("not an Arrow IPC file".into())
    }
}

/// The parts of a file that have been read so far.
struct Batches {
    schema: Schema,
    order: ByteOrder,
    batches: Vec<Batch>,
    /// The batches of dictionaries, by the id of the dictionary.
    dictionaries: BTreeMap<i64, Vec<Batch>>,
    /// The batches that make up each dictionary at this point of the file.
    versions: Arc<Versions>,
    /// The ranges of the messages, bodies included.
    used: Vec<Range<usize>>,
    /// The total length of these ranges.
    total: usize,
}

fn file(bytes: &[u8]) -> Result<Batches, Refused> {
    let rest = bytes.strip_suffix(END).ok_or_else(|| truncated("footer"))?;
    let (rest, length) = rest.split_last_chunk().ok_or_else(|| truncated("footer"))?;
    let length = usize::try_from(i32::from_le_bytes(*length))
        .map_err(|_| too_large("length of the footer"))?;
    let start = rest.len().checked_sub(length).filter(|&start| start >= ARROW_FILE.len());
    let start = start.ok_or_else(|| too_large("length of the footer"))?;
    // A copy, since another process may write to the map after the verifier.
    let footer = rest[start..].to_vec();
    let footer = arrow_ipc::root_as_footer_with_opts(&verifier(length), &footer);
    let footer = footer.map_err(first_line)?;
    let schema = footer.schema().ok_or_else(|| refused("a footer without a schema"))?;
    let mut read = Batches::new(Schema::read(schema, length)?);
    for block in [footer.dictionaries(), footer.recordBatches()].into_iter().flatten().flatten() {
        let at = usize::try_from(block.offset()).map_err(|_| too_large("offset of a batch"))?;
        let framed = Framed::read(&bytes[..start], at)?;
        let framed = framed.ok_or_else(|| refused("an empty message for a batch"))?;
        read.message(&framed, at, &bytes[..start])?;
    }
    read.used.sort_unstable_by_key(|range| range.start);
    if read.used.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return Err(refused("data that overlaps"));
    }
    // The batches of a file may stand in any order: all refer to the same dictionaries, which are
    // never replaced.
    if read.versions.values().any(|batches| batches.start > 0) {
        return Err(refused("a dictionary that is replaced in a file"));
    }
    let dictionaries = read.dictionaries.values_mut().flatten();
    for batch in read.batches.iter_mut().chain(dictionaries) {
        batch.dictionaries = Arc::clone(&read.versions);
    }
    Ok(read)
}

fn stream(bytes: &[u8]) -> Result<Batches, Refused> {
    let first = Framed::read(bytes, 0)?.ok_or_else(|| refused(NO_SCHEMA))?;
    let message = first.message()?;
    let schema = message.header_as_schema().ok_or_else(|| refused(NO_SCHEMA))?;
    let mut read = Batches::new(Schema::read(schema, first.metadata.len())?);
    let mut at = first.body(&message)?.end;
    if at > bytes.len() {
        return Err(truncated("data"));
    }
    // The marker at the end is optional.
    while at < bytes.len() {
        let Some(framed) = Framed::read(bytes, at)? else {
            let end = at + if bytes[at..].starts_with(ARROW_MESSAGE) { 8 } else { 4 };
            return if end == bytes.len() {
                Ok(read)
            } else {
                Err(model::Error::Trailing(end).into())
            };
        };
        at = read.message(&framed, at, bytes)?;
    }
    Ok(read)
}

impl Batches {
    fn new((schema, order): (Schema, ByteOrder)) -> Self {
        let (batches, dictionaries, versions, used) = Default::default();
        Self { schema, order, batches, dictionaries, versions, used, total: 0 }
    }

    /// Adds a batch of rows or of a dictionary. Returns the end of its body.
    fn message(&mut self, framed: &Framed, at: usize, bytes: &[u8]) -> Result<usize, Refused> {
        let message = framed.message()?;
        let body = framed.body(&message)?;
        if body.end > bytes.len() {
            return Err(truncated("data"));
        }
        self.used.push(at..body.end);
        // The footer may repeat one block many times. Checked here for each block, so that many
        // repetitions fail early.
        self.total = self.total.saturating_add(body.end - at);
        if self.total > bytes.len() {
            return Err(refused("data that overlaps"));
        }
        let end = body.end;
        let old = message.version() == MetadataVersion::V4;
        let (dictionary, batch) = message::batch(&message)?;
        let (fields, batches, refers) = match dictionary {
            None => (&self.schema.fields, &mut self.batches, true),
            Some(OfDictionary { id, .. }) => {
                let of = self
                    .schema
                    .dictionaries
                    .get(&id)
                    .ok_or_else(|| refused("a dictionary that no column has"))?;
                (&of.fields, self.dictionaries.entry(id).or_default(), !of.is_plain())
            }
        };
        let first = batches.last().map_or(0, Batch::end);
        let mut batch = Batch::read(batch, body, first, fields, old)?;
        // Plain entries refer to no dictionary. If each kept the map, each would copy the map.
        if refers {
            batch.dictionaries = Arc::clone(&self.versions);
        }
        batches.push(batch);
        if let Some(OfDictionary { id, is_delta }) = dictionary {
            let version = Arc::make_mut(&mut self.versions).entry(id).or_default();
            version.end = batches.len();
            if !is_delta {
                version.start = version.end - 1;
            }
        }
        Ok(end)
    }

    fn finish(mut self, bytes: &[u8]) -> Result<Vec<Tensor>, Refused> {
        let mut tables = vec![(self.schema.fields.columns, self.batches)];
        let mut entries = BTreeMap::new();
        for (id, dictionary) in self.schema.dictionaries {
            let batches = self.dictionaries.remove(&id).unwrap_or_default();
            match dictionary.is_plain() {
                true => drop(entries.insert(id, batches)),
                false => tables.push((dictionary.fields.columns, batches)),
            }
        }
        let (entries, order) = (Arc::new(entries), self.order);
        let mut tensors = Vec::new();
        for (columns, batches) in tables {
            let (entries, last) = (Arc::clone(&entries), Mutex::default());
            let table = Arc::new(Table { batches, entries, order, last });
            for column in columns {
                tensors.push(column::tensor(&table, column, bytes)?);
            }
        }
        Ok(tensors)
    }
}

/// The result of a function of arrow's crates, which may panic over hostile data, or why there is
/// none.
fn guarded<T>(function: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, String> {
    match unwinding(function) {
        Some(result) => result.map_err(|error| error.to_string()),
        None => Err("its reader gave up".to_owned()),
    }
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
