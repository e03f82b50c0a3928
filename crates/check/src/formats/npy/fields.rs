//! The fields of structured arrays, each as the column of a table.

use std::io::{self, Read};
use std::ops::Range;

use super::dtype::Field;
use crate::model::{Column, Data, Decode, Run, See, ShowError};

/// Bytes of numbers that are shown at a time. Also bytes of records that are decoded at a time.
const CHUNK: usize = 64 << 10;
/// The most bytes of records in a part, if the records are not decoded.
const PART: usize = 4 << 20;
/// The longest record in decoded data. A record has to be in memory as a whole.
pub(super) const MAX_RECORD: usize = 1 << 20;

/// Where the data of an array is.
pub(crate) enum Place {
    /// In the input, in this range.
    Stored(Range<usize>),
    /// A decoder gives the data. The function makes a decoder for each field.
    Decoded(Box<dyn Fn() -> Box<dyn Decode>>),
}

/// The numbers of a field.
pub(super) struct Numbers {
    field: Field,
    /// Bytes of a number.
    size: usize,
    /// Bytes of a record.
    record: usize,
    records: usize,
    data: Records,
}

/// The product. It does not overflow: readers have checked the product of nonzero extents, and a
/// zero is handled before the others are multiplied.
pub(super) fn product(extents: impl Iterator<Item = usize> + Clone) -> usize {
    if extents.clone().any(|extent| extent == 0) { 0 } else { extents.product() }
}

/// Where the records are.
enum Records {
    Stored(Range<usize>),
    Decoded(Box<dyn Decode>),
}

impl Numbers {
    /// The numbers of a field, of `size` bytes each, in `records` records of `record` bytes.
    pub(super) fn data(
        field: Field,
        size: usize,
        (record, records): (usize, usize),
        place: &Place,
    ) -> Data {
        let data = match place {
            Place::Stored(range) => Records::Stored(range.clone()),
            Place::Decoded(decode) => Records::Decoded(decode()),
        };
        Data::Column(Box::new(Self { field, size, record, records, data }))
    }

    /// Bytes of the field in a record.
    fn width(&self) -> usize {
        let extents = self.field.axes.iter().map(|&(extent, _)| extent);
        product(extents.chain([self.field.size]))
    }

    /// Records of a part.
    fn step(&self) -> usize {
        match self.data {
            Records::Stored(_) => (PART / self.record).max(1),
            Records::Decoded(_) => self.records.max(1),
        }
    }

    /// Shows the numbers in whole records. `first` is the number of records before them.
    fn records(&self, records: &[u8], first: usize, see: &mut See<'_>) -> Result<(), ShowError> {
        let mut shown = Shown { buffer: Vec::new(), size: self.size, next: 0, see };
        shown.next = first * (self.width() / self.size);
        // Adjacent elements are copied together.
        let (mut axes, mut run) = (&self.field.axes[..], self.field.size);
        while let Some((&(extent, stride), rest)) = axes.split_last()
            && stride == run
        {
            (axes, run) = (rest, run * extent);
        }
        for record in records.chunks_exact(self.record) {
            shown.field(&record[self.field.offset..], axes, run)?;
        }
        shown.flush()
    }
}

/// Collects numbers in a buffer and shows them.
struct Shown<'a, 'see> {
    buffer: Vec<u8>,
    /// Bytes of a number.
    size: usize,
    /// The index, in the array, of the first number of the buffer.
    next: usize,
    see: &'a mut See<'see>,
}

impl Shown<'_, '_> {
    /// Adds runs of `run` bytes, in the order of the axes. Recursion is at most 64 deep, since
    /// there are at most 64 axes.
    fn field(
        &mut self,
        bytes: &[u8],
        axes: &[(usize, usize)],
        run: usize,
    ) -> Result<(), ShowError> {
        let Some((&(extent, stride), rest)) = axes.split_first() else {
            for piece in bytes[..run].chunks(CHUNK) {
                if self.buffer.len() + piece.len() > CHUNK {
                    self.flush()?;
                }
                self.buffer.extend_from_slice(piece);
            }
            return Ok(());
        };
        (0..extent).try_for_each(|index| self.field(&bytes[index * stride..], rest, run))
    }

    fn flush(&mut self) -> Result<(), ShowError> {
        let first = self.next;
        let place = |index| first + index;
        let run = Run { numbers: &self.buffer, place: &place, valid: None };
        (self.see)(run).map_err(ShowError::Seen)?;
        self.next += self.buffer.len() / self.size;
        self.buffer.clear();
        Ok(())
    }
}

impl Column for Numbers {
    fn parts(&self) -> Vec<usize> {
        let width = self.width();
        if width == 0 {
            return Vec::new();
        }
        let step = self.step();
        let starts = (0..self.records).step_by(step);
        starts.map(|start| step.min(self.records - start) * width).collect()
    }

    fn decoded(&self) -> usize {
        match &self.data {
            Records::Stored(_) => 0,
            Records::Decoded(decode) => decode.length(),
        }
    }

    fn show(
        &self,
        input: &[u8],
        part: usize,
        _finite: bool,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        match &self.data {
            Records::Stored(range) => {
                let first = part * self.step();
                let end = self.records.min(first + self.step());
                let records = &input[range.clone()][first * self.record..end * self.record];
                self.records(records, first, see)
            }
            Records::Decoded(decode) => {
                let mut stream = decode.open(input)?;
                let step = (CHUNK / self.record).max(1);
                let mut buffer = vec![0; step.min(self.records) * self.record];
                for first in (0..self.records).step_by(step) {
                    let count = step.min(self.records - first);
                    let records = &mut buffer[..count * self.record];
                    stream.read_exact(records)?;
                    self.records(records, first, see)?;
                }
                // Decoders verify a checksum at their end.
                match stream.read(&mut [0])? {
                    0 => Ok(()),
                    _ => Err(io::Error::other("more data than its shape says").into()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    /// Zeros from a decoder.
    struct Zeros(usize);

    impl Decode for Zeros {
        fn length(&self) -> usize {
            self.0
        }

        fn open<'a>(&'a self, _: &'a [u8]) -> io::Result<Box<dyn Read + 'a>> {
            Ok(Box::new(io::repeat(0).take(self.0 as u64)))
        }
    }

    /// The field of 4 bytes at the beginning of records of this length.
    fn numbers(record: usize, records: usize, data: Records) -> Numbers {
        let field = Field {
            name: String::new(),
            dtype: String::new(),
            content: Content::NotFloat,
            size: 4,
            offset: 0,
            axes: Vec::new(),
        };
        Numbers { field, size: 4, record, records, data }
    }

    /// The lengths of the runs of a part, and the place of the first number of each.
    fn runs(numbers: &Numbers, input: &[u8], part: usize) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let shown = numbers.show(input, part, true, &mut |run| {
            runs.push((run.numbers.len(), (run.place)(0)));
            Ok(())
        });
        shown.expect("all is there");
        runs
    }

    /// Numbers are shown in runs of 64 KiB. Threads share records that are stored, in parts of
    /// about 4 MiB of them.
    #[test]
    fn runs_of_stored_records() {
        let (record, records) = (12, 1_000_000);
        let input = vec![0; record * records];
        let numbers = numbers(record, records, Records::Stored(0..input.len()));
        let part = PART / record;
        assert_eq!(numbers.parts(), [4 * part, 4 * part, 4 * (records - 2 * part)]);
        assert_eq!(numbers.decoded(), 0);
        let expected = |first: usize, count: usize| -> Vec<_> {
            let starts = (0..count).step_by(CHUNK / 4);
            starts.map(|at| (4 * (count - at).min(CHUNK / 4), first + at)).collect()
        };
        assert_eq!(runs(&numbers, &input, 0), expected(0, part));
        assert_eq!(runs(&numbers, &input, 2), expected(2 * part, records - 2 * part));
    }

    /// Records that are decoded are one part. No more than 64 KiB of them are in memory.
    #[test]
    fn runs_of_decoded_records() {
        let (record, records) = (12, 20_000);
        let numbers = numbers(record, records, Records::Decoded(Box::new(Zeros(record * records))));
        assert_eq!(numbers.parts(), [4 * records]);
        assert_eq!(numbers.decoded(), record * records);
        let step = CHUNK / record;
        let starts = (0..records).step_by(step);
        let expected: Vec<_> = starts.map(|at| (4 * step.min(records - at), at)).collect();
        assert_eq!(runs(&numbers, &[], 0), expected);
    }
}
