//! The findings in pieces, and their sum.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use super::error::{Error, FORM};
use crate::model::ByKind;
use crate::scan::{Finite, Found, Of, Peak, Tally};

/// The findings in one piece or in several.
///
/// Tallies add up in any order and in any groups: the result is the same. Serialise them with
/// serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Tallies {
    /// The fingerprint of the plan. Empty if nothing was looked at.
    fingerprint: String,
    found: BTreeMap<Of, Covered>,
}

/// The findings in parts of a tensor or of a checksummed part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Covered {
    /// The parts, sorted. Adjacent parts are joined, so there are gaps between them.
    pub(super) parts: Vec<Part>,
    /// The findings. Empty for a checksum.
    pub(super) tally: Tally,
}

/// The range that was looked at, in bytes or in parts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The CRC-32 of the bytes, for a checksum.
    pub(super) crc: Option<u32>,
}

impl Part {
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
    pub(super) fn new(fingerprint: &str, of: Of, part: Part, tally: Tally) -> Self {
        let covered = Covered { parts: vec![part], tally };
        let found = BTreeMap::from([(of, covered)]);
        Self { fingerprint: fingerprint.to_owned(), found }
    }

    /// Adds other tallies of the same plan.
    ///
    /// # Errors
    /// [`Error::OtherPlan`], and [`Error::Repeated`] if both have the same part.
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        self.add(other)?;
        Ok(self)
    }

    pub(super) fn add(&mut self, other: Self) -> Result<(), Error> {
        if self.found.is_empty() {
            *self = other;
            return Ok(());
        }
        if !other.found.is_empty() && other.fingerprint != self.fingerprint {
            return Err(Error::OtherPlan);
        }
        for (of, more) in other.found {
            match self.found.entry(of) {
                Entry::Vacant(entry) => {
                    entry.insert(more);
                }
                Entry::Occupied(mut entry) => {
                    let covered = entry.get_mut();
                    for part in more.parts {
                        cover(&mut covered.parts, part).map_err(|at| Error::Repeated { of, at })?;
                    }
                    covered.tally.merge(more.tally);
                }
            }
        }
        Ok(())
    }

    /// Checks that the tallies belong to this plan.
    pub(super) fn is_of(&self, fingerprint: &str) -> bool {
        self.found.is_empty() || self.fingerprint == fingerprint
    }

    pub(super) fn into_found(self) -> BTreeMap<Of, Covered> {
        self.found
    }
}

/// Adds a part to others. The error is the first place that overlaps one of them.
fn cover(parts: &mut Vec<Part>, part: Part) -> Result<(), u64> {
    let Err(place) = parts.binary_search_by_key(&part.start, |other| other.start) else {
        return Err(part.start);
    };
    let before = place.checked_sub(1).map(|before| parts[before]);
    let after = parts.get(place).copied();
    if before.is_some_and(|before| before.end > part.start) {
        return Err(part.start);
    }
    if let Some(after) = after.filter(|after| after.start < part.end) {
        return Err(after.start);
    }
    let before = before.filter(|before| before.end == part.start);
    let after = after.filter(|after| after.start == part.end);
    let joined = before.map_or(part, |before| before.joined(part));
    let joined = after.map_or(joined, |after| joined.joined(after));
    let replaced = place - usize::from(before.is_some())..place + usize::from(after.is_some());
    parts.splice(replaced, [joined]);
    Ok(())
}

/// The serialised form of [`Tallies`]. Bits are hexadecimal text, since numbers could change in
/// some formats.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    form: u32,
    fingerprint: String,
    found: Vec<WrittenCovered>,
}

#[derive(Clone, Serialize, Deserialize)]
struct WrittenCovered {
    of: Of,
    parts: Vec<Part>,
    nan: WrittenFound,
    pos_inf: WrittenFound,
    neg_inf: WrittenFound,
    finite: WrittenFinite,
}

#[derive(Clone, Serialize, Deserialize)]
struct WrittenFound {
    count: u64,
    /// The place and the bits.
    first: Option<(usize, String)>,
}

/// [`Finite`]. A number is its place, and its bits as f64.
#[derive(Clone, Serialize, Deserialize)]
struct WrittenFinite {
    min: Option<(usize, String)>,
    max: Option<(usize, String)>,
    max_abs: Option<(usize, String)>,
    zeros: u64,
    subnormals: u64,
    normals: u64,
    large: u64,
}

impl From<Finite> for WrittenFinite {
    fn from(finite: Finite) -> Self {
        let Finite { min, max, max_abs, zeros, subnormals, normals, large } = finite;
        let [min, max, max_abs] = [min, max, max_abs]
            .map(|peak| peak.map(|Peak { value, place }| (place, hex(value.to_bits()))));
        Self { min, max, max_abs, zeros, subnormals, normals, large }
    }
}

impl From<Tallies> for Written {
    fn from(tallies: Tallies) -> Self {
        let found = |Found { count, first }: Found| WrittenFound {
            count,
            first: first.map(|(place, bits)| (place, hex(bits))),
        };
        let covered = |(of, Covered { parts, tally })| {
            let Tally { found: by_kind, finite } = tally;
            let ByKind { nan, pos_inf, neg_inf } = by_kind.map(found);
            WrittenCovered { of, parts, nan, pos_inf, neg_inf, finite: finite.into() }
        };
        let found = tallies.found.into_iter().map(covered).collect();
        Self { form: FORM, fingerprint: tallies.fingerprint, found }
    }
}

impl TryFrom<Written> for Tallies {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        if written.form != FORM {
            return Err(Error::Form(written.form));
        }
        let mut all = BTreeMap::new();
        for covered in written.found {
            let WrittenCovered { of, parts: written, nan, pos_inf, neg_inf, finite } = covered;
            let is_checksum = matches!(of, Of::Checksum(_));
            let mut parts = Vec::new();
            for part in written {
                if part.start >= part.end || part.crc.is_some() != is_checksum {
                    return Err(Error::Invalid(
                        "a part that is empty, or has a checksum for no reason or none",
                    ));
                }
                cover(&mut parts, part).map_err(|at| Error::Repeated { of, at })?;
            }
            let found =
                ByKind { nan: nan.read()?, pos_inf: pos_inf.read()?, neg_inf: neg_inf.read()? };
            let tally = Tally { found, finite: finite.read()? };
            if parts.is_empty() || is_checksum && tally != Tally::default() {
                return Err(Error::Invalid("something found where nothing was looked at"));
            }
            if all.insert(of, Covered { parts, tally }).is_some() {
                return Err(Error::Invalid("a tensor or checksum that is there twice"));
            }
        }
        Ok(Self { fingerprint: written.fingerprint, found: all })
    }
}

impl WrittenFound {
    fn read(self) -> Result<Found, Error> {
        let first = match self.first {
            Some((place, text)) => Some((place, bits(&text)?)),
            None => None,
        };
        if (self.count > 0) != first.is_some() {
            return Err(Error::Invalid("a count without a first number, or the reverse"));
        }
        Ok(Found { count: self.count, first })
    }
}

impl WrittenFinite {
    fn read(self) -> Result<Finite, Error> {
        let Self { min, max, max_abs, zeros, subnormals, normals, large } = self;
        let peak = |written: Option<(usize, String)>| {
            let read = |(place, text): (usize, String)| {
                Ok::<_, Error>(Peak { value: f64::from_bits(bits(&text)?), place })
            };
            written.map(read).transpose()
        };
        let [min, max, max_abs] = [peak(min)?, peak(max)?, peak(max_abs)?];
        let count = zeros.saturating_add(subnormals).saturating_add(normals);
        let peaks = [min, max, max_abs];
        let fit = peaks.iter().flatten().all(|peak| peak.value.is_finite())
            && peaks.iter().all(|peak| peak.is_some() == (count > 0));
        if !fit || large > count {
            return Err(Error::Invalid("statistics that do not fit their counts"));
        }
        Ok(Finite { min, max, max_abs, zeros, subnormals, normals, large })
    }
}

fn hex(bits: u64) -> String {
    format!("{bits:x}")
}

fn bits(text: &str) -> Result<u64, Error> {
    u64::from_str_radix(text, 16).map_err(|_| Error::Invalid("bits that are not hexadecimal"))
}
