//! A column of floats, batch by batch.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::batch::Batch;
use super::compression::{Opened, load, open};
use super::dictionary::{self, Entries, Gathered};
use super::error::Error;
use super::levels::Levels;
use super::numbers::Numbers;
use super::schema::{self, Fields, Indices, Step};
use crate::model::{self, ByteOrder, Content, Data, Layout, Run, See, ShowError, Tensor};

/// The most bytes of a part, if the batch can be cut.
const PART: usize = 4 << 20;

/// A table: the fields, and batches of them.
pub(super) struct Table {
    pub(super) fields: Fields,
    pub(super) batches: Vec<Batch>,
    /// The batches of the dictionaries of floats, by their ids.
    pub(super) dictionaries: Arc<BTreeMap<i64, Vec<Batch>>>,
    pub(super) order: ByteOrder,
}

/// Rows of a batch that one thread looks at.
struct Part {
    batch: usize,
    /// The rows, counted from the first row of the batch.
    rows: Range<usize>,
    /// Bytes of the numbers in these rows, nulls included.
    bytes: usize,
}

struct Column {
    table: Arc<Table>,
    floats: Floats,
    parts: Vec<Part>,
}

/// The numbers of a column, and where each batch holds them.
pub(super) struct Floats {
    /// The nodes from the field down to the numbers.
    chain: Vec<usize>,
    /// Bytes of a number.
    size: usize,
    /// Numbers in a row, if all rows have the same count.
    per_row: Option<usize>,
    /// The indices, if the rows refer to a dictionary.
    dictionary: Option<Indices>,
}

/// The bytes that count for [`Options::expansion`](crate::Options::expansion): bytes that are
/// decompressed, and bytes that the file claims without holding them.
#[derive(Clone, Copy, Default)]
pub(super) struct Decoded {
    pub(super) numbers: u64,
    /// Bytes of validity bits, list offsets and dictionary indices.
    pub(super) levels: u64,
}

impl Decoded {
    pub(super) fn sum(self) -> u64 {
        self.numbers.saturating_add(self.levels)
    }
}

/// The tensor of a column of a table.
pub(super) fn of_table(table: &Arc<Table>, column: schema::Column) -> Result<Tensor, Error> {
    let rows = table.batches.last().map_or(0, Batch::end);
    tensor(column, rows, table.order, |floats| {
        let parts = floats.parts(table).ok_or_else(too_large)?;
        Ok(Box::new(Column { table: Arc::clone(table), floats, parts }))
    })
}

/// The tensor of a column of `rows` rows. `data` is called if the column has numbers to look at.
pub(super) fn tensor(
    column: schema::Column,
    rows: usize,
    order: ByteOrder,
    data: impl FnOnce(Floats) -> Result<Box<dyn model::Column>, Error>,
) -> Result<Tensor, Error> {
    let floats = Floats::of(&column, rows)?;
    let schema::Column { name, dtype, dimensions, content, .. } = column;
    let shape = [vec![rows], dimensions].concat();
    let (content, data) = match (content, floats) {
        (schema::Content::Floats(format), Some(floats)) => {
            (Content::Floats { format, parts: 1, order }, Data::Column(data(floats)?))
        }
        (schema::Content::Unreadable(why), _) => {
            (Content::Unreadable(why.into()), Data::Owned(Vec::new()))
        }
        (schema::Content::NotFloat, _) | (schema::Content::Floats(_), None) => {
            (Content::NotFloat, Data::Owned(Vec::new()))
        }
    };
    Ok(Tensor {
        name: Some(name),
        file: None,
        dtype,
        shape,
        layout: Layout::RowMajor,
        content,
        data,
    })
}

pub(super) fn too_large() -> Error {
    Error::Length("size of a column")
}

impl Floats {
    /// The numbers of a column of `rows` rows; none if the column has no floats.
    ///
    /// # Errors
    /// If the number of elements overflows.
    pub(super) fn of(column: &schema::Column, rows: usize) -> Result<Option<Self>, Error> {
        let dimensions = &column.dimensions;
        let per_row =
            dimensions.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let per_row = per_row.ok_or_else(too_large)?;
        // Checks the other dimensions too if a dimension is zero.
        rows.checked_mul(
            dimensions.iter().fold(1usize, |product, &size| product.saturating_mul(size.max(1))),
        )
        .filter(|&most| most <= isize::MAX as usize)
        .ok_or_else(too_large)?;
        let Some(format) = column.format() else { return Ok(None) };
        let per_row = (!column.ragged).then_some(per_row);
        Ok(Some(Self {
            chain: column.chain.clone(),
            size: format.size_in_bytes(),
            per_row,
            dictionary: column.dictionary,
        }))
    }

    /// The indices, if the rows refer to a dictionary.
    pub(super) fn dictionary(&self) -> Option<i64> {
        self.dictionary.map(|indices| indices.id)
    }

    /// The nodes from the field down to the numbers.
    pub(super) fn chain(&self) -> &[usize] {
        &self.chain
    }

    /// Bytes of the numbers in a batch, nulls included; none if the count overflows. A batch with 0
    /// bytes has nothing to show.
    pub(super) fn bytes(&self, batch: &Batch) -> Option<usize> {
        let numbers = match self.per_row {
            Some(per_row) => batch.rows.checked_mul(per_row)?,
            None if batch.rows == 0 => 0,
            None => batch.nodes[*self.chain.last()?].length,
        };
        numbers.checked_mul(self.size)
    }

    /// Bytes of a batch that are decompressed, or claimed without being there: the numbers, and the
    /// validity bits, offsets and indices. Zero if the numbers lie in the file uncompressed and are
    /// at least as long as the rest. (Columns can share the rest, so a batch must not claim much of
    /// it for few numbers.)
    pub(super) fn decoded(&self, fields: &Fields, batch: &Batch) -> Decoded {
        let numbers = self.bytes(batch).unwrap_or(usize::MAX);
        let mut levels = self.levels(fields, batch);
        if let Some(Indices { size, .. }) = self.dictionary {
            levels = levels.saturating_add((numbers / self.size).saturating_mul(size));
        }
        if self.dictionary.is_none() && numbers >= levels && self.are_there(batch, numbers) {
            Decoded::default()
        } else {
            Decoded { numbers: numbers as u64, levels: levels as u64 }
        }
    }

    /// Bytes of the validity bits and the list offsets in a batch.
    fn levels(&self, fields: &Fields, batch: &Batch) -> usize {
        let levels = self.chain.iter().map(|&node| {
            let data = &batch.nodes[node];
            let offset = match fields.nodes[node].step {
                Step::List { wide: true } => 8,
                Step::List { wide: false } => 4,
                Step::Same | Step::Fixed(_) | Step::Other => 0,
            };
            data.length.saturating_mul(offset).saturating_add(if data.nulls {
                data.length / 8
            } else {
                0
            })
        });
        levels.fold(0, usize::saturating_add)
    }

    /// Whether a batch holds `bytes` bytes of numbers uncompressed, or else their indices.
    fn are_there(&self, batch: &Batch, bytes: usize) -> bool {
        let stored = bytes / self.size * self.stored();
        let there = |&leaf| batch.codec.is_none() && batch.buffer(leaf, 1).len() >= stored;
        self.chain.last().is_some_and(there)
    }

    /// Bytes that a batch stores for a number: the number or its index.
    fn stored(&self) -> usize {
        self.dictionary.map_or(self.size, |indices| indices.size)
    }

    /// The parts of all batches. Batches are cut if their numbers lie in the file uncompressed.
    /// None if the total length overflows.
    fn parts(&self, table: &Table) -> Option<Vec<Part>> {
        let (mut parts, mut total) = (Vec::new(), 0usize);
        for (index, batch) in table.batches.iter().enumerate() {
            let bytes = self.bytes(batch)?;
            total = total.checked_add(bytes).filter(|&total| total <= isize::MAX as usize)?;
            // A batch is cut only if its buffer is long enough, so a false claim makes no parts.
            let there = self.are_there(batch, bytes);
            let step = match self.per_row {
                Some(per_row) if there => (PART / (per_row * self.size).max(1)).max(1),
                _ => batch.rows,
            };
            if bytes == 0 {
                continue;
            }
            let starts = (0..batch.rows).step_by(step);
            parts.extend(starts.map(|start| {
                let rows = start..batch.rows.min(start.saturating_add(step));
                let bytes = self.per_row.map_or(bytes, |per_row| rows.len() * per_row * self.size);
                Part { batch: index, rows, bytes }
            }));
        }
        Some(parts)
    }

    /// Shows the numbers of these rows, with validity bits if some are null. `entries` are the
    /// entries of the dictionary, if there is one.
    pub(super) fn show(
        &self,
        (batch, order): (&Batch, ByteOrder),
        rows: Range<usize>,
        levels: &Levels<'_>,
        entries: &Entries<'_>,
        numbers: Opened<'_>,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        let elements = levels.cover(rows);
        // A batch that holds only nulls may leave out its buffers.
        if elements.is_empty() {
            return Ok(());
        }
        let mut gathered = Gathered::default();
        Numbers::new(numbers, self.stored()).show(elements, &mut |stored, first| {
            let Some(indices) = self.dictionary else {
                return self.run(batch, (levels, first), stored, None, see);
            };
            if stored.is_empty() {
                return self.run(batch, (levels, first), stored, None, see);
            }
            let runs = stored.chunks(dictionary::ROWS * indices.size);
            for (run, first) in runs.zip((first..).step_by(dictionary::ROWS)) {
                let entries = (entries, self.size);
                gathered.gather((indices, order), run, entries, (levels, first))?;
                self.run(batch, (levels, first), &gathered.numbers, Some(&gathered), see)?;
            }
            Ok(())
        })
    }

    /// Shows consecutive numbers. `first` is the index of the first one in the leaf.
    fn run(
        &self,
        batch: &Batch,
        (levels, first): (&Levels<'_>, usize),
        numbers: &[u8],
        gathered: Option<&Gathered>,
        see: &mut See<'_>,
    ) -> Result<(), model::Error> {
        let place = |index| match self.per_row {
            Some(per_row) => batch.first * per_row + first + index,
            None => batch.first + levels.row_of(first + index),
        };
        let valid = |run: Range<usize>, bits: &mut [u64]| {
            levels.valid(first + run.start..first + run.end, bits);
            if let Some(gathered) = gathered {
                gathered.clear_nulls(run, bits);
            }
        };
        let has_nulls = levels.has_nulls() || gathered.is_some_and(Gathered::has_nulls);
        see(Run { numbers, place: &place, valid: if has_nulls { Some(&valid) } else { None } })
    }
}

impl model::Column for Column {
    fn parts(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.bytes).collect()
    }

    fn decoded(&self) -> usize {
        let Table { fields, batches, .. } = &*self.table;
        let decoded = batches.iter().map(|batch| {
            let floats = self.floats.decoded(fields, batch).sum();
            floats.saturating_add(dictionary::bytes(self.entries(batch), self.floats.size))
        });
        usize::try_from(decoded.fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
    }

    fn show(&self, input: &[u8], part: usize, see: &mut See<'_>) -> Result<(), ShowError> {
        let Part { batch, rows, .. } = &self.parts[part];
        let (Table { fields, order, .. }, batch) = (&*self.table, &self.table.batches[*batch]);
        let Some(&leaf) = self.floats.chain.last() else { return Ok(()) };
        let mut levels = Levels::default();
        levels.load(fields, *order, batch, &self.floats.chain, &mut |range, length, left| {
            Ok(load(open(&input[range], batch.codec)?, length, left)?)
        })?;
        let entries = Entries::load(self.entries(batch), self.floats.size, input)?;
        let numbers = open(&input[batch.buffer(leaf, 1)], batch.codec)?;
        self.floats.show((batch, *order), rows.clone(), &levels, &entries, numbers, see)
    }
}

impl Column {
    /// The batches of the dictionary that the rows of a batch refer to.
    fn entries(&self, batch: &Batch) -> &[Batch] {
        let entries = || {
            let id = self.floats.dictionary()?;
            let versions = batch.dictionaries.get(&id)?;
            self.table.dictionaries.get(&id)?.get(versions.clone())
        };
        entries().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::compression::Codec;
    use super::super::schema::{Buffers, Node};
    use super::*;

    /// The bytes of numbers and of levels that count as decoded, for a column of these nodes.
    fn decoded((steps, size): (&[Step], usize), index: Option<usize>, batch: &Batch) -> (u64, u64) {
        let node = |&step| Node { parent: None, buffers: Buffers::Count(2), step };
        let fields = Fields { nodes: steps.iter().map(node).collect(), ..Fields::default() };
        let dictionary = index.map(|size| Indices { id: 0, size, is_signed: false });
        let is_list = steps.len() > 1;
        let per_row = if is_list { None } else { Some(1) };
        let chain = (0..steps.len()).collect();
        let Decoded { numbers, levels } =
            Floats { chain, size, per_row, dictionary }.decoded(&fields, batch);
        (numbers, levels)
    }

    /// Threads share a batch if its numbers lie in the file: in parts of 4 MiB, of whole rows.
    #[test]
    fn parts_of_batches() {
        let count = 1_300_000;
        let parts = |per_row: Option<usize>, buffer| {
            let rows = count / per_row.unwrap_or(1);
            let batches = [(0, 0), (0, rows)].map(|(first, rows)| {
                let elements = rows * per_row.unwrap_or(1);
                Batch::with_nodes((first, rows), &[(elements, false)], buffer)
            });
            let table = Table {
                fields: Fields::default(),
                batches: batches.into(),
                dictionaries: Arc::default(),
                order: ByteOrder::Little,
            };
            let floats = Floats { chain: vec![0], size: 8, per_row, dictionary: None };
            let parts = floats.parts(&table).expect("no overflow");
            assert!(parts.iter().all(|part| part.batch == 1));
            parts.into_iter().map(|part| (part.rows, part.bytes)).collect::<Vec<_>>()
        };
        let part = 4 << 20;
        let rest = 8 * count - 2 * part;
        let cut = [(0..1 << 19, part), (1 << 19..1 << 20, part), (1 << 20..count, rest)];
        assert_eq!(parts(Some(1), 8 * count), cut);
        let row = 13 * 8;
        let rows = part / row;
        let cut = [
            (0..rows, rows * row),
            (rows..2 * rows, rows * row),
            (2 * rows..count / 13, 8 * count - 2 * rows * row),
        ];
        assert_eq!(parts(Some(13), 8 * count), cut);
        // Numbers that are not there, and rows of any length.
        assert_eq!(parts(Some(1), 8 * count - 1), [(0..count, 8 * count)]);
        assert_eq!(parts(None, 8 * count), [(0..count, 8 * count)]);
    }

    /// What the file holds as it is does not count, unless little of it stands for much.
    #[test]
    fn what_counts_as_decoded() {
        let plain = (&[Step::Same][..], 4);
        let batch = |nulls, buffer| Batch::with_nodes((0, 100), &[(100, nulls)], buffer);
        assert_eq!(decoded(plain, None, &batch(true, 400)), (0, 0));
        // A buffer that is too short, and one that is compressed.
        assert_eq!(decoded(plain, None, &batch(true, 399)), (400, 12));
        let mut packed = batch(false, 400);
        packed.codec = Some(Codec::Lz4);
        assert_eq!(decoded(plain, None, &packed), (400, 0));
        // An index of a byte stands for 4 bytes. Indices count as well.
        assert_eq!(decoded(plain, Some(1), &batch(false, 100)), (400, 100));
        // Many lists of few numbers, and few lists of many.
        let lists = |lists, numbers| {
            Batch::with_nodes((0, lists), &[(lists, false), (numbers, false)], 4000)
        };
        for (wide, offsets) in [(false, 4000), (true, 8000)] {
            let column = (&[Step::List { wide }, Step::Same][..], 4);
            assert_eq!(decoded(column, None, &lists(1000, 3)), (12, offsets));
            assert_eq!(decoded(column, None, &lists(10, 1000)), (0, 0));
        }
    }
}
