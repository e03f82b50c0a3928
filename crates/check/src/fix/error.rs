//! Why no copy was written.

use std::{fmt, io};

use super::value::ValueError;
use crate::model::{Asks, Error, FileFormat, Reason};

/// Why no copy was written. There is no output, or still the old one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// The input is not a whole, valid file of a known format.
    #[error("{0}")]
    Input(#[source] Error),
    /// Files of this format are not written.
    #[error("{0} files are not written: only safetensors and npy are")]
    Format(FileFormat),
    /// The numbers of a tensor cannot be looked at.
    #[error("{}", of_tensor(.tensor, .why))]
    Unreadable {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        why: Reason,
    },
    /// The observer asked to stop.
    #[error("stopped")]
    Stopped,
    /// A value that is needed does not fit the element type of a tensor.
    #[error("{}", of_tensor(.tensor, .error))]
    Value {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        #[source]
        error: ValueError,
    },
    /// Input and output are the same file.
    #[error("the output is the input, which is never overwritten")]
    SameFile,
    /// The output is a pipe, a device or a socket, which is never replaced.
    #[error("the output is not a regular file")]
    NotAFile,
    /// The output exists.
    #[error("the output exists already")]
    Exists,
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
}

impl FixError {
    /// The error as text. `option` names the option that would let the copy be written, in the
    /// words of the program that prints the text, such as `--as V2=bf16`.
    #[must_use]
    pub fn worded(&self, option: impl FnOnce(&Asks) -> String) -> String {
        match self {
            Self::Unreadable { tensor, why } => of_tensor(tensor, &why.worded(option)),
            _ => self.to_string(),
        }
    }
}

/// A text about a tensor. One without a name is not called one with an empty name.
fn of_tensor(tensor: &str, why: &dyn fmt::Display) -> String {
    if tensor.is_empty() { why.to_string() } else { format!("tensor {tensor:?}: {why}") }
}
