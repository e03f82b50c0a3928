//! What can be wrong with an array.

use core::fmt;

/// Why an array was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The array holds, or may hold, values that are no floating-point numbers of IEEE 754.
    NotFloat {
        /// The type of the array, as arrow prints it.
        data_type: String,
    },
    /// The array has several values a row, and a mask has one.
    Nested {
        /// The type of the array, as arrow prints it.
        data_type: String,
    },
    /// Chunks of one column have different types.
    ChunkTypes {
        /// The type of the first chunk, as arrow prints it.
        first: String,
        /// The type of the first chunk that differs.
        other: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFloat { data_type } => {
                write!(f, "{data_type} holds values that are no floating-point numbers")
            }
            Self::Nested { data_type } => write!(
                f,
                "{data_type} has several values a row, and a mask has one: ask any_rows or \
                 all_rows, or make a column of the values"
            ),
            Self::ChunkTypes { first, other } => {
                write!(f, "chunks of {first} and of {other} in one column")
            }
        }
    }
}

impl core::error::Error for Error {}
