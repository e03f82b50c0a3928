//! What was found in pieces, and how it adds up.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::plan::FORM;
use crate::model::{ByKind, Range};
use crate::scan::{Found, Tally};

/// What was found in one piece or in several.
///
/// Tallies add up in any order and in any groups: the result is the same. Serialise them with
/// serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Tallies {
    /// Of the plan. Empty if there is no tensor.
    fingerprint: String,
    tensors: BTreeMap<usize, Covered>,
}

/// What was found in a part of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Covered {
    /// Bytes of the tensor, or parts of a column: sorted, with gaps between.
    pub(super) parts: Vec<(u64, u64)>,
    pub(super) tally: Tally,
}

impl Tallies {
    /// What was found in this part of a tensor.
    pub(super) fn new(fingerprint: &str, tensor: usize, part: (u64, u64), tally: Tally) -> Self {
        let covered = Covered { parts: vec![part], tally };
        let tensors = BTreeMap::from([(tensor, covered)]);
        Self { fingerprint: fingerprint.to_owned(), tensors }
    }

    /// Adds other tallies of the same plan.
    ///
    /// # Errors
    /// [`Error::OtherPlan`], and [`Error::Repeated`] if both have a part of a tensor.
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        self.add(other)?;
        Ok(self)
    }

    pub(super) fn add(&mut self, other: Self) -> Result<(), Error> {
        if self.tensors.is_empty() {
            *self = other;
            return Ok(());
        }
        if !other.tensors.is_empty() && other.fingerprint != self.fingerprint {
            return Err(Error::OtherPlan);
        }
        for (tensor, more) in other.tensors {
            match self.tensors.entry(tensor) {
                Entry::Vacant(entry) => {
                    entry.insert(more);
                }
                Entry::Occupied(mut entry) => {
                    let covered = entry.get_mut();
                    for part in more.parts {
                        cover(&mut covered.parts, part)
                            .map_err(|at| Error::Repeated { tensor, at })?;
                    }
                    covered.tally.merge(more.tally);
                }
            }
        }
        Ok(())
    }

    /// Whether they are of this plan.
    pub(super) fn is_of(&self, fingerprint: &str) -> bool {
        self.tensors.is_empty() || self.fingerprint == fingerprint
    }

    pub(super) fn into_tensors(self) -> BTreeMap<usize, Covered> {
        self.tensors
    }
}

/// Adds a part to others. The error is where it overlaps one of them.
fn cover(parts: &mut Vec<(u64, u64)>, (start, end): (u64, u64)) -> Result<(), u64> {
    let place = parts.partition_point(|&(other, _)| other < start);
    let before = place.checked_sub(1).map(|before| parts[before]);
    let after = parts.get(place).copied();
    if before.is_some_and(|(_, other)| other > start) {
        return Err(start);
    }
    if let Some((other, _)) = after.filter(|&(other, _)| other < end) {
        return Err(other);
    }
    let joins = |ends: Option<(u64, u64)>, at: fn((u64, u64)) -> u64, to| ends.map(at) == Some(to);
    match (joins(before, |part| part.1, start), joins(after, |part| part.0, end)) {
        (true, true) => {
            parts[place - 1].1 = parts[place].1;
            parts.remove(place);
        }
        (true, false) => parts[place - 1].1 = end,
        (false, true) => parts[place].0 = start,
        (false, false) => parts.insert(place, (start, end)),
    }
    Ok(())
}

/// [`Tallies`] as they are written. Bits are hexadecimal: no form of numbers can change them.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    form: u32,
    fingerprint: String,
    tensors: Vec<WrittenTensor>,
}

#[derive(Clone, Serialize, Deserialize)]
struct WrittenTensor {
    tensor: usize,
    parts: Vec<(u64, u64)>,
    nan: WrittenFound,
    pos_inf: WrittenFound,
    neg_inf: WrittenFound,
    /// Bits of the least and the greatest finite number.
    range: Option<(String, String)>,
}

#[derive(Clone, Serialize, Deserialize)]
struct WrittenFound {
    count: u64,
    /// Place and bits.
    first: Option<(usize, String)>,
}

impl From<Tallies> for Written {
    fn from(tallies: Tallies) -> Self {
        let hex = |bits: u64| format!("{bits:x}");
        let found = |Found { count, first }: Found| WrittenFound {
            count,
            first: first.map(|(place, bits)| (place, hex(bits))),
        };
        let tensor = |(tensor, Covered { parts, tally })| {
            let Tally { found: by_kind, range } = tally;
            let ByKind { nan, pos_inf, neg_inf } = by_kind.map(found);
            let range = range.map(|Range { min, max }| (hex(min.to_bits()), hex(max.to_bits())));
            WrittenTensor { tensor, parts, nan, pos_inf, neg_inf, range }
        };
        let tensors = tallies.tensors.into_iter().map(tensor).collect();
        Self { form: FORM, fingerprint: tallies.fingerprint, tensors }
    }
}

impl TryFrom<Written> for Tallies {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        if written.form != FORM {
            return Err(Error::Form(written.form));
        }
        let mut tensors = BTreeMap::new();
        for tensor in written.tensors {
            let WrittenTensor { tensor, parts: written, nan, pos_inf, neg_inf, range } = tensor;
            let mut parts = Vec::new();
            for (start, end) in written {
                if start >= end {
                    return Err(Error::Invalid("an empty part of a tensor"));
                }
                cover(&mut parts, (start, end)).map_err(|at| Error::Repeated { tensor, at })?;
            }
            let found =
                ByKind { nan: nan.read()?, pos_inf: pos_inf.read()?, neg_inf: neg_inf.read()? };
            let float = |text: &str| Ok::<_, Error>(f64::from_bits(bits(text)?));
            let range = match range {
                Some((min, max)) => Some(Range { min: float(&min)?, max: float(&max)? }),
                None => None,
            };
            let covered = Covered { parts, tally: Tally { found, range } };
            if tensors.insert(tensor, covered).is_some() {
                return Err(Error::Invalid("a tensor that is there twice"));
            }
        }
        Ok(Self { fingerprint: written.fingerprint, tensors })
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

fn bits(text: &str) -> Result<u64, Error> {
    u64::from_str_radix(text, 16).map_err(|_| Error::Invalid("bits that are not hexadecimal"))
}
