//! Which elements of a leaf belong to which rows, and which elements are null or lie under a null.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::batch::Batch;
use super::compression::MAX_IN_MEMORY;
use super::schema::{Fields, Step};
use crate::model::{ByteOrder, ShowError};

/// The nodes of a batch from a field down to its numbers.
#[derive(Default)]
pub(super) struct Levels<'a>(Vec<Level<'a>>);

/// Loads a buffer of a node. Takes its range, the number of bytes to load, and the most bytes that
/// may go into memory.
pub(super) type LoadBuffer<'a, 'f> =
    dyn FnMut(Range<usize>, usize, usize) -> Result<Cow<'a, [u8]>, ShowError> + 'f;

/// A node of the chain.
struct Level<'a> {
    node: usize,
    step: Step,
    length: usize,
    /// A bit for each element: 0 if it is null. None if no element is null.
    valid: Option<Cow<'a, [u8]>>,
    offsets: Offsets<'a>,
}

impl<'a> Levels<'a> {
    /// Loads the levels of a chain of nodes. All calls are for the same batch. Levels that the last
    /// chain shares with this one are kept, and the others are dropped. Buffers are loaded in the
    /// order of their places in the batch.
    pub(super) fn load(
        &mut self,
        fields: &Fields,
        order: ByteOrder,
        batch: &Batch,
        chain: &[usize],
        load: &mut LoadBuffer<'a, '_>,
    ) -> Result<(), ShowError> {
        let shared =
            self.0.iter().zip(chain).take_while(|(level, node)| level.node == **node).count();
        self.0.truncate(shared);
        let mut left = self.0.iter().fold(MAX_IN_MEMORY, |left, level| left - level.in_memory());
        for &node in &chain[shared..] {
            let level = Level::load(batch, node, fields.nodes[node].step, order, left, load)?;
            left -= level.in_memory();
            self.0.push(level);
        }
        Ok(())
    }

    /// Whether some of the elements are null.
    pub(super) fn has_nulls(&self) -> bool {
        self.0.iter().any(|level| level.valid.is_some())
    }

    /// The range of elements of the leaf that covers these rows. Without nulls, every element of
    /// the range belongs to the rows.
    pub(super) fn cover(&self, rows: Range<usize>) -> Range<usize> {
        let Some((leaf, above)) = self.0.split_last() else { return 0..0 };
        let elements = above.iter().fold(rows, |elements, level| level.down(level.trim(elements)));
        leaf.trim(elements)
    }

    /// The row of an element of the leaf.
    pub(super) fn row_of(&self, element: usize) -> usize {
        self.0.iter().rev().skip(1).fold(element, |element, level| level.parent_of(element))
    }

    /// Sets a bit for each of these elements of the leaf that is valid: neither null nor under a
    /// null. The first element has the first bit. All bits must be 0 before.
    pub(super) fn valid(&self, elements: Range<usize>, bits: &mut [u64]) {
        if elements.is_empty() {
            return;
        }
        // The elements of each level that hold these elements of the leaf, from the leaf up. The
        // rest of a level is not read, so a long level costs no time.
        let mut within = Vec::with_capacity(self.0.len());
        let (mut first, mut last) = (elements.start, elements.end - 1);
        for level in self.0.iter().rev() {
            (first, last) = (level.parent_of(first), level.parent_of(last));
            within.push(first..last.saturating_add(1));
        }
        let whole = 0..usize::MAX;
        mark(&self.0, &within, whole, &mut |valid, run| {
            let at = run.start - elements.start;
            match valid {
                Some(valid) => copy(valid, run, bits, at),
                None => fill(bits, at..at + run.len()),
            }
        });
    }
}

impl Levels<'_> {
    /// Whether an element of the leaf is valid: neither null nor under a null.
    pub(super) fn is_valid(&self, element: usize) -> bool {
        let mut bits = [0];
        self.valid(element..element + 1, &mut bits);
        bits[0] & 1 == 1
    }
}

/// Receives a run of elements of the leaf, with the validity bits of the leaf if it has nulls.
type OfRun<'a> = dyn FnMut(Option<&[u8]>, Range<usize>) + 'a;

/// Finds the elements of the last level that belong to `elements` of the first level and lie under
/// no null, and calls `of_run` with each run of them. `within` bounds the elements of each level,
/// and begins with the bounds of the last level.
fn mark(
    levels: &[Level<'_>],
    within: &[Range<usize>],
    elements: Range<usize>,
    of_run: &mut OfRun<'_>,
) {
    let (Some((level, below)), Some((bounds, within))) =
        (levels.split_first(), within.split_last())
    else {
        return;
    };
    let end = elements.end.min(bounds.end).min(level.length);
    let elements = elements.start.max(bounds.start)..end;
    if elements.is_empty() {
        return;
    }
    if below.is_empty() {
        return of_run(level.valid.as_deref(), elements);
    }
    let Some(valid) = &level.valid else {
        return mark(below, within, level.down(elements), of_run);
    };
    let mut at = elements.start;
    loop {
        let start = find(valid, at..end, true);
        if start == end {
            return;
        }
        at = find(valid, start..end, false);
        mark(below, within, level.down(start..at), of_run);
    }
}

impl<'a> Level<'a> {
    fn load(
        batch: &Batch,
        node: usize,
        step: Step,
        order: ByteOrder,
        left: usize,
        load: &mut LoadBuffer<'a, '_>,
    ) -> Result<Self, ShowError> {
        let data = &batch.nodes[node];
        let valid = match data.nulls {
            true => Some(load(batch.buffer(node, 0), data.length.div_ceil(8), left)?),
            false => None,
        };
        let left = left - in_memory(&valid);
        let mut offsets = Offsets { bytes: Cow::Borrowed(&[]), wide: false, order };
        if let Step::List { wide } = step {
            offsets.wide = wide;
            // Without lists, even the first offset may be missing.
            if data.length > 0 {
                let count =
                    data.length.checked_add(1).and_then(|count| count.checked_mul(offsets.size()));
                let length = count.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
                offsets.bytes = load(batch.buffer(node, 1), length, left)?;
                let child = batch.nodes[node + 1].length;
                offsets.verify(data.length, child)?;
            }
        }
        Ok(Self { node, step, length: data.length, valid, offsets })
    }

    /// Bytes of the level in memory, as opposed to bytes in the mapped file.
    fn in_memory(&self) -> usize {
        in_memory(self.valid.iter().chain([&self.offsets.bytes]))
    }

    /// The element of this level that the element `child` of the next level belongs to.
    fn parent_of(&self, child: usize) -> usize {
        match self.step {
            Step::Same | Step::Other => child,
            Step::Fixed(size) => child / size.max(1),
            Step::List { .. } => self.offsets.list_of(child, self.length),
        }
    }

    /// The elements of the next level that belong to these elements of this level.
    fn down(&self, elements: Range<usize>) -> Range<usize> {
        match self.step {
            _ if elements.is_empty() => 0..0,
            Step::Same | Step::Other => elements,
            Step::Fixed(size) => elements.start * size..elements.end * size,
            // The offsets were verified, but another process may write to the mapped file.
            Step::List { .. } => {
                let start = self.offsets.get(elements.start);
                start..self.offsets.get(elements.end).max(start)
            }
        }
    }

    /// The elements without the nulls at both ends. Also cuts them to the length of the level, in
    /// case another process has changed the offsets in the mapped file.
    fn trim(&self, elements: Range<usize>) -> Range<usize> {
        let end = elements.end.min(self.length);
        let elements = elements.start.min(end)..end;
        let Some(valid) = &self.valid else { return elements };
        let start = find(valid, elements, true);
        start..last(valid, start..end)
    }
}

/// Bytes of the buffers in memory, as opposed to bytes in the mapped file.
fn in_memory<'a>(buffers: impl IntoIterator<Item = &'a Cow<'a, [u8]>>) -> usize {
    let owned = buffers.into_iter().filter(|buffer| matches!(buffer, Cow::Owned(_)));
    owned.map(|buffer| buffer.len()).sum()
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

    /// The offset at an index. A negative offset becomes `usize::MAX`, which exceeds every length.
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

    /// Checks that the offsets rise and do not exceed the length of the child.
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

    /// The list that holds an element: the last list that begins at or before it.
    fn list_of(&self, element: usize, lists: usize) -> usize {
        let (mut low, mut high) = (0, lists);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.get(middle) <= element { low = middle } else { high = middle }
        }
        low
    }
}

/// The place of the first bit with this value, or the end.
fn find(bits: &[u8], range: Range<usize>, value: bool) -> usize {
    let mut at = range.start;
    while at < range.end {
        // The bits with the value, from `at` to the end of its byte.
        let byte = (if value { bits[at / 8] } else { !bits[at / 8] }) >> (at % 8);
        if byte != 0 {
            return range.end.min(at + byte.trailing_zeros() as usize);
        }
        at = (at / 8 + 1) * 8;
    }
    range.end
}

/// The place behind the last bit that is 1, or the start.
fn last(bits: &[u8], range: Range<usize>) -> usize {
    let mut end = range.end;
    while end > range.start {
        // The bits from the start of a byte to `end`.
        let byte = bits[(end - 1) / 8] << (7 - (end - 1) % 8);
        if byte != 0 {
            return range.start.max(end - byte.leading_zeros() as usize);
        }
        end = (end - 1) / 8 * 8;
    }
    range.start
}

/// 64 bits, from a bit on. Bits behind the end are 0.
fn word(bits: &[u8], at: usize) -> u64 {
    let rest = &bits[(at / 8).min(bits.len())..];
    let mut bytes = [0; 16];
    let count = rest.len().min(9);
    bytes[..count].copy_from_slice(&rest[..count]);
    (u128::from_le_bytes(bytes) >> (at % 8)) as u64
}

/// Adds bits of bytes to words, from bit `at` on.
fn copy(from: &[u8], range: Range<usize>, to: &mut [u64], at: usize) {
    for done in (0..range.len()).step_by(64) {
        let count = (range.len() - done).min(64);
        put(word(from, range.start + done), count, to, at + done);
    }
}

fn fill(to: &mut [u64], range: Range<usize>) {
    for at in range.clone().step_by(64) {
        put(u64::MAX, (range.end - at).min(64), to, at);
    }
}

/// Adds the lowest `count` bits of a word, at most 64.
fn put(word: u64, count: usize, to: &mut [u64], at: usize) {
    let word = if count < 64 { word & ((1 << count) - 1) } else { word };
    let (index, shift) = (at / 64, at % 64);
    to[index] |= word << shift;
    if shift + count > 64 {
        to[index + 1] |= word >> (64 - shift);
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Buffers, Node};
    use super::*;

    /// What is in memory counts, for all levels together. Levels that two chains share stay there.
    #[test]
    fn memory_is_counted() {
        let node = |parent, step| Node { parent, buffers: Buffers::Count(2), step };
        let nodes = vec![
            node(None, Step::List { wide: false }),
            node(Some(0), Step::Same),
            node(Some(0), Step::Same),
        ];
        let fields = Fields { nodes, ..Fields::default() };
        let batch = Batch::with_nodes((0, 2), &[(2, true), (17, true), (17, true)], 0);
        let mut levels = Levels::default();
        let mut rooms = |chain: &[usize]| {
            let mut rooms = Vec::new();
            let mut load = |_, length, left| {
                rooms.push(MAX_IN_MEMORY - left);
                // Validity bits, and offsets of two lists.
                Ok(Cow::Owned(vec![0; length]))
            };
            let order = ByteOrder::Little;
            assert!(levels.load(&fields, order, &batch, chain, &mut load).is_ok());
            rooms
        };
        // A byte of bits and 12 of offsets, then 3 bytes of bits.
        assert_eq!(rooms(&[0, 1]), [0, 1, 13]);
        assert_eq!(rooms(&[0, 2]), [13]);
        assert_eq!(levels.0.iter().map(Level::in_memory).collect::<Vec<_>>(), [13, 3]);
    }

    #[test]
    fn bits_are_found() {
        let bits = [0, 1, 0b0100_1000, 0, 0b1000_0001, 0, 0];
        let ones = [8, 19, 22, 32, 39];
        for (start, end) in (0..56).flat_map(|start| (start..=56).map(move |end| (start, end))) {
            let within = || ones.into_iter().filter(|bit| (start..end).contains(bit));
            assert_eq!(
                find(&bits, start..end, true),
                within().min().unwrap_or(end),
                "{start}..{end}"
            );
            assert_eq!(
                last(&bits, start..end),
                within().max().map_or(start, |bit| bit + 1),
                "{start}..{end}"
            );
        }
    }

    /// Every start, length and destination, compared with a loop over single bits.
    #[test]
    fn bits_are_copied() {
        let from: Vec<u8> = (0..40u8).map(|byte| byte.wrapping_mul(151) ^ 0x5A).collect();
        let is_set = |bits: &[u8], at: usize| bits[at / 8] >> (at % 8) & 1 == 1;
        for (start, length, at) in (0..70).flat_map(|start| {
            [0, 1, 7, 63, 64, 65, 129, 200].map(|length| (start, length, start * 7 % 67))
        }) {
            let (mut copied, mut filled) = ([0u64; 6], [0u64; 6]);
            copy(&from, start..start + length, &mut copied, at);
            fill(&mut filled, at..at + length);
            for bit in 0..384 {
                let inside = (at..at + length).contains(&bit);
                let [copied, filled] =
                    [&copied, &filled].map(|words| words[bit / 64] >> (bit % 64) & 1 == 1);
                assert_eq!(filled, inside, "{at} and {length}: bit {bit}");
                assert_eq!(
                    copied,
                    inside && is_set(&from, start + bit - at),
                    "{start}, {at}, {length}: {bit}"
                );
            }
        }
        // The last bits do not fill a word.
        assert_eq!(word(&[0xFF; 2], 9), 0x7F);
        assert_eq!(word(&[0xFF; 2], 16), 0);
    }
}
