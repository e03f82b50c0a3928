//! Streams that are not in memory: batch after batch, and of each buffer after buffer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;

use arrow_ipc::MetadataVersion;

use super::batch::Batch;
use super::column::{self, Floats};
use super::compression::{Opened, load, open_stream};
use super::levels::Levels;
use super::schema::{Fields, Schema};
use super::{CONTINUATION, Error, Framed, NO_COLUMN, NO_SCHEMA, batch};
use crate::Options;
use crate::formats::FileFormat;
use crate::scan::Scanner;
use crate::stream::Scanned;
use crate::tally::Tally;
use crate::tensor::{self, ByteOrder, Content, See, ShowError, Tensor};

/// The longest metadata of a message, which is in memory as a whole.
const MAX_METADATA: usize = 256 << 20;

/// The columns of a stream, as [`super::tensors`] has them, and what is found in them.
///
/// # Errors
/// [`crate::Error::NoStream`] for the file format; otherwise as [`super::tensors`].
pub(crate) fn scan(stream: &mut dyn Read, options: &Options) -> Result<Scanned, crate::Error> {
    let mut source = Source { stream, at: 0 };
    let first = match source.message(true)? {
        Next::File => return Err(crate::Error::NoStream(FileFormat::Arrow)),
        Next::Message(first) => first,
        Next::End => return Err(NO_SCHEMA.into()),
    };
    let message = first.message()?;
    let schema = first.schema(&message)?;
    source.skip_to(first.body(&message)?.end, options)?;
    let Schema { fields, dictionaries, order } = schema;
    let mut rows = Table::new(fields);
    let mut dictionaries: BTreeMap<_, _> =
        dictionaries.into_iter().map(|(id, fields)| (id, Table::new(fields))).collect();
    let mut look = Look { order, options, scanner: Scanner::new(options.stats), decoded: 0 };
    while let Next::Message(framed) = source.message(false)? {
        let message = framed.message()?;
        let body = framed.body(&message)?;
        let (dictionary, batch) = batch(&message)?;
        let table = match dictionary {
            None => &mut rows,
            Some(id) => dictionaries.get_mut(&id).ok_or(NO_COLUMN)?,
        };
        let old = message.version() == MetadataVersion::V4;
        let end = body.end;
        let batch = Batch::read(batch, body, table.rows, &table.fields, old)?;
        table.rows = batch.end();
        // By the length that the message claims; `scan` asks again, column by column, by what has
        // come.
        options.bound(look.decoded.saturating_add(table.decoded(&batch)?), end as u64)?;
        table.scan(&batch, &mut source, &mut look)?;
        source.skip_to(end, options)?;
    }
    let tables = [rows].into_iter().chain(dictionaries.into_values());
    tables.flat_map(|table| table.finish(order)).collect()
}

/// What a stream has next.
enum Next {
    /// The begin of a file of the other format.
    File,
    Message(Framed),
    End,
}

/// A stream, and how much of it has been read.
struct Source<'a> {
    stream: &'a mut dyn Read,
    at: usize,
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(out)?;
        self.at = self.at.saturating_add(count);
        Ok(count)
    }
}

impl Source<'_> {
    /// So many bytes, or what there is before the end. Memory grows with what is there.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, crate::Error> {
        let mut bytes = Vec::new();
        self.take(count as u64).read_to_end(&mut bytes).map_err(crate::Error::Io)?;
        Ok(bytes)
    }

    /// So many bytes.
    fn exactly(&mut self, count: usize, what: &'static str) -> Result<Vec<u8>, crate::Error> {
        let bytes = self.bytes(count)?;
        if bytes.len() == count { Ok(bytes) } else { Err(Error::Truncated(what).into()) }
    }

    /// The four bytes of a length.
    fn length(&mut self) -> Result<Option<[u8; 4]>, crate::Error> {
        let bytes = self.bytes(4)?;
        match bytes.first_chunk() {
            Some(length) => Ok(Some(*length)),
            None if bytes.is_empty() => Ok(None),
            None => Err(Error::Truncated("messages").into()),
        }
    }

    /// The message that begins here. The end may be marked or not.
    fn message(&mut self, first: bool) -> Result<Next, crate::Error> {
        let truncated = || Error::Truncated("messages");
        let Some(mut length) = self.length()? else { return Ok(Next::End) };
        if first && super::MAGIC.starts_with(&length) {
            return Ok(Next::File);
        }
        // Before version 0.15 the length came first.
        if length == CONTINUATION {
            length = self.length()?.ok_or_else(truncated)?;
        }
        match usize::try_from(i32::from_le_bytes(length)) {
            Ok(0) => {
                let end = self.at;
                if self.bytes(1)?.is_empty() {
                    Ok(Next::End)
                } else {
                    Err(crate::Error::Trailing(end))
                }
            }
            Ok(length @ ..=MAX_METADATA) => {
                let metadata = self.exactly(length, "messages")?;
                Ok(Next::Message(Framed { metadata, body: self.at }))
            }
            _ => Err(Error::Length("length of a message").into()),
        }
    }

    /// The first bytes of a buffer of a batch, into memory. `left` is how many that may be.
    fn load(
        &mut self,
        batch: &Batch,
        range: Range<usize>,
        length: usize,
        left: usize,
        options: &Options,
    ) -> Result<Cow<'static, [u8]>, ShowError> {
        let plain = batch.codec.is_none() || range.is_empty();
        if plain && range.len() < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let opened = self.open(batch, range, options)?;
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
        options: &Options,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        let Some(&leaf) = floats.chain().last() else { return Ok(()) };
        let numbers = self.open(batch, batch.buffer(leaf, 1), options)?;
        floats.show(batch, 0..batch.rows, levels, numbers, see)
    }

    /// Opens a buffer of a batch, which lies behind the last that was opened.
    fn open(
        &mut self,
        batch: &Batch,
        range: Range<usize>,
        options: &Options,
    ) -> Result<Opened<'_>, ShowError> {
        self.skip_to(range.start, options).map_err(ShowError::Seen)?;
        Ok(open_stream(self.take(range.len() as u64), range.len(), batch.codec)?)
    }

    /// Reads up to here.
    fn skip_to(&mut self, end: usize, options: &Options) -> Result<(), crate::Error> {
        // In steps, so that it can be stopped.
        while self.at < end {
            let step = (end - self.at).min(1 << 20);
            let skipped =
                io::copy(&mut self.take(step as u64), &mut io::sink()).map_err(crate::Error::Io)?;
            if skipped < step as u64 {
                return Err(Error::Truncated("data").into());
            }
            options.advance(0)?;
        }
        Ok(())
    }
}

/// A table as far as it has come.
struct Table {
    fields: Fields,
    rows: usize,
    /// Of each column.
    seen: Vec<Seen>,
}

/// How batches are looked at, and how far.
struct Look<'a> {
    order: ByteOrder,
    options: &'a Options,
    scanner: Scanner,
    /// Bytes that have been decoded, or were said to be there and were not.
    decoded: u64,
}

#[derive(Clone, Default)]
struct Seen {
    /// Bytes of the numbers, those that are null too.
    bytes: usize,
    tally: Tally,
}

impl Table {
    fn new(fields: Fields) -> Self {
        Self { rows: 0, seen: vec![Seen::default(); fields.columns.len()], fields }
    }

    /// Bytes of a batch that are to be decoded, or are not there.
    fn decoded(&self, batch: &Batch) -> Result<u64, Error> {
        self.fields.columns.iter().try_fold(0u64, |all, column| {
            let floats = Floats::of(column, self.rows)?;
            let bytes = floats.map_or(0, |floats| floats.decoded(&self.fields, batch).sum());
            Ok(all.saturating_add(bytes))
        })
    }

    /// Looks at a batch. Its buffers follow one another in the order of their nodes, so that what
    /// tells the nulls and the lists above numbers comes before them, and is given back when the
    /// last of their columns has been looked at.
    fn scan(
        &mut self,
        batch: &Batch,
        source: &mut Source<'_>,
        look: &mut Look<'_>,
    ) -> Result<(), crate::Error> {
        let Look { order, options, scanner, decoded } = look;
        let mut levels = Levels::default();
        for (column, seen) in self.fields.columns.iter().zip(&mut self.seen) {
            let floats = Floats::of(column, self.rows)?;
            let (Some(floats), Some(format)) = (floats, column.format()) else { continue };
            let bytes = floats.bytes(batch).ok_or_else(column::too_large)?;
            let total = seen.bytes.checked_add(bytes).filter(|&total| total <= isize::MAX as usize);
            seen.bytes = total.ok_or_else(column::too_large)?;
            if bytes == 0 {
                continue;
            }
            if let Some(observer) = &options.observer {
                observer.started(bytes as u64);
            }
            let loaded = levels.load(
                &self.fields,
                *order,
                batch,
                floats.chain(),
                &mut |range, length, left| source.load(batch, range, length, left, options),
            );
            loaded.map_err(|error| error.of(|| column.name.clone()))?;
            // By what has really come.
            let claimed = floats.decoded(&self.fields, batch);
            options.bound(decoded.saturating_add(claimed.levels), source.at as u64)?;
            *decoded = decoded.saturating_add(claimed.sum());
            let shown = scanner.shown(format, *order, bytes, &mut seen.tally, options, |see| {
                source.show(batch, &floats, &levels, options, see)
            });
            shown.map_err(|error| error.of(|| column.name.clone()))?;
        }
        Ok(())
    }

    /// The tensors of all columns.
    fn finish(
        self,
        order: ByteOrder,
    ) -> impl Iterator<Item = Result<(Tensor, Tally), crate::Error>> {
        let Self { fields, rows, seen, .. } = self;
        fields.columns.into_iter().zip(seen).map(move |(column, Seen { bytes, tally })| {
            let tensor = column::tensor(column, rows, order, |_| Ok(Box::new(Gone(bytes))))?;
            debug_assert!(matches!(tensor.content, Content::Floats { .. }) || bytes == 0);
            Ok((tensor, tally))
        })
    }
}

/// Numbers that have been seen.
struct Gone(usize);

impl tensor::Column for Gone {
    fn parts(&self) -> Vec<usize> {
        vec![self.0]
    }

    fn show(&self, _: &[u8], _: usize, _: &mut See<'_>) -> Result<(), ShowError> {
        Ok(())
    }
}
