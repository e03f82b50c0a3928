//! A column of floats, batch by batch.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use nonfinite::{Format, Predicate};

use super::batch::Batch;
use super::compression::{Opened, open};
use super::part::{MOST_VIEWED, Part, can_be_cut};
use super::schema::{self, At, Link, Step};
use super::{bad, guarded, too_large};
use crate::model::reader::Refused;
use crate::model::{self, ByteOrder, Content, Data, Run, See, ShowError, Tensor};
use crate::sync::lock;

/// The stored bytes of a part, if the batch can be cut.
const PART: usize = 4 << 20;

/// The most bytes that the compressed buffers of a part decompress to, unless they are long.
const MOST: u64 = 256 << 20;

/// The most bytes that a byte of long buffers decompresses to, on average.
const EACH: u64 = 8;

/// A table: batches of its rows, and of the dictionaries that the rows refer to.
pub(super) struct Table {
    pub(super) batches: Vec<Batch>,
    /// The batches of the dictionaries of floats, by their ids.
    pub(super) entries: Arc<BTreeMap<i64, Vec<Batch>>>,
    pub(super) order: ByteOrder,
    /// The dictionary that was loaded last: its id, which of its batches, and the entries.
    pub(super) last: Mutex<Option<(i64, Range<usize>, ArrayRef)>>,
}

struct Column {
    table: Arc<Table>,
    links: Vec<Link>,
    format: Format,
    /// Numbers in a row, if all rows have the same count.
    per_row: Option<usize>,
    parts: Vec<Rows>,
    decoded: u64,
}

/// Rows of a batch that one thread looks at.
struct Rows {
    batch: usize,
    /// The rows, counted from the first row of the batch.
    rows: Range<usize>,
    /// Bytes of the numbers in these rows, nulls included. In lists of varying length, the share of
    /// these rows in the bytes of the batch.
    bytes: usize,
}

/// The tensor of a column of a table.
pub(super) fn tensor(
    table: &Arc<Table>,
    column: schema::Column,
    input: &[u8],
) -> Result<Tensor, Refused> {
    let too_large = || too_large("size of a column");
    let schema::Column { name, dtype, dimensions, ragged, content, links } = column;
    let rows = table.batches.last().map_or(0, Batch::end);
    let per_row = dimensions.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let per_row = per_row.ok_or_else(too_large)?;
    // Checks the other dimensions too if a dimension is zero.
    rows.checked_mul(
        dimensions.iter().fold(1usize, |product, &size| product.saturating_mul(size.max(1))),
    )
    .filter(|&most| most <= isize::MAX as usize)
    .ok_or_else(too_large)?;
    let nothing = Data::Owned(Vec::new());
    let (content, data) = match content {
        schema::Content::NotFloat => (Content::NotFloat, nothing),
        schema::Content::Unreadable(why) => (Content::Unreadable(why.into()), nothing),
        schema::Content::Floats(format) => {
            let (table, per_row) = (Arc::clone(table), (!ragged).then_some(per_row));
            let (parts, decoded) = (Vec::new(), 0);
            let mut column = Column { table, links, format, per_row, parts, decoded };
            column.parts = column.cut().ok_or_else(too_large)?;
            let batches = column.table.batches.iter();
            column.decoded =
                batches.map(|batch| column.decoded_in(batch, input)).fold(0, u64::saturating_add);
            let order = ByteOrder::NATIVE;
            (Content::Floats { format, parts: 1, order }, Data::Column(Box::new(column)))
        }
    };
    Ok(Tensor::new(name, dtype, [vec![rows], dimensions].concat(), content, data))
}

impl Column {
    /// The parts of all batches. None if the total length overflows.
    fn cut(&self) -> Option<Vec<Rows>> {
        let (mut parts, mut total) = (Vec::new(), 0usize);
        for (index, batch) in self.table.batches.iter().enumerate() {
            let numbers = self.numbers(batch)?;
            let bytes = numbers.checked_mul(self.format.size_in_bytes())?;
            total = total.checked_add(bytes).filter(|&total| total <= isize::MAX as usize)?;
            if bytes == 0 {
                continue;
            }
            // By the bytes that are there, so a false claim makes no parts. Each part loads the
            // dictionary again.
            let stored = stored(&self.links, batch).max(1);
            let entries = self.entries(batch).iter().map(|batch| batch.rows as u128).sum::<u128>();
            let part = (PART as u128).max(entries * 8 * self.format.size_in_bytes() as u128);
            let step = match batch.codec {
                None if can_be_cut(&self.links) => {
                    let rows = (batch.rows as u128).saturating_mul(part) / stored as u128 / 8 * 8;
                    usize::try_from(rows.max(8)).unwrap_or(usize::MAX)
                }
                _ => batch.rows.max(1),
            };
            let before = |row: usize| {
                let numbers = numbers as u128 * row as u128 / batch.rows.max(1) as u128;
                numbers as usize * self.format.size_in_bytes()
            };
            let mut start = 0;
            while start < batch.rows {
                let rows = start..batch.rows.min(start.saturating_add(step));
                let bytes = before(rows.end) - before(rows.start);
                start = rows.end;
                parts.push(Rows { batch: index, rows, bytes });
            }
        }
        Some(parts)
    }

    /// Numbers in a batch, nulls included. None if the count overflows.
    fn numbers(&self, batch: &Batch) -> Option<usize> {
        match self.per_row {
            Some(per_row) => batch.rows.checked_mul(per_row),
            None if batch.rows == 0 => Some(0),
            None => {
                let runs = self.links.iter().find(|link| matches!(link.step, Step::Runs));
                Some(batch.nodes[runs.or(self.links.last())?.at.nodes].length)
            }
        }
    }

    /// The bytes of a batch that count for [`Options::max_bytes`](crate::Options::max_bytes): those
    /// that are decompressed, and numbers that are not in the file by themselves.
    fn decoded_in(&self, batch: &Batch, input: &[u8]) -> u64 {
        let numbers = self.numbers(batch).unwrap_or(usize::MAX);
        let numbers = (numbers as u64).saturating_mul(self.format.size_in_bytes() as u64);
        let times = self.links.iter().map(|link| match link.step {
            Step::Views { .. } => MOST_VIEWED,
            Step::Runs | Step::Indices(..) => 1,
            _ => 0,
        });
        let stands_for = numbers.saturating_mul(times.max().unwrap_or_default());
        // Columns can share what describes lists and nulls, so a batch must not have much of this
        // for few numbers.
        let (above, leaf) = self.links.split_at(self.links.len().saturating_sub(1));
        let above = stored(above, batch) as u64;
        let shared = if above > stored(leaf, batch) as u64 { above } else { 0 };
        let entries = self.entries(batch).iter();
        // Opening a batch of entries takes time, even if it is empty.
        let entries = entries.map(|batch| {
            let bytes = (batch.rows as u64).saturating_mul(self.format.size_in_bytes() as u64);
            bytes.saturating_add(64)
        });
        let all = [stands_for, shared, decompressed(&self.links, batch, input)];
        all.into_iter().chain(entries).fold(0, u64::saturating_add)
    }

    /// The dictionary that the rows of a batch refer to: its id, its batches, and which of these
    /// batches.
    fn entries_of(&self, batch: &Batch) -> Option<(i64, &[Batch], Range<usize>)> {
        let id = self.links.iter().find_map(|link| match link.step {
            Step::Indices(_, id) => Some(id),
            _ => None,
        })?;
        Some((id, self.table.entries.get(&id)?, batch.dictionaries.get(&id)?.clone()))
    }

    /// The batches of the dictionary that the rows of a batch refer to.
    fn entries(&self, batch: &Batch) -> &[Batch] {
        let entries = self.entries_of(batch);
        entries.and_then(|(_, batches, which)| batches.get(which)).unwrap_or_default()
    }

    /// The dictionary that the rows of a batch refer to, with its id. `load` loads a batch.
    fn dictionary(
        &self,
        batch: &Batch,
        load: &dyn Fn(&Batch) -> io::Result<ArrayRef>,
    ) -> io::Result<Option<(i64, ArrayRef)>> {
        let Some((id, batches, which)) = self.entries_of(batch) else { return Ok(None) };
        // A stream may add a few entries before each batch of rows.
        let mut last = lock(&self.table.last);
        let begun = last.take().filter(|(of, begun, _)| {
            (*of, begun.start) == (id, which.start) && begun.end <= which.end
        });
        let (mut arrays, start) = match begun {
            Some((_, begun, array)) => (vec![array], begun.end),
            None => (Vec::new(), which.start),
        };
        let more = batches.get(start..which.end).unwrap_or_default();
        for batch in more.iter().filter(|batch| batch.rows > 0) {
            arrays.push(load(batch)?);
        }
        if arrays.len() > 1 {
            let all: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
            arrays = vec![guarded(|| arrow_select::concat::concat(&all)).map_err(|why| bad(&why))?];
        }
        // Without entries, all rows must be null.
        let Some(array) = arrays.pop() else { return Ok(None) };
        *last = Some((id, which, Arc::clone(&array)));
        Ok(Some((id, array)))
    }

    /// The array of a part, none if all numbers are null and left out.
    fn array(&self, input: &[u8], Rows { batch, rows, .. }: &Rows) -> io::Result<Option<ArrayRef>> {
        let batch = &self.table.batches[*batch];
        let (entries, leaf) = (self.entries(batch), [LEAF]);
        let parts = [(batch, &self.links[..])].into_iter();
        let parts = parts.chain(entries.iter().map(|batch| (batch, &leaf[..])));
        let (mut length, mut there) = (0u64, 0u64);
        for (batch, links) in parts.filter(|(batch, _)| batch.codec.is_some()) {
            length = length.saturating_add(decompressed(links, batch, input));
            there = there.saturating_add(stored(links, batch) as u64);
        }
        let most = most(there);
        if length > most {
            let why = format!("a compressed column of {length} bytes in a batch, more than {most}");
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let (order, format) = (self.table.order, self.format);
        let entries = self.dictionary(batch, &|batch| {
            let part = Part { input, order, batch, links: &leaf, format, rows: 0..batch.rows };
            part.array(&HashMap::new())?.ok_or_else(|| bad("a dictionary without numbers"))
        })?;
        let dictionaries = entries.into_iter().collect();
        let links = &self.links;
        Part { input, order, batch, links, format, rows: rows.clone() }.array(&dictionaries)
    }
}

/// The most bytes that this many compressed bytes may decompress to.
fn most(there: u64) -> u64 {
    MOST.max(there.saturating_mul(EACH))
}

/// The only field of a dictionary of floats.
const LEAF: Link = Link { at: At { nodes: 0, buffers: 0, views: 0, unions: 0 }, step: Step::Leaf };

/// The places of the buffers of these fields. A field has at most three.
fn buffers(links: &[Link], batch: &Batch) -> impl Iterator<Item = Range<usize>> {
    links.iter().flat_map(|link| {
        let count = match link.step {
            Step::Runs => 0,
            Step::Struct | Step::Fixed(_) => 1,
            Step::List { .. } | Step::Ends(_) | Step::Indices(..) | Step::Leaf => 2,
            Step::Views { .. } => 3,
        };
        (0..count).map(|index| batch.buffer(link.at, index))
    })
}

/// The bytes of the buffers of these fields.
fn stored(links: &[Link], batch: &Batch) -> usize {
    buffers(links, batch).map(|buffer| buffer.len()).fold(0, usize::saturating_add)
}

/// The bytes that the buffers of these fields decompress to, as they say. 0 for a batch that is not
/// compressed.
fn decompressed(links: &[Link], batch: &Batch, input: &[u8]) -> u64 {
    let lengths = buffers(links, batch).map(|buffer| {
        let buffer = input.get(buffer).unwrap_or_default();
        match open(buffer, batch.codec) {
            Ok(Opened::Compressed(_, _, length)) => length,
            Ok(Opened::Here(_)) | Err(_) => 0,
        }
    });
    lengths.fold(0, u64::saturating_add)
}

impl model::Column for Column {
    fn parts(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.bytes).collect()
    }

    fn decoded(&self) -> usize {
        usize::try_from(self.decoded).unwrap_or(usize::MAX)
    }

    fn show(
        &self,
        input: &[u8],
        part: usize,
        finite: bool,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        let rows = &self.parts[part];
        let Some(array) = self.array(input, rows)? else { return Ok(()) };
        let column = nonfinite_arrow::arrow_60::Column::new(&array).map_err(io::Error::other)?;
        let first =
            (self.table.batches[rows.batch].first + rows.rows.start) * self.per_row.unwrap_or(1);
        let only = (!finite).then_some(Predicate::NonFinite);
        column.visit(only, &mut |values| {
            let data = values.array().to_data();
            let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
            let size = self.format.size_in_bytes();
            let numbers = &bytes[data.offset() * size..][..data.len() * size];
            let place = |index| first + values.place(index);
            let valid = |run: Range<usize>, bits: &mut [u64]| {
                values.nulls().into_iter().for_each(|nulls| copy(nulls, run.clone(), bits));
            };
            let valid = values.nulls().map(|_| &valid as &model::Valid<'_>);
            see(Run { numbers, place: &place, valid }).map_err(ShowError::Seen)
        })
    }
}

/// Copies the bits of a range.
fn copy(nulls: &NullBuffer, range: Range<usize>, to: &mut [u64]) {
    let bits = nulls.inner().slice(range.start, range.len());
    for (word, bits) in to.iter_mut().zip(bits.bit_chunks().iter_padded()) {
        *word = bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_decompressed_bytes() {
        let [fits, longer] = [32 << 20, (32 << 20) + 1];
        assert_eq!([0, fits, longer].map(most), [256 << 20, 256 << 20, (256 << 20) + 8]);
        assert_eq!(most(u64::MAX), u64::MAX);
    }
}
