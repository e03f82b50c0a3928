//! Why a file cannot be planned, a piece not checked, or tallies not merged.

use std::fmt;

use crate::model;
use crate::scan::Of;

/// The version of the serialised form of plans, pieces and tallies. Rises with each change.
pub(super) const FORM: u32 = 3;

/// Why a file cannot be planned, a piece not checked, or tallies not merged.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be checked.
    Check(model::Error),
    /// Another process cannot read the bytes: they have no path or URL, or the path is not UTF-8.
    NoOrigin,
    /// A plan, a piece or tallies of another version of this crate.
    Form(u32),
    /// A plan, a piece or tallies hold values that this crate never writes.
    Invalid(&'static str),
    /// The tallies belong to another plan.
    OtherPlan,
    /// No tally covers this part of a tensor or of a checksummed part.
    Missing {
        /// The tensor or checksum in the plan.
        of: Of,
        /// The first byte of its data that was not looked at. For a column, the first part.
        at: u64,
    },
    /// Two tallies cover this part of a tensor or of a checksummed part.
    Repeated {
        /// The tensor or checksum in the plan.
        of: Of,
        /// The first byte of its data in both tallies. For a column, the first part.
        at: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(error) => error.fmt(f),
            Self::NoOrigin => f.write_str("the path is not UTF-8, or leads to no file"),
            Self::Form(form) => write!(f, "plans of form {form} are not known to this version"),
            Self::Invalid(what) => write!(f, "not a valid part of a plan: {what}"),
            Self::OtherPlan => f.write_str("these tallies are of another plan"),
            Self::Missing { of, at } => write!(f, "no tally has what is at {at} of {of}"),
            Self::Repeated { of, at } => write!(f, "two tallies have what is at {at} of {of}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Check(error) => Some(error),
            Self::NoOrigin
            | Self::Form(_)
            | Self::Invalid(_)
            | Self::OtherPlan
            | Self::Missing { .. }
            | Self::Repeated { .. } => None,
        }
    }
}

impl<E: Into<model::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Check(error.into())
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn sources() {
        let error = Error::from(model::Error::Empty);
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("is empty"));
        assert!(Error::OtherPlan.source().is_none());
    }
}
