//! The numbers of a column, batch by batch, without those that are null.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::Error;
use super::batch::Batch;
use super::compression::{MAX_IN_MEMORY, Opened, load, open};
use super::schema::{self, Fields, Step};
use crate::tensor::{self, ByteOrder, Content, Data, Layout, See, ShowError, Tensor};

/// Bytes of a part, at most, where a batch can be cut.
const PART: usize = 4 << 20;
/// Bytes that are decompressed at a time.
const CHUNK: usize = 64 << 10;

/// A table: batches of the same fields.
pub(super) struct Table {
    pub(super) fields: Fields,
    pub(super) batches: Vec<Batch>,
    pub(super) order: ByteOrder,
}

/// Rows of a batch that one thread looks at.
struct Part {
    batch: usize,
    /// Counted from the first of the batch.
    rows: Range<usize>,
    /// Bytes of the numbers in them, those that are null too.
    bytes: usize,
}

struct Column {
    table: Arc<Table>,
    /// From the field down to the numbers.
    chain: Vec<usize>,
    /// Bytes of a number.
    size: usize,
    /// Numbers in a row, if all have as many.
    per_row: Option<usize>,
    parts: Vec<Part>,
}

/// The tensor of a column.
pub(super) fn tensor(table: &Arc<Table>, column: schema::Column) -> Result<Tensor, Error> {
    let schema::Column { name, dtype, chain, dimensions, ragged, content } = column;
    let rows = table.batches.last().map_or(0, Batch::end);
    let too_large = || Error::Length("size of a column");
    let per_row = dimensions.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let per_row = per_row.ok_or_else(too_large)?;
    // Also of a shape with a zero in it, which a coordinate never has.
    rows.checked_mul(dimensions.iter().fold(1usize, |product, &size| product.saturating_mul(size.max(1))))
        .filter(|&most| most <= isize::MAX as usize)
        .ok_or_else(too_large)?;
    let shape = [vec![rows], dimensions].concat();
    let mut data = Data::Owned(Vec::new());
    let content = match content {
        schema::Content::NotFloat => Content::NotFloat,
        schema::Content::Unreadable(why) => Content::Unreadable(why.to_owned()),
        schema::Content::Floats(format) => {
            let per_row = (!ragged).then_some(per_row);
            let size = format.size_in_bytes();
            let parts = parts(table, &chain, per_row, size).ok_or_else(too_large)?;
            data = Data::Column(Box::new(Column { table: Arc::clone(table), chain, size, per_row, parts }));
            Content::Floats { format, parts: 1, order: table.order }
        }
    };
    Ok(Tensor { name: Some(name), file: None, dtype, shape, layout: Layout::RowMajor, content, data })
}

/// All batches, cut where their numbers lie in the file as they are; none if they are too large to be counted.
fn parts(table: &Table, chain: &[usize], per_row: Option<usize>, size: usize) -> Option<Vec<Part>> {
    let leaf = *chain.last()?;
    let (mut parts, mut total) = (Vec::new(), 0usize);
    for (index, batch) in table.batches.iter().enumerate().filter(|(_, batch)| batch.rows > 0) {
        let bytes = match per_row {
            Some(per_row) => batch.rows.checked_mul(per_row)?,
            None => batch.nodes[leaf].length,
        };
        let bytes = bytes.checked_mul(size)?;
        total = total.checked_add(bytes).filter(|&total| total <= isize::MAX as usize)?;
        // No more parts than the buffer has bytes for, whatever the batch claims.
        let there = batch.codec.is_none() && batch.buffer(leaf, 1).len() >= bytes;
        let step = match per_row {
            Some(per_row) if there => (PART / (per_row * size).max(1)).max(1),
            _ => batch.rows,
        };
        if per_row == Some(0) {
            continue;
        }
        let starts = (0..batch.rows).step_by(step);
        parts.extend(starts.map(|start| {
            let rows = start..batch.rows.min(start.saturating_add(step));
            let bytes = per_row.map_or(bytes, |per_row| rows.len() * per_row * size);
            Part { batch: index, rows, bytes }
        }));
    }
    Some(parts)
}

impl tensor::Column for Column {
    fn parts(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.bytes).collect()
    }

    fn show(&self, input: &[u8], part: usize, see: &mut See<'_>) -> Result<(), ShowError> {
        let Part { batch, rows, .. } = &self.parts[part];
        let batch = &self.table.batches[*batch];
        let mut left = MAX_IN_MEMORY;
        let levels = self.chain.iter().map(|&node| Level::load(&self.table, batch, node, input, &mut left));
        let levels = levels.collect::<io::Result<Vec<_>>>()?;
        let Some(&leaf) = self.chain.last() else { return Ok(()) };
        let mut numbers = Numbers::open(&input[batch.buffer(leaf, 1)], batch, self.size)?;
        // The elements of the leaf in the order of the file, which rise.
        runs(&levels, rows.clone(), &mut |run| {
            numbers.show(run, &mut |bytes, first| {
                see(bytes, &|index| self.element(batch, &levels, first + index))
            })
        })
    }
}

impl Column {
    /// The element of the tensor to which an element of the leaf belongs.
    fn element(&self, batch: &Batch, levels: &[Level<'_>], index: usize) -> usize {
        match self.per_row {
            Some(per_row) => batch.first * per_row + index,
            None => {
                let above = levels.iter().rev().skip(1);
                batch.first + above.fold(index, |index, level| level.parent_of(index))
            }
        }
    }
}

/// A node on the way down to the numbers.
struct Level<'a> {
    step: Step,
    length: usize,
    /// Bits, of which those of nulls are 0; none if nothing is null.
    valid: Option<Cow<'a, [u8]>>,
    offsets: Offsets<'a>,
}

impl<'a> Level<'a> {
    fn load(
        table: &Table,
        batch: &Batch,
        node: usize,
        input: &'a [u8],
        left: &mut usize,
    ) -> io::Result<Self> {
        let data = &batch.nodes[node];
        let buffer = |index| &input[batch.buffer(node, index)];
        let valid = match data.nulls {
            true => Some(load(buffer(0), batch.codec, data.length.div_ceil(8), left)?),
            false => None,
        };
        let step = table.fields.nodes[node].step;
        let mut offsets = Offsets { bytes: Cow::Borrowed(&[]), wide: false, order: table.order };
        if let Step::List { wide } = step {
            offsets.wide = wide;
            // Of no lists, even the first may be missing.
            if data.length > 0 {
                let count = data.length.checked_add(1).and_then(|count| count.checked_mul(offsets.size()));
                let length = count.ok_or(io::ErrorKind::InvalidData)?;
                offsets.bytes = load(buffer(1), batch.codec, length, left)?;
                let child = batch.nodes[node + 1].length;
                offsets.verify(data.length, child)?;
            }
        }
        Ok(Self { step, length: data.length, valid, offsets })
    }

    /// The element of this level to which one of the next belongs.
    fn parent_of(&self, child: usize) -> usize {
        match self.step {
            Step::Same | Step::Other => child,
            Step::Fixed(size) => child / size.max(1),
            Step::List { .. } => self.offsets.list_of(child, self.length),
        }
    }
}

/// The offsets of lists.
struct Offsets<'a> {
    bytes: Cow<'a, [u8]>,
    wide: bool,
    order: ByteOrder,
}

impl Offsets<'_> {
    fn size(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    /// One of them; a negative one is more than any length.
    fn get(&self, index: usize) -> usize {
        fn number<const SIZE: usize>(bytes: &[u8], index: usize) -> [u8; SIZE] {
            bytes.as_chunks().0[index]
        }
        let value = match (self.wide, self.order) {
            (false, ByteOrder::Little) => i64::from(i32::from_le_bytes(number(&self.bytes, index))),
            (false, ByteOrder::Big) => i64::from(i32::from_be_bytes(number(&self.bytes, index))),
            (true, ByteOrder::Little) => i64::from_le_bytes(number(&self.bytes, index)),
            (true, ByteOrder::Big) => i64::from_be_bytes(number(&self.bytes, index)),
        };
        usize::try_from(value).unwrap_or(usize::MAX)
    }

    /// They rise, and end within the child.
    fn verify(&self, lists: usize, child: usize) -> io::Result<()> {
        let rise = (0..lists).all(|index| self.get(index) <= self.get(index + 1));
        if rise && self.get(lists) <= child {
            Ok(())
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "offsets of lists that do not rise or lead outside",
            ))
        }
    }

    /// The list that holds an element: the last that does not begin behind it.
    fn list_of(&self, element: usize, lists: usize) -> usize {
        let (mut low, mut high) = (0, lists);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.get(middle) <= element { low = middle } else { high = middle }
        }
        low
    }
}

/// Sees a run of numbers, of which the first is this element of the leaf.
type SeeFrom<'a> = dyn FnMut(&[u8], usize) -> Result<(), crate::Error> + 'a;
type OfRun<'a> = dyn FnMut(Range<usize>) -> Result<(), ShowError> + 'a;

/// Calls with the elements of the last level that belong to elements of the first and are not null, nor under a null.
fn runs(levels: &[Level<'_>], elements: Range<usize>, of_run: &mut OfRun<'_>) -> Result<(), ShowError> {
    let Some((level, below)) = levels.split_first() else { return of_run(elements) };
    let mut down = |run: Range<usize>| match level.step {
        _ if below.is_empty() => of_run(run),
        Step::Same | Step::Other => runs(below, run, of_run),
        Step::Fixed(size) => runs(below, run.start * size..run.end * size, of_run),
        // A map that another process writes to could make them fall after all.
        Step::List { .. } => {
            let start = level.offsets.get(run.start);
            runs(below, start..level.offsets.get(run.end).max(start), of_run)
        }
    };
    let Some(valid) = &level.valid else {
        return if elements.is_empty() { Ok(()) } else { down(elements) };
    };
    let mut at = elements.start;
    loop {
        let start = find(valid, at..elements.end, true);
        if start == elements.end {
            return Ok(());
        }
        at = find(valid, start..elements.end, false);
        down(start..at)?;
    }
}

/// The first bit of this value, or the end.
fn find(bits: &[u8], range: Range<usize>, value: bool) -> usize {
    let (mut at, other) = (range.start, if value { 0x00 } else { 0xFF });
    while at < range.end {
        if at % 8 == 0 && range.end - at >= 8 && bits[at / 8] == other {
            at += 8;
        } else if (bits[at / 8] >> (at % 8) & 1 == 1) == value {
            return at;
        } else {
            at += 1;
        }
    }
    range.end
}

/// The numbers of a batch.
struct Numbers<'a> {
    opened: Opened<'a>,
    size: usize,
    /// The number that the stream is at.
    at: usize,
    buffer: Vec<u8>,
}

impl<'a> Numbers<'a> {
    fn open(buffer: &'a [u8], batch: &Batch, size: usize) -> io::Result<Self> {
        Ok(Self { opened: open(buffer, batch.codec)?, size, at: 0, buffer: Vec::new() })
    }

    /// Shows a run of numbers behind the last, in pieces, with the place of the first of each.
    fn show(&mut self, run: Range<usize>, see: &mut SeeFrom<'_>) -> Result<(), ShowError> {
        let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match &mut self.opened {
            Opened::Here(bytes) => {
                let start = run.start.checked_mul(self.size).ok_or_else(end)?;
                let stop = run.end.checked_mul(self.size).ok_or_else(end)?;
                see(bytes.get(start..stop).ok_or_else(end)?, run.start).map_err(ShowError::Seen)
            }
            Opened::Stream(stream) => {
                if run.start < self.at {
                    return Err(end().into());
                }
                self.buffer.resize(CHUNK, 0);
                while self.at < run.end {
                    // What is between the runs is decompressed, and seen as nothing: whoever sees it may want to stop.
                    let skipped = self.at < run.start;
                    let stop = if skipped { run.start } else { run.end };
                    let count = (CHUNK / self.size).min(stop - self.at);
                    let bytes = &mut self.buffer[..count * self.size];
                    stream.read_exact(bytes)?;
                    see(if skipped { &[] } else { bytes }, self.at).map_err(ShowError::Seen)?;
                    self.at += count;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Numbers that are never ready as a whole.
    fn numbers(count: usize) -> Numbers<'static> {
        let stream = io::repeat(1).take(count as u64 * 4);
        Numbers { opened: Opened::Stream(Box::new(stream)), size: 4, at: 0, buffer: Vec::new() }
    }

    #[test]
    fn gaps_are_shown_as_nothing() {
        let far = 10 * CHUNK;
        let (mut nothing, mut seen) = (0, Vec::new());
        let shown = numbers(far + 2).show(far..far + 2, &mut |bytes, first| {
            match bytes {
                [] => nothing += 1,
                _ => seen.push((bytes.to_vec(), first)),
            }
            Ok(())
        });
        shown.expect("all is there");
        assert_eq!((nothing, seen), (40, vec![(vec![1; 8], far)]));
    }

    #[test]
    fn gaps_can_be_stopped() {
        let mut calls = 0;
        let shown = numbers(usize::MAX >> 4).show(usize::MAX >> 4..usize::MAX >> 3, &mut |_, _| {
            calls += 1;
            Err(crate::Error::Stopped)
        });
        assert!(matches!(shown, Err(ShowError::Seen(crate::Error::Stopped))), "{shown:?}");
        assert_eq!(calls, 1);
        let shown = numbers(10).show(CHUNK..CHUNK + 1, &mut |_, _| Ok(()));
        assert!(matches!(shown, Err(ShowError::Data(_))), "{shown:?}");
    }
}
