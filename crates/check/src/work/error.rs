//! Why a file cannot be planned, a piece not checked, or tallies not merged.

use crate::model;
use crate::scan::Target;

/// The version of the serialised form of plans and pieces. Rises with each change.
pub(super) const FORM: u32 = 8;

/// Why a file cannot be planned, a piece not checked, or tallies not merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be checked.
    #[error("{0}")]
    Check(#[source] model::Error),
    /// Another process cannot read the bytes: they have no path or URL, or the path is not UTF-8.
    #[error("the path is not UTF-8, or leads to no file")]
    NoOrigin,
    /// A plan or a piece of another version of this crate.
    #[error("plans of form {0} are not known to this version")]
    Form(u32),
    /// A plan, a piece or tallies hold values that this crate never writes.
    #[error("not a valid part of a plan: {0}")]
    Invalid(&'static str),
    /// The tallies belong to another plan.
    #[error("these tallies are of another plan")]
    OtherPlan,
    /// No tally covers this part of a tensor or of a checksummed part.
    #[error("no tally has what is at {at} of {of}")]
    Missing {
        /// The tensor or checksum in the plan.
        of: Target,
        /// The first byte of its data that was not looked at. For a column, the first part.
        at: u64,
    },
    /// Two tallies cover this part of a tensor or of a checksummed part.
    #[error("two tallies have what is at {at} of {of}")]
    Repeated {
        /// The tensor or checksum in the plan.
        of: Target,
        /// The first byte of its data in both tallies. For a column, the first part.
        at: u64,
    },
}

impl<E: Into<model::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Check(error.into())
    }
}
