//! The numbers of a column, row group by row group and page by page.

use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use ::parquet::data_type::{DataType, DoubleType, FixedLenByteArrayType, FloatType};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::ColumnDescPtr;
use nonfinite::Format;
use zerocopy::IntoBytes;

use super::pages::{Codec, Pages, Slot};
use crate::formats::unwinding::unwinding;
use crate::model::{self, Run, See, ShowError};

/// Rows that are decoded at a time, in columns without lists.
const ROWS: usize = 16 << 10;

/// A column in a row group.
pub(super) struct Chunk {
    pub(super) range: Range<usize>,
    pub(super) codec: Codec,
    /// The number of its first row, counted over the file.
    pub(super) first: usize,
    pub(super) rows: usize,
    /// Numbers and nulls.
    pub(super) values: usize,
}

/// The type of the numbers of a column.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    /// FLOAT.
    Float,
    /// DOUBLE.
    Double,
    /// FLOAT16, stored as byte arrays of two bytes.
    Half,
}

impl Numbers {
    /// The format of the numbers.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Float => Format::F32,
            Self::Double => Format::F64,
            Self::Half => Format::F16,
        }
    }

    fn size_in_bytes(self) -> usize {
        self.format().size_in_bytes()
    }
}

pub(super) struct Column {
    descriptor: ColumnDescPtr,
    numbers: Numbers,
    chunks: Vec<Chunk>,
}

impl Column {
    pub(super) fn new(descriptor: ColumnDescPtr, numbers: Numbers, chunks: Vec<Chunk>) -> Self {
        Self { descriptor, numbers, chunks }
    }
}

impl model::Column for Column {
    fn parts(&self) -> Vec<usize> {
        self.chunks.iter().map(|chunk| chunk.values * self.numbers.size_in_bytes()).collect()
    }

    fn show(
        &self,
        input: &[u8],
        part: usize,
        _finite: bool,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        let chunk = &self.chunks[part];
        match self.numbers {
            Numbers::Float => {
                self.decode::<FloatType>(input, chunk, |values, see| see(values.as_bytes()), see)
            }
            Numbers::Double => {
                self.decode::<DoubleType>(input, chunk, |values, see| see(values.as_bytes()), see)
            }
            Numbers::Half => {
                let mut numbers = Vec::new();
                let show = |values: &[_], see: &mut dyn FnMut(&[u8]) -> _| {
                    numbers.clear();
                    for value in values {
                        let value: &::parquet::data_type::FixedLenByteArray = value;
                        // Values have the two bytes of the column, unless the decoder has failed.
                        let bytes = value.data().first_chunk().copied().unwrap_or_default();
                        numbers.extend_from_slice(&u16::from_le_bytes(bytes).to_ne_bytes());
                    }
                    see(&numbers)
                };
                self.decode::<FixedLenByteArrayType>(input, chunk, show, see)
            }
        }
    }
}

impl Column {
    /// Decodes page after page. `show` receives the bytes of the values in the byte order of the
    /// machine.
    fn decode<T: DataType>(
        &self,
        input: &[u8],
        chunk: &Chunk,
        mut show: impl FnMut(
            &[T::T],
            &mut dyn FnMut(&[u8]) -> Result<(), model::Error>,
        ) -> Result<(), model::Error>,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        let [nulls, lists] =
            [self.descriptor.max_def_level(), self.descriptor.max_rep_level()].map(|most| most > 0);
        let mut pages = Pages::new(
            &input[chunk.range.clone()],
            chunk.codec,
            self.numbers.size_in_bytes(),
            (nulls, lists),
        );
        let slot = Slot::default();
        let reader = get_column_reader(Arc::clone(&self.descriptor), Box::new(slot.clone()));
        let mut batch = Batch::<T> {
            reader: get_typed_column_reader(reader),
            values: Vec::new(),
            definition: Vec::new(),
            repetition: Vec::new(),
            levels: 0,
            last: Cell::default(),
        };
        let (mut rows, mut left) = (0, chunk.values);
        while let Some((page, count)) = pages.next().map_err(failed)? {
            slot.put(page);
            let mut count = count as usize;
            left =
                left.checked_sub(count).ok_or_else(|| bad("more values than its footer says"))?;
            // The decoder reads a dictionary when it asks for the page behind it.
            if count == 0 {
                batch.read(1)?;
                continue;
            }
            while count > 0 {
                // One list may hold all values of the page. Then the page is one record.
                batch.read(if lists { usize::MAX } else { ROWS.min(count) })?;
                if batch.levels == 0 {
                    return Err(bad("fewer values in a page than it says").into());
                }
                count = count
                    .checked_sub(batch.levels)
                    .ok_or_else(|| bad("more values in a page than it says"))?;
                let begin = rows;
                let end = batch.rows(begin, lists).filter(|&end| end <= chunk.rows);
                rows = end.ok_or_else(|| bad("more rows than its footer says"))?;
                let element =
                    |index| chunk.first + batch.row(index, begin, self.descriptor.max_def_level());
                // Also called for a batch of nulls only, so that the caller can stop.
                show(&batch.values, &mut |numbers| {
                    see(Run { numbers, place: &element, valid: None })
                })
                .map_err(ShowError::Seen)?;
            }
        }
        if left == 0 && rows == chunk.rows {
            Ok(())
        } else {
            Err(bad("fewer values or rows than its footer says").into())
        }
    }
}

/// A batch of values that were decoded together.
struct Batch<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// The values that are not null.
    values: Vec<T::T>,
    /// A level for each value and null, if the column may have nulls. The greatest level means a
    /// value.
    definition: Vec<i16>,
    /// A level for each value and null, if the column may have lists. Level 0 begins a row.
    repetition: Vec<i16>,
    levels: usize,
    /// Where the last search for a row ended.
    last: Cell<Place>,
}

/// A place among the levels of a batch, with the values and rows before it.
#[derive(Clone, Copy, Default)]
struct Place {
    level: usize,
    values: usize,
    /// Rows that begin before this place.
    rows: usize,
}

impl<T: DataType> Batch<T> {
    fn read(&mut self, records: usize) -> io::Result<()> {
        self.values.clear();
        self.definition.clear();
        self.repetition.clear();
        let Self { reader, values, definition, repetition, .. } = self;
        let read =
            unwinding(|| reader.read_records(records, Some(definition), Some(repetition), values));
        let (_, _, levels) = read.ok_or_else(|| bad("its decoder gave up"))?.map_err(failed)?;
        self.levels = levels;
        self.last.take();
        Ok(())
    }

    /// The number of rows up to the end of the batch. `begin` is the number before the batch. None
    /// if the column begins inside a row.
    fn rows(&self, begin: usize, lists: bool) -> Option<usize> {
        if !lists {
            return begin.checked_add(self.levels);
        }
        let starts = self.repetition.iter().filter(|&&level| level == 0).count();
        let orphan = begin == 0 && self.repetition.first().is_some_and(|&level| level != 0);
        if orphan { None } else { begin.checked_add(starts) }
    }

    /// The row of a value, counted in the row group. Consecutive calls ask for values close to each
    /// other, so the search starts where the last one ended and goes in either direction.
    fn row(&self, value: usize, begin: usize, max: i16) -> usize {
        if max == 0 {
            return begin + value;
        }
        let is_value = |level: usize| self.definition[level] == max;
        // Without lists every level begins a row.
        let begins = |level: usize| self.repetition.get(level).is_none_or(|&level| level == 0);
        let Place { mut level, mut values, mut rows } = self.last.get();
        while values <= value && level < self.definition.len() {
            values += usize::from(is_value(level));
            rows += usize::from(begins(level));
            level += 1;
        }
        while values > value + 1 || level > 0 && !is_value(level - 1) {
            level -= 1;
            values -= usize::from(is_value(level));
            rows -= usize::from(begins(level));
        }
        self.last.set(Place { level, values, rows });
        // The current row is the last one that has begun.
        (begin + rows).saturating_sub(1)
    }
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}
