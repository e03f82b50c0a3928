//! What was looked at of a tensor or of a part with a checksum, and what was found there.

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use super::byte_facts::Facts;
use super::tally::Tally;

/// The parts that were looked at, and the findings in all of them. Parts are added in any order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Covered {
    /// The parts, sorted. Adjacent parts are joined, so there are gaps between them.
    pub(crate) parts: Vec<CoveredRange>,
    /// The findings. Empty for a checksum.
    pub(crate) tally: Tally,
    /// What lint has seen, if lint has asked. In a box, since most checks have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) facts: Option<Box<Facts>>,
}

/// The range of bytes that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CoveredRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The CRC-32 of the bytes, for a checksum.
    pub(crate) crc: Option<u32>,
}

impl CoveredRange {
    /// Joins the part that begins at the end of this one.
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

impl Covered {
    /// Adds other parts and their findings. Returns whether no part is in both.
    #[must_use]
    pub(crate) fn merge(&mut self, other: Self) -> bool {
        if self.parts.is_empty() {
            *self = other;
            return true;
        }
        if !other.parts.into_iter().all(|part| self.add(part)) {
            return false;
        }
        self.tally.merge(other.tally);
        match (&mut self.facts, other.facts) {
            (Some(facts), Some(more)) => facts.merge(*more),
            (facts @ None, more) => *facts = more,
            (Some(_), None) => {}
        }
        true
    }

    fn add(&mut self, part: CoveredRange) -> bool {
        let parts = &mut self.parts;
        let place = parts.partition_point(|other| other.start <= part.start);
        let before = place.checked_sub(1).map(|before| parts[before]);
        let after = parts.get(place).copied();
        if before.is_some_and(|before| before.end > part.start)
            || after.is_some_and(|after| after.start < part.end)
        {
            return false;
        }
        let before = before.filter(|before| before.end == part.start);
        let after = after.filter(|after| after.start == part.end);
        let joined = before.map_or(part, |before| before.joined(part));
        let joined = after.map_or(joined, |after| joined.joined(after));
        let replaced = place - usize::from(before.is_some())..place + usize::from(after.is_some());
        parts.splice(replaced, [joined]);
        true
    }

    /// Whether the parts are all that there is: so many bytes, or parts of a column.
    pub(crate) fn is_of(&self, extent: u64) -> bool {
        match self.parts[..] {
            [] => extent == 0,
            [part] => part.start == 0 && part.end == extent,
            _ => false,
        }
    }

    /// The CRC-32 of the first part. None for a tensor.
    pub(crate) fn crc(&self) -> Option<u32> {
        // The CRC-32 of nothing is 0.
        self.parts.first().map_or(Some(0), |part| part.crc)
    }
}
