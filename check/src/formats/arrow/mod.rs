//! Arrow IPC: the file format (.arrow, .feather of version 2) and the streaming format (.arrows),
//! as the columnar format specification of Apache Arrow describes them ("Serialization and
//! Interprocess Communication").
//!
//! A column of floats is a tensor with one element for each row. Each list of fixed size adds a
//! dimension. In lists of varying length the coordinate is the row, since the lists have no common
//! shape. Nulls are not looked at, and neither are numbers under a null row of a struct or a list:
//! the format gives their bytes no meaning. A column that refers to a dictionary of floats is a
//! tensor of the numbers that the rows refer to. Entries without a row are not looked at. A
//! dictionary of structs or lists with floats is a tensor of its own, with one element for each
//! entry. Columns of unions, runs and list views are unreadable if they hold floats.
//!
//! A stream describes the nulls and lists of a batch before its numbers, so the numbers need not be
//! in memory: see [`check_stream`](crate::check_stream). The descriptions stay in memory until the
//! last column that shares them is done. A column that needs more than 256 MiB of them in a batch
//! (2^26 lists, or 2^31 nulls) is refused, and so are dictionaries of floats of more than 256 MiB
//! together. A file may have another order, so it cannot come as a stream.
//!
//! The verifier of `arrow-ipc` checks the metadata. This module checks the offsets and lengths in
//! the metadata. Data that is not compressed is read in place. Compressed numbers (LZ4, Zstandard)
//! are decompressed as streams. The bits of nulls and the offsets of lists are decompressed into
//! memory, at most 256 MiB for the part of a column that a thread looks at. A few bytes can
//! decompress to very many; [`Options::expansion`](crate::Options::expansion) is the limit.

mod batch;
mod column;
mod compression;
mod dictionary;
mod error;
mod levels;
mod message;
mod numbers;
mod schema;
mod stream;
mod unused;

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use arrow_ipc::MetadataVersion;

use self::batch::{Batch, Versions};
use self::column::Table;
pub use self::error::Error;
use self::message::{Framed, NO_COLUMN, NO_SCHEMA, OfDictionary, verifier};
use self::schema::Schema;
use crate::formats::signatures::{self, ARROW_FILE, ARROW_MESSAGE};
use crate::model::reader::{Reader, Stream};
use crate::model::{self, FileFormat, Input, Tensor};

impl FileFormat {
    /// Arrow IPC; see [`arrow`](crate::formats::arrow).
    pub const ARROW: Self = Self::named("arrow");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::ARROW,
    endings: &[".arrow", ".arrows", ".feather", ".ipc"],
    begins: signatures::is_arrow,
    contents: |input| Ok(tensors(input)?.into()),
    stream: Some(Stream::InParts(stream::tensors)),
    shards: None,
    is_fixable: false,
};

/// How a file ends.
const END: &[u8] = b"ARROW1";

/// The columns of all batches, in the order of the schema, and behind them the dictionaries.
///
/// # Errors
/// [`Error`] if the file or stream is not whole or not valid, and [`model::Error::Trailing`].
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, model::Error> {
    let bytes = input.bytes;
    let mut batches = Batches { bytes, ..Batches::default() };
    if bytes.starts_with(ARROW_FILE) {
        batches.file(bytes)?;
    } else if bytes.starts_with(ARROW_MESSAGE) {
        batches.stream(bytes)?;
    } else {
        return Err(Error::Magic.into());
    }
    Ok(batches.finish()?)
}

/// The parts of a file that have been read so far.
#[derive(Default)]
struct Batches<'a> {
    bytes: &'a [u8],
    schema: Schema,
    batches: Vec<Batch>,
    /// The batches of dictionaries, by the id of the dictionary.
    dictionaries: BTreeMap<i64, Vec<Batch>>,
    /// The batches that make up each dictionary at this point of the file.
    versions: Arc<Versions>,
    /// The ranges of the messages, bodies included.
    used: Vec<Range<usize>>,
    /// The total length of these ranges.
    total: usize,
    /// Parts of the bytes that nothing refers to.
    unused: Vec<Range<usize>>,
}

impl Batches<'_> {
    fn file(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let rest = bytes.strip_suffix(END).ok_or(Error::Truncated("footer"))?;
        let (rest, length) = rest.split_last_chunk().ok_or(Error::Truncated("footer"))?;
        let length = usize::try_from(i32::from_le_bytes(*length))
            .map_err(|_| Error::Length("length of the footer"))?;
        let start = rest.len().checked_sub(length).filter(|&start| start >= ARROW_FILE.len());
        let start = start.ok_or(Error::Length("length of the footer"))?;
        let footer = rest[start..].to_vec();
        let footer = arrow_ipc::root_as_footer_with_opts(&verifier(length), &footer)?;
        let schema = footer.schema().ok_or(Error::Message("a footer without a schema"))?;
        self.schema = Schema::read(schema, length)?;
        self.schema.unread.extend(unused::metadata(footer.custom_metadata()));
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
        if self.used.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err(Error::Overlap);
        }
        self.between(start);
        // The batches of a file may stand in any order: all refer to the same dictionaries, which
        // are never replaced.
        if self.versions.values().any(|batches| batches.start > 0) {
            return Err(Error::Message("a dictionary that is replaced in a file"));
        }
        let dictionaries = self.dictionaries.values_mut().flatten();
        for batch in self.batches.iter_mut().chain(dictionaries) {
            batch.dictionaries = Arc::clone(&self.versions);
        }
        Ok(())
    }

    /// Finds what lies between the messages of a file, whose footer begins here.
    fn between(&mut self, footer: usize) {
        // A file begins as a stream does, and the end of the stream may be marked.
        let magic = ARROW_FILE.len();
        let first = self.used.first().map_or(footer, |range| range.start);
        let schema = message::schema_at(self.bytes, magic..first);
        let used = iter::once(0..magic).chain(schema).chain(self.used.iter().cloned());
        let mut used: Vec<_> = used.collect();
        let end = used.iter().map(|range| range.end).max().unwrap_or_default();
        let mark = [ARROW_MESSAGE, &[0; 4]].concat();
        if self.bytes[end..footer].starts_with(&mark) {
            used.push(end..end + mark.len());
        }
        self.unused.extend(unused::between(0..footer, &used));
    }

    fn stream(&mut self, bytes: &[u8]) -> Result<(), model::Error> {
        let first = Framed::read(bytes, 0)?.ok_or(NO_SCHEMA)?;
        let message = first.message()?;
        self.schema = first.schema(&message)?;
        let mut at = first.body(&message)?.end;
        if at > bytes.len() {
            return Err(Error::Truncated("data").into());
        }
        // The marker at the end is optional.
        while at < bytes.len() {
            let Some(framed) = Framed::read(bytes, at)? else {
                let end = at + if bytes[at..].starts_with(ARROW_MESSAGE) { 8 } else { 4 };
                return if end == bytes.len() { Ok(()) } else { Err(model::Error::Trailing(end)) };
            };
            at = self.message(&framed, at, bytes)?;
        }
        Ok(())
    }

    /// Adds a batch of rows or of a dictionary. Returns the end of its body.
    fn message(&mut self, framed: &Framed, at: usize, bytes: &[u8]) -> Result<usize, Error> {
        let message = framed.message()?;
        let body = framed.body(&message)?;
        if body.end > bytes.len() {
            return Err(Error::Truncated("data"));
        }
        self.used.push(at..body.end);
        // The footer may repeat one block many times. Checked here for each block, so that many
        // repetitions fail early.
        self.total = self.total.saturating_add(body.end - at);
        if self.total > bytes.len() {
            return Err(Error::Overlap);
        }
        let end = body.end;
        let old = message.version() == MetadataVersion::V4;
        let (dictionary, batch) = message::batch(&message)?;
        let (fields, batches) = match dictionary {
            None => (&self.schema.fields, &mut self.batches),
            Some(OfDictionary { id, .. }) => {
                let fields = self.schema.dictionaries.get(&id);
                (fields.ok_or(NO_COLUMN)?, self.dictionaries.entry(id).or_default())
            }
        };
        let first = batches.last().map_or(0, Batch::end);
        let mut batch = Batch::read(batch, body, first, fields, old)?;
        batch.dictionaries = Arc::clone(&self.versions);
        self.unused.append(&mut batch.unused);
        self.schema.unread.extend(unused::metadata(message.custom_metadata()));
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

    fn finish(mut self) -> Result<Vec<Tensor>, Error> {
        let mut tensors = Vec::new();
        let mut tables = vec![(self.schema.fields, self.batches)];
        let mut entries = BTreeMap::new();
        for (id, fields) in self.schema.dictionaries {
            let batches = self.dictionaries.remove(&id).unwrap_or_default();
            match fields.entries {
                Some(_) => drop(entries.insert(id, batches)),
                None => tables.push((fields, batches)),
            }
        }
        let entries = Arc::new(entries);
        for (mut fields, batches) in tables {
            let columns = std::mem::take(&mut fields.columns);
            let (order, dictionaries) = (self.schema.order, Arc::clone(&entries));
            let table = Arc::new(Table { fields, batches, dictionaries, order });
            for column in columns {
                tensors.push(column::of_table(&table, column)?);
            }
        }
        tensors.append(&mut self.schema.unread);
        self.unused.retain(|range| self.bytes[range.clone()].iter().any(|&byte| byte != 0));
        self.unused.sort_unstable_by_key(|range| range.start);
        tensors.extend(self.unused.into_iter().map(unused::bytes));
        Ok(tensors)
    }
}
