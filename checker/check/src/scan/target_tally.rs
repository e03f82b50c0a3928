//! The tally of some pieces of a tensor or of a part with a checksum.

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use super::byte_tally::ByteTally;
use super::tally::Tally;

/// The tally of some pieces of a [`Target`](super::Target). Pieces are added in any order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetTally {
    /// The ranges of the pieces, sorted. Adjacent ranges are joined, so gaps are between them.
    pub(crate) ranges: Vec<TalliedRange>,
    /// The tally of the numbers. Empty for a checksum.
    pub(crate) numbers: Tally,
    /// The tally of the bytes, if lint has asked. In a box, since most checks have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<Box<ByteTally>>,
}

/// A range of bytes in the tally.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TalliedRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The CRC-32 of the bytes, for a checksum.
    pub(crate) crc: Option<u32>,
}

impl TalliedRange {
    /// Joins the range that begins at the end of this range.
    fn joined(self, next: Self) -> Self {
        let combined = |(crc, more)| {
            let mut whole = Hasher::new_with_initial(crc);
            let length = next.end - next.start;
            whole.combine(&Hasher::new_with_initial_len(more, length));
            whole.finalize()
        };
        Self { start: self.start, end: next.end, crc: self.crc.zip(next.crc).map(combined) }
    }
}

impl TargetTally {
    /// Adds the tally of other pieces. Returns whether no byte is in both.
    #[must_use]
    pub(crate) fn merge(&mut self, other: Self) -> bool {
        if self.ranges.is_empty() {
            *self = other;
            return true;
        }
        if !other.ranges.into_iter().all(|range| add(&mut self.ranges, range)) {
            return false;
        }
        self.numbers.merge(other.numbers);
        match (&mut self.bytes, other.bytes) {
            (Some(bytes), Some(more)) => bytes.merge(*more),
            (bytes @ None, more) => *bytes = more,
            (Some(_), None) => {}
        }
        true
    }

    /// Whether the pieces cover the whole target, which has `extent` bytes.
    pub(crate) fn is_of(&self, extent: u64) -> bool {
        match self.ranges[..] {
            [] => extent == 0,
            [range] => range.start == 0 && range.end == extent,
            _ => false,
        }
    }

    /// The CRC-32 of the first range. None for a tensor.
    pub(crate) fn crc(&self) -> Option<u32> {
        // The CRC-32 of nothing is 0.
        self.ranges.first().map_or(Some(0), |range| range.crc)
    }
}

/// Adds a range to sorted ranges. Returns whether no byte is in both.
pub(super) fn add(ranges: &mut Vec<TalliedRange>, range: TalliedRange) -> bool {
    let place = ranges.partition_point(|other| other.start <= range.start);
    let before = place.checked_sub(1).map(|before| ranges[before]);
    let after = ranges.get(place).copied();
    if before.is_some_and(|before| before.end > range.start)
        || after.is_some_and(|after| after.start < range.end)
    {
        return false;
    }
    let before = before.filter(|before| before.end == range.start);
    let after = after.filter(|after| after.start == range.end);
    let joined = before.map_or(range, |before| before.joined(range));
    let joined = after.map_or(joined, |after| joined.joined(after));
    let replaced = place - usize::from(before.is_some())..place + usize::from(after.is_some());
    // Most targets have one piece. A vector would make room for four.
    ranges.reserve_exact(usize::from(ranges.is_empty()));
    ranges.splice(replaced, [joined]);
    true
}
