//! What can be wrong with untyped input.

use core::fmt;

use crate::Format;

/// Why untyped input was refused. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The length of the input is not a multiple of the element size.
    PartialElement {
        /// Length of the input in bytes.
        bytes: usize,
        /// The format of the elements.
        format: Format,
    },
    /// The output of a byte mask does not have one byte for each element.
    OutputLength {
        /// Elements of the input.
        elements: usize,
        /// Length of the output.
        output: usize,
    },
    /// The output of a bit mask ends before the last result, or before the first bit it was to
    /// have.
    OutputBits {
        /// Elements of the input.
        elements: usize,
        /// The bit of the output that the first result was to go to.
        offset: usize,
        /// Length of the output in bytes.
        bytes: usize,
    },
    /// The output of a replacement is not as long as the input.
    OutputBytes {
        /// Length of the input in bytes.
        bytes: usize,
        /// Length of the output in bytes.
        output: usize,
    },

    /// The elements are not as many rows of as many columns.
    Rows {
        /// Elements of the input.
        elements: usize,
        /// How many rows the output is for.
        rows: usize,
        /// Elements of a row.
        columns: usize,
    },
    /// No format has this name.
    UnknownFormat,
    /// A code does not fit into an element.
    Code {
        /// The code.
        bits: u64,
        /// The format of the elements.
        format: Format,
    },
    /// Elements of this format are not multiplied.
    NoArithmetic {
        /// The format of the elements.
        format: Format,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PartialElement { bytes, format } => {
                write!(
                    f,
                    "{bytes} bytes are no whole number of {format} elements, {} bytes each",
                    format.size_in_bytes()
                )
            }
            Self::OutputLength { elements, output } => {
                write!(f, "{elements} elements, but an output for {output}")
            }
            Self::OutputBits { elements, offset, bytes } => {
                write!(
                    f,
                    "{elements} elements from bit {offset} on, but an output of {bytes} bytes"
                )
            }
            Self::Code { bits, format } => {
                write!(
                    f,
                    "code {bits:#x} does not fit into {format} elements of {} bits",
                    8 * format.size_in_bytes()
                )
            }
            Self::NoArithmetic { format } => {
                write!(f, "{format} elements are not multiplied: only f64, f32, f16 and bf16 are")
            }
            Self::OutputBytes { bytes, output } => {
                write!(f, "{bytes} bytes, but an output of {output}")
            }
            Self::Rows { elements, rows, columns } => {
                write!(f, "{elements} elements are not {rows} rows of {columns}")
            }
            Self::UnknownFormat => f.write_str("no format of this name"),
        }
    }
}

impl core::error::Error for Error {}
