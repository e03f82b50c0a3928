//! Why no copy was written.

use std::{fmt, io};

use super::value::ValueError;
use crate::model::{Asks, Error, FileFormat, Reason};

/// Why no copy was written. There is no output, or still the old one.
#[derive(Debug)]
#[non_exhaustive]
pub enum FixError {
    /// The input is not a whole, valid file of a known format.
    Input(Error),
    /// Files of this format are not written.
    Format(FileFormat),
    /// The numbers of a tensor cannot be looked at.
    Unreadable {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        why: Reason,
    },
    /// The observer asked to stop.
    Stopped,
    /// A value that is needed does not fit the element type of a tensor.
    Value {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        error: ValueError,
    },
    /// Input and output are the same file.
    SameFile,
    /// The output is a pipe, a device or a socket, which is never replaced.
    NotAFile,
    /// The output exists.
    Exists,
    /// The output could not be written.
    Output(io::Error),
}

impl FixError {
    /// The error as text. `option` names the option that would let the copy be written, in the
    /// words of the program that prints the text, such as `--raw-dtype V2=bf16`.
    #[must_use]
    pub fn worded(&self, option: impl FnOnce(&Asks) -> String) -> String {
        match self {
            Self::Unreadable { tensor, why } if tensor.is_empty() => why.worded(option),
            Self::Unreadable { tensor, why } => {
                format!("tensor {tensor:?}: {}", why.worded(option))
            }
            Self::Input(_)
            | Self::Format(_)
            | Self::Stopped
            | Self::Value { .. }
            | Self::SameFile
            | Self::NotAFile
            | Self::Exists
            | Self::Output(_) => self.to_string(),
        }
    }
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Format(format) => {
                write!(f, "{} files are not written: only safetensors and npy are", format.name())
            }
            Self::Unreadable { .. } => f.write_str(&self.worded(Asks::to_string)),
            Self::Stopped => f.write_str("stopped"),
            Self::Value { tensor, error } if tensor.is_empty() => error.fmt(f),
            Self::Value { tensor, error } => write!(f, "tensor {tensor:?}: {error}"),
            Self::SameFile => f.write_str("the output is the input, which is never overwritten"),
            Self::NotAFile => f.write_str("the output is not a regular file"),
            Self::Exists => f.write_str("the output exists already"),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for FixError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(error) => Some(error),
            Self::Value { error, .. } => Some(error),
            Self::Output(error) => Some(error),
            Self::Format(_)
            | Self::SameFile
            | Self::NotAFile
            | Self::Exists
            | Self::Unreadable { .. }
            | Self::Stopped => None,
        }
    }
}
