//! Dictionaries of floats: their entries, and the numbers of the rows that refer to them.

use std::borrow::Cow;
use std::ops::Range;

use super::batch::Batch;
use super::compression::{MAX_IN_MEMORY, load, open};
use super::error::Error;
use super::levels::Levels;
use super::schema::Indices;
use crate::model::{ByteOrder, ShowError};

/// Rows whose numbers are gathered at a time.
pub(super) const ROWS: usize = 8 << 10;

/// The entries of a dictionary, batch by batch.
#[derive(Default)]
pub(super) struct Entries<'a> {
    segments: Vec<Segment<'a>>,
    length: usize,
    in_memory: usize,
}

/// The entries of one batch of the dictionary.
struct Segment<'a> {
    /// The index of the first entry.
    first: usize,
    values: Cow<'a, [u8]>,
    /// A bit for each entry: 0 if it is null. None if no entry is null.
    valid: Option<Cow<'a, [u8]>>,
}

impl<'a> Entries<'a> {
    /// The entries of these batches, of `size` bytes each.
    pub(super) fn load(batches: &[Batch], size: usize, input: &'a [u8]) -> Result<Self, ShowError> {
        let mut entries = Self::default();
        for batch in batches {
            entries.add(batch, size, MAX_IN_MEMORY, &mut |range, length, left| {
                Ok(load(open(&input[range], batch.codec)?, length, left)?)
            })?;
        }
        Ok(entries)
    }

    /// Adds the entries of a batch. `load` takes the range of a buffer, the number of bytes to read
    /// and the most bytes that may go into memory. `most` is the limit for all entries together.
    pub(super) fn add(
        &mut self,
        batch: &Batch,
        size: usize,
        most: usize,
        load: &mut dyn FnMut(Range<usize>, usize, usize) -> Result<Cow<'a, [u8]>, ShowError>,
    ) -> Result<(), ShowError> {
        let seen = |error: Error| ShowError::Seen(error.into());
        // A dictionary of floats has one node.
        let Some(node) = batch.nodes.first() else { return Ok(()) };
        let too_long = || seen(Error::Length("length of a dictionary"));
        let end = self.length.checked_add(batch.rows).ok_or_else(too_long)?;
        let bytes = batch.rows.checked_mul(size).ok_or_else(too_long)?;
        let mut hold = |index: usize, length: usize| {
            let buffer = load(batch.buffer(0, index), length, most.saturating_sub(self.in_memory))?;
            if let Cow::Owned(bytes) = &buffer {
                self.in_memory += bytes.len();
            }
            Ok::<_, ShowError>(buffer)
        };
        let valid = if node.nulls { Some(hold(0, batch.rows.div_ceil(8))?) } else { None };
        let values = hold(1, bytes)?;
        self.segments.push(Segment { first: self.length, values, valid });
        self.length = end;
        Ok(())
    }

    /// Bytes of the entries in memory, as opposed to bytes in the mapped file.
    pub(super) fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// The entry at an index: `None` if there is no such entry, `Some(None)` if the entry is null.
    fn get(&self, index: usize, size: usize) -> Option<Option<&[u8]>> {
        if index >= self.length {
            return None;
        }
        // An empty batch has the same first index as the next one, so take the last of them.
        let behind = self.segments.partition_point(|segment| segment.first <= index);
        let Segment { first, values, valid } = &self.segments[behind.checked_sub(1)?];
        let at = index - first;
        let is_valid = valid.as_ref().is_none_or(|bits| bits[at / 8] >> (at % 8) & 1 == 1);
        Some(is_valid.then(|| &values[at * size..(at + 1) * size]))
    }
}

/// The decoded bytes that the entries of these batches count as, at `size` bytes each. All entries
/// are opened again for each batch of rows.
pub(super) fn bytes(batches: &[Batch], size: usize) -> u64 {
    /// Counted for each batch, since opening even an empty one takes time.
    const OPENED: u64 = 64;
    let (Some(first), Some(last)) = (batches.first(), batches.last()) else { return 0 };
    let entries = (last.end() - first.first) as u64;
    entries.saturating_mul(size as u64).saturating_add(OPENED * batches.len() as u64)
}

/// The numbers of some rows, gathered from a dictionary.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) numbers: Vec<u8>,
    /// The indices of the numbers whose entry is null, in rising order.
    nulls: Vec<usize>,
}

impl Gathered {
    /// Gathers the numbers of these indices. The first index belongs to element `first` of the
    /// leaf. Numbers have `size` bytes.
    ///
    /// # Errors
    /// [`Error::Index`] for an index outside the dictionary, unless the element is null.
    pub(super) fn gather(
        &mut self,
        (indices, order): (Indices, ByteOrder),
        bytes: &[u8],
        (entries, size): (&Entries<'_>, usize),
        (levels, first): (&Levels<'_>, usize),
    ) -> Result<(), Error> {
        self.numbers.clear();
        self.nulls.clear();
        for (place, index) in bytes.chunks_exact(indices.size).enumerate() {
            match entries.get(indices.value(index, order), size) {
                Some(Some(number)) => self.numbers.extend_from_slice(number),
                entry => {
                    let row = first + place;
                    if entry.is_none() && levels.is_valid(row) {
                        return Err(Error::Index);
                    }
                    self.nulls.push(place);
                    self.numbers.resize(self.numbers.len() + size, 0);
                }
            }
        }
        Ok(())
    }

    pub(super) fn has_nulls(&self) -> bool {
        !self.nulls.is_empty()
    }

    /// Clears the bits of the null entries in a run.
    pub(super) fn clear_nulls(&self, run: Range<usize>, bits: &mut [u64]) {
        let from = self.nulls.partition_point(|&place| place < run.start);
        for place in self.nulls[from..].iter().take_while(|&&place| place < run.end) {
            let bit = place - run.start;
            bits[bit / 64] &= !(1 << (bit % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_work_are_counted() {
        let batches = [(5, 16), (21, 8)]
            .map(|(first, rows)| Batch::with_nodes((first, rows), &[(rows, true)], 0));
        let (mut entries, mut rooms) = (Entries::default(), Vec::new());
        for batch in &batches {
            let mut load = |_, length, left| {
                rooms.push(left);
                Ok(Cow::Owned(vec![0xFF; length]))
            };
            assert!(entries.add(batch, 4, 100, &mut load).is_ok());
        }
        // Validity bits and numbers: 2 and 64 bytes, then 1 and 32.
        assert_eq!((rooms, entries.in_memory()), (vec![100, 98, 34, 33], 99));
        // Bytes that lie in the file take no memory.
        let bytes = [0; 32];
        let mut load = |_, length: usize, _| Ok(Cow::Borrowed(&bytes[..length]));
        assert!(entries.add(&batches[1], 4, 100, &mut load).is_ok());
        assert_eq!(entries.in_memory(), 99);
        assert_eq!(self::bytes(&batches, 4), 24 * 4 + 2 * 64);
        assert_eq!(self::bytes(&[], 4), 0);
    }

    #[test]
    fn null_entries_of_a_run() {
        let gathered = Gathered { numbers: Vec::new(), nulls: vec![0, 63, 64, 70, 128] };
        let mut bits = [u64::MAX];
        gathered.clear_nulls(64..128, &mut bits);
        assert_eq!(bits, [!(1 | 1 << 6)]);
    }
}
