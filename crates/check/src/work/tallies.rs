//! The findings in pieces, and their sum.

use serde::{Deserialize, Serialize};

use super::error::Error;
use crate::scan::{Covered, Target};

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

impl Tallies {
    /// The findings in a part.
    pub(super) fn new(fingerprint: &str, of: Target, found: Covered) -> Self {
        Self { fingerprint: fingerprint.to_owned(), found: vec![(of, found)] }
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
            if more.parts.iter().any(|part| part.start >= part.end) {
                return Err(Error::Invalid("a part that is empty"));
            }
            self.found[place].1.merge(more).map_err(|at| Error::Repeated { of, at })?;
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
