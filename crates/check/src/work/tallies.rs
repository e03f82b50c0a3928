//! The findings in pieces, and their sum.

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use super::error::Error;
use crate::scan::{Tally, Target};

/// The findings in one piece or in several.
///
/// Tallies add up in any order and in any groups: the result is the same. Serialise them with
/// serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tallies {
    /// The fingerprint of the plan. Empty if nothing was looked at.
    fingerprint: String,
    /// Sorted.
    found: Vec<(Target, Covered)>,
}

/// The findings in parts of a tensor or of a checksummed part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Covered {
    /// The parts, sorted. Adjacent parts are joined, so there are gaps between them.
    pub(super) parts: Vec<CoveredRange>,
    /// The findings. Empty for a checksum.
    pub(super) tally: Tally,
}

/// The range that was looked at, in bytes or in parts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CoveredRange {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The CRC-32 of the bytes, for a checksum.
    pub(super) crc: Option<u32>,
}

impl CoveredRange {
    /// Joins the part that begins at the end of this one.
    fn joined(self, next: Self) -> Self {
        let combined = |(crc, more)| {
            let mut whole = Hasher::new_with_initial(crc);
            let length = next.end.saturating_sub(next.start);
            whole.combine(&Hasher::new_with_initial_len(more, length));
            whole.finalize()
        };
        Self { start: self.start, end: next.end, crc: self.crc.zip(next.crc).map(combined) }
    }
}

impl Tallies {
    /// The findings in this part.
    pub(super) fn new(fingerprint: &str, of: Target, part: CoveredRange, tally: Tally) -> Self {
        let found = vec![(of, Covered { parts: vec![part], tally })];
        Self { fingerprint: fingerprint.to_owned(), found }
    }

    /// Adds other tallies of the same plan.
    ///
    /// # Errors
    /// [`Error::OtherPlan`], [`Error::Repeated`] if both have the same part, and
    /// [`Error::Invalid`] for an empty part.
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        self.add(other)?;
        Ok(self)
    }

    pub(super) fn add(&mut self, other: Self) -> Result<(), Error> {
        if self.found.is_empty() {
            self.fingerprint.clone_from(&other.fingerprint);
        }
        if !other.found.is_empty() && other.fingerprint != self.fingerprint {
            return Err(Error::OtherPlan);
        }
        for (of, more) in other.found {
            let place = self.found.binary_search_by_key(&of, |(known, _)| *known);
            let place = place.unwrap_or_else(|place| {
                self.found.insert(place, (of, Covered::default()));
                place
            });
            let covered = &mut self.found[place].1;
            for part in more.parts {
                cover(&mut covered.parts, part, of)?;
            }
            covered.tally.merge(more.tally);
        }
        Ok(())
    }

    /// The findings, if the tallies belong to the plan with this fingerprint.
    pub(super) fn into_found(self, fingerprint: &str) -> Result<Vec<(Target, Covered)>, Error> {
        if !self.found.is_empty() && self.fingerprint != fingerprint {
            return Err(Error::OtherPlan);
        }
        Ok(self.found)
    }
}

/// Adds a part to others.
fn cover(parts: &mut Vec<CoveredRange>, part: CoveredRange, of: Target) -> Result<(), Error> {
    if part.start >= part.end {
        return Err(Error::Invalid("a part that is empty"));
    }
    let place = parts.partition_point(|other| other.start <= part.start);
    let before = place.checked_sub(1).map(|before| parts[before]);
    let after = parts.get(place).copied();
    if before.is_some_and(|before| before.end > part.start) {
        return Err(Error::Repeated { of, at: part.start });
    }
    if let Some(after) = after.filter(|after| after.start < part.end) {
        return Err(Error::Repeated { of, at: after.start });
    }
    let before = before.filter(|before| before.end == part.start);
    let after = after.filter(|after| after.start == part.end);
    let joined = before.map_or(part, |before| before.joined(part));
    let joined = after.map_or(joined, |after| joined.joined(after));
    let replaced = place - usize::from(before.is_some())..place + usize::from(after.is_some());
    parts.splice(replaced, [joined]);
    Ok(())
}
