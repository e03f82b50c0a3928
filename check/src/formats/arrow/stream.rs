//! Streams, read batch after batch and buffer after buffer. A stream is never in memory as a whole.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;

use arrow_ipc::MetadataVersion;

use super::batch::Batch;
use super::column::{self, Floats};
use super::compression::{MAX_IN_MEMORY, Opened, load, open_stream};
use super::dictionary::Entries;
use super::error::Error;
use super::levels::Levels;
use super::message::{Framed, NO_COLUMN, NO_SCHEMA, OfDictionary, batch};
use super::schema::{Fields, Schema};
use super::unused;
use crate::formats::signatures::{ARROW_FILE, ARROW_MESSAGE};
use crate::model::reader::Columns;
use crate::model::{self, ByteOrder, Content, FileFormat, Run, See, ShowError, Tensor};

/// The longest metadata of a message. Metadata is in memory as a whole.
const MAX_METADATA: usize = 256 << 20;

/// The message for an Arrow file that comes as a stream.
const NO_STREAM: &str =
    "an arrow file cannot be read from a stream, but arrow's streaming format can";

/// The columns of a stream, in the order of [`tensors`](super::tensors). `look` sees their numbers.
///
/// # Errors
/// [`model::Error::NoStream`] for the file format; otherwise as [`tensors`](super::tensors).
pub(super) fn tensors(
    stream: &mut dyn Read,
    look: &mut dyn Columns,
) -> Result<Vec<Tensor>, model::Error> {
    let mut source = Source { stream, at: 0, unused: Vec::new(), found: Vec::new() };
    let first = match source.message(true)? {
        Next::File => {
            let hint = Some(NO_STREAM);
            return Err(model::Error::NoStream { format: FileFormat::ARROW, hint });
        }
        Next::Message(first) => first,
        Next::End => return Err(NO_SCHEMA.into()),
    };
    let message = first.message()?;
    let schema = first.schema(&message)?;
    source.skip_to(first.body(&message)?.end, &mut || look.proceed())?;
    let Schema { fields, dictionaries, order, mut unread } = schema;
    let mut columns = fields.columns.len();
    let mut rows = Table::new(fields, 0);
    let mut dictionaries: BTreeMap<_, _> = dictionaries
        .into_iter()
        .map(|(id, fields)| {
            let first = columns;
            columns += fields.columns.len();
            (id, Table::new(fields, first))
        })
        .collect();
    let mut decoded = 0;
    let mut held = Held::default();
    while let Next::Message(framed) = source.message(false)? {
        let message = framed.message()?;
        let body = framed.body(&message)?;
        let (dictionary, batch) = batch(&message)?;
        let table = match dictionary {
            None => &mut rows,
            Some(OfDictionary { id, .. }) => dictionaries.get_mut(&id).ok_or(NO_COLUMN)?,
        };
        let old = message.version() == MetadataVersion::V4;
        let end = body.end;
        let mut batch = Batch::read(batch, body, table.rows, &table.fields, old)?;
        unread.extend(unused::metadata(message.custom_metadata()));
        source.unused = std::mem::take(&mut batch.unused);
        table.rows = batch.end();
        // This check counts the length that the message claims. `scan` repeats it for each column
        // with the bytes that have arrived.
        look.bound(table.decoded(&batch)?.saturating_add(decoded), end as u64)?;
        if let (Some(dictionary), Some(format)) = (dictionary, table.fields.entries) {
            held.add(dictionary, &batch, format.size_in_bytes(), &mut source, look, &mut decoded)?;
        }
        table.scan(&batch, order, &mut source, look, &held, &mut decoded)?;
        source.skip_to(end, &mut || look.proceed())?;
    }
    let tables = [rows].into_iter().chain(dictionaries.into_values());
    let tensors: Result<Vec<_>, Error> = tables.flat_map(|table| table.finish(order)).collect();
    let mut tensors = tensors?;
    tensors.append(&mut unread);
    tensors.extend(source.found.into_iter().map(unused::bytes));
    Ok(tensors)
}

/// The dictionaries of floats so far, by their ids. Their entries are in memory.
#[derive(Default)]
struct Held(BTreeMap<i64, Entries<'static>>);

impl Held {
    /// Adds the entries of a batch, of `size` bytes each.
    fn add(
        &mut self,
        OfDictionary { id, is_delta }: OfDictionary,
        batch: &Batch,
        size: usize,
        source: &mut Source<'_>,
        look: &mut dyn Columns,
        decoded: &mut u64,
    ) -> Result<(), model::Error> {
        if batch.codec.is_some() {
            *decoded = decoded.saturating_add((batch.rows as u64).saturating_mul(size as u64));
            look.bound(*decoded, source.at as u64)?;
        }
        if !is_delta {
            self.0.remove(&id);
        }
        let others = self.0.iter().filter(|(other, _)| **other != id);
        let others: usize = others.map(|(_, entries)| entries.in_memory()).sum();
        let entries = self.0.entry(id).or_default();
        let most = MAX_IN_MEMORY - others.min(MAX_IN_MEMORY);
        let added = entries.add(batch, size, most, &mut |range, length, left| {
            source.load(batch, range, length, left, &mut || look.proceed())
        });
        added.map_err(|error| error.of(|| format!("dictionary {id}")))
    }
}

/// The next part of a stream.
enum Next {
    /// The beginning of a file in the Arrow file format.
    File,
    Message(Framed),
    End,
}

/// Whether to go on reading.
type Proceed<'a> = dyn FnMut() -> Result<(), model::Error> + 'a;

/// A stream, and how much of it has been read.
struct Source<'a> {
    stream: &'a mut dyn Read,
    at: usize,
    /// The parts of the body of a batch that nothing refers to, and those of all batches that are
    /// not zeros.
    unused: Vec<Range<usize>>,
    found: Vec<Range<usize>>,
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(out)?;
        self.at = self.at.saturating_add(count);
        Ok(count)
    }
}

impl Source<'_> {
    /// Reads `length` bytes, or fewer if the stream ends. Memory grows with the bytes that arrive.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, model::Error> {
        let mut bytes = Vec::new();
        self.take(count as u64).read_to_end(&mut bytes).map_err(model::Error::Io)?;
        Ok(bytes)
    }

    /// Reads `length` bytes.
    fn exactly(&mut self, count: usize, what: &'static str) -> Result<Vec<u8>, model::Error> {
        let bytes = self.bytes(count)?;
        if bytes.len() == count { Ok(bytes) } else { Err(Error::Truncated(what).into()) }
    }

    /// Reads the four bytes of a length.
    fn length(&mut self) -> Result<Option<[u8; 4]>, model::Error> {
        let bytes = self.bytes(4)?;
        match bytes.first_chunk() {
            Some(length) => Ok(Some(*length)),
            None if bytes.is_empty() => Ok(None),
            None => Err(Error::Truncated("messages").into()),
        }
    }

    /// Reads the message that begins here. The marker at the end of a stream is optional.
    fn message(&mut self, first: bool) -> Result<Next, model::Error> {
        let truncated = || Error::Truncated("messages");
        let Some(mut length) = self.length()? else { return Ok(Next::End) };
        if first && ARROW_FILE.starts_with(&length) {
            return Ok(Next::File);
        }
        // Before version 0.15 the length came first.
        if length == ARROW_MESSAGE {
            length = self.length()?.ok_or_else(truncated)?;
        }
        match usize::try_from(i32::from_le_bytes(length)) {
            Ok(0) => {
                let end = self.at;
                if self.bytes(1)?.is_empty() {
                    Ok(Next::End)
                } else {
                    Err(model::Error::Trailing(end))
                }
            }
            Ok(length @ ..=MAX_METADATA) => {
                let metadata = self.exactly(length, "messages")?;
                Ok(Next::Message(Framed { metadata, body: self.at }))
            }
            _ => Err(Error::Length("length of a message").into()),
        }
    }

    /// Reads the first `length` bytes of a buffer into memory. Fails if they are more than `left`.
    fn load(
        &mut self,
        batch: &Batch,
        range: Range<usize>,
        length: usize,
        left: usize,
        proceed: &mut Proceed<'_>,
    ) -> Result<Cow<'static, [u8]>, ShowError> {
        let plain = batch.codec.is_none() || range.is_empty();
        if plain && range.len() < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let opened = self.open(batch, range, proceed)?;
        if length > left {
            return Err(ShowError::Seen(Error::Held.into()));
        }
        Ok(Cow::Owned(load(opened, length, left)?.into_owned()))
    }

    /// Shows the numbers of a column in a batch.
    fn show(
        &mut self,
        batch: &Batch,
        floats: &Floats,
        levels: &Levels<'_>,
        (entries, order): (&Entries<'_>, ByteOrder),
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        let Some(&leaf) = floats.chain().last() else { return Ok(()) };
        // Empty runs, so that the check can stop while bytes are skipped.
        let mut proceed = || see(Run { numbers: &[], place: &|_| 0, valid: None });
        let numbers = self.open(batch, batch.buffer(leaf, 1), &mut proceed)?;
        floats.show((batch, order), 0..batch.rows, levels, entries, numbers, see)
    }

    /// Opens a buffer of a batch. It must lie behind the last one that was opened.
    fn open(
        &mut self,
        batch: &Batch,
        range: Range<usize>,
        proceed: &mut Proceed<'_>,
    ) -> Result<Opened<'_>, ShowError> {
        self.skip_to(range.start, proceed).map_err(ShowError::Seen)?;
        Ok(open_stream(self.take(range.len() as u64), range.len(), batch.codec)?)
    }

    /// Notices what nothing refers to among the bytes from `start` on.
    fn notice(&mut self, start: usize, bytes: &[u8]) {
        let end = start + bytes.len();
        // They are in order, and a batch may have very many.
        let first = self.unused.partition_point(|range| range.end <= start);
        for unused in self.unused[first..].iter().take_while(|range| range.start < end) {
            let part = unused.start.max(start) - start..unused.end.min(end) - start;
            let is_new = self.found.last() != Some(unused);
            if is_new && bytes[part].iter().any(|&byte| byte != 0) {
                self.found.push(unused.clone());
            }
        }
    }

    /// Skips the bytes before `end`.
    fn skip_to(&mut self, end: usize, proceed: &mut Proceed<'_>) -> Result<(), model::Error> {
        // Skips in steps, so that the check can stop.
        while self.at < end {
            let start = self.at;
            let step = self.bytes((end - start).min(1 << 20))?;
            if step.is_empty() {
                return Err(Error::Truncated("data").into());
            }
            self.notice(start, &step);
            proceed()?;
        }
        Ok(())
    }
}

/// The part of a table that has arrived.
struct Table {
    fields: Fields,
    /// The index of its first column among the columns of all tables.
    first: usize,
    rows: usize,
    /// Bytes of the numbers of each column, nulls included.
    bytes: Vec<usize>,
}

impl Table {
    fn new(fields: Fields, first: usize) -> Self {
        Self { first, rows: 0, bytes: vec![0; fields.columns.len()], fields }
    }

    /// Bytes of a batch that are decompressed, or that the batch claims without holding them.
    fn decoded(&self, batch: &Batch) -> Result<u64, Error> {
        self.fields.columns.iter().try_fold(0u64, |all, column| {
            let floats = Floats::of(column, self.rows)?;
            let bytes = floats.map_or(0, |floats| floats.decoded(&self.fields, batch).sum());
            Ok(all.saturating_add(bytes))
        })
    }

    /// Looks at a batch. The buffers have the order of the nodes, so validity bits and offsets come
    /// before the numbers. They are dropped after the last column that shares them. `decoded`
    /// counts the decoded bytes of all batches.
    fn scan(
        &mut self,
        batch: &Batch,
        order: ByteOrder,
        source: &mut Source<'_>,
        look: &mut dyn Columns,
        held: &Held,
        decoded: &mut u64,
    ) -> Result<(), model::Error> {
        let none = Entries::default();
        let mut levels = Levels::default();
        for (index, (column, seen)) in self.fields.columns.iter().zip(&mut self.bytes).enumerate() {
            let floats = Floats::of(column, self.rows)?;
            let (Some(floats), Some(format)) = (floats, column.format()) else { continue };
            let bytes = floats.bytes(batch).ok_or_else(column::too_large)?;
            let total = seen.checked_add(bytes).filter(|&total| total <= isize::MAX as usize);
            *seen = total.ok_or_else(column::too_large)?;
            if bytes == 0 {
                continue;
            }
            look.announce(bytes);
            let chain = floats.chain();
            let loaded =
                levels.load(&self.fields, order, batch, chain, &mut |range, length, left| {
                    source.load(batch, range, length, left, &mut || look.proceed())
                });
            loaded.map_err(|error| error.of(|| column.name.clone()))?;
            // Counts the bytes that have arrived.
            let claimed = floats.decoded(&self.fields, batch);
            look.bound(decoded.saturating_add(claimed.levels), source.at as u64)?;
            *decoded = decoded.saturating_add(claimed.sum());
            let entries = floats.dictionary().and_then(|id| held.0.get(&id)).unwrap_or(&none);
            let numbers = (format, order);
            let looked = look.look(self.first + index, numbers, bytes, &mut |see| {
                source.show(batch, &floats, &levels, (entries, order), see)
            });
            looked.map_err(|error| error.of(|| column.name.clone()))?;
        }
        Ok(())
    }

    /// The tensors of all columns.
    fn finish(self, order: ByteOrder) -> impl Iterator<Item = Result<Tensor, Error>> {
        let Self { fields, rows, bytes, .. } = self;
        fields.columns.into_iter().zip(bytes).map(move |(column, bytes)| {
            let tensor = column::tensor(column, rows, order, |_| Ok(Box::new(Gone(bytes))))?;
            debug_assert!(matches!(tensor.content, Content::Floats { .. }) || bytes == 0);
            Ok(tensor)
        })
    }
}

/// The numbers seen so far.
struct Gone(usize);

impl model::Column for Gone {
    fn parts(&self) -> Vec<usize> {
        vec![self.0]
    }

    fn show(&self, _: &[u8], _: usize, _: &mut See<'_>) -> Result<(), ShowError> {
        Ok(())
    }
}
