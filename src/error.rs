//! Errors of inputs and outputs.

use core::fmt;

use crate::Format;
use crate::LayoutError;

/// Why an input or an output was refused. Nothing was written. Dimensions are numbered from 0, the
/// outermost.
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
    /// The output of a mask does not have one byte for each element.
    OutputLength {
        /// Elements of the input.
        elements: usize,
        /// Length of the output.
        output: usize,
    },
    /// The output of packed bits ends before the last result, or before the bit of the first.
    OutputBits {
        /// Elements of the input.
        elements: usize,
        /// The bit of the output for the first result.
        offset: usize,
        /// Length of the output in bytes.
        bytes: usize,
    },
    /// A validity bitmap ends before the bit of the first element or of the last.
    ValidityBits {
        /// Elements of the input.
        elements: usize,
        /// The bit of the bitmap that should belong to the first element.
        offset: usize,
        /// Length of the bitmap in bytes.
        bytes: usize,
    },
    /// The output of a replacement does not have the bytes of the input.
    OutputBytes {
        /// Length of the input in bytes.
        bytes: usize,
        /// Length of the output in bytes.
        output: usize,
    },
    /// The output of a replacement does not have the format of the input.
    OutputFormat {
        /// Format of the input.
        input: Format,
        /// Format of the output.
        output: Format,
    },
    /// A code does not fit into an element.
    Code {
        /// The code.
        bits: u64,
        /// The format of the elements.
        format: Format,
    },
    /// The threshold of a predicate is negative or not finite, or the format has no sign or has
    /// NaN in the place of -0.
    Threshold {
        /// The bits of the threshold.
        bits: u64,
        /// The format of the elements.
        format: Format,
    },
    /// The threshold of a predicate is for elements of another format.
    ThresholdFormat {
        /// The format of the threshold.
        threshold: Format,
        /// The format of the elements.
        elements: Format,
    },
    /// Elements of this format cannot be multiplied.
    NoArithmetic {
        /// The format of the elements.
        format: Format,
    },
    /// A shape or strides do not fit the elements given, or the output. This error is the
    /// [source](core::error::Error::source).
    Layout(LayoutError),
    /// The output does not have one place for each row.
    Rows {
        /// Rows of the tensor, at most `usize::MAX`.
        rows: usize,
        /// Length of the output.
        output: usize,
    },
    /// The tensor does not have the dimension for the rows.
    Axis {
        /// The dimension asked for.
        axis: usize,
        /// Dimensions of the tensor.
        dimensions: usize,
    },
    /// The tensor has no element of this index.
    Index {
        /// The index.
        index: usize,
        /// Elements of the tensor.
        elements: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PartialElement { bytes, format } => write!(
                f,
                "{bytes} bytes are not a whole number of {format} elements, of {} bytes each",
                format.size_in_bytes()
            ),
            Self::OutputLength { elements, output } => {
                write!(f, "{elements} elements, but an output for {output}")
            }
            Self::OutputBits { elements, offset, bytes } => write!(
                f,
                "{elements} elements from bit {offset} on, but an output of {bytes} bytes"
            ),
            Self::ValidityBits { elements, offset, bytes } => write!(
                f,
                "{elements} elements from bit {offset} on, but a validity bitmap of {bytes} bytes"
            ),
            Self::OutputBytes { bytes, output } => {
                write!(f, "{bytes} bytes, but an output of {output}")
            }
            Self::OutputFormat { input, output } => {
                write!(f, "{input} elements, but an output of {output} elements")
            }
            Self::Code { bits, format } => write!(
                f,
                "code {bits:#x} does not fit into {format} elements of {} bits",
                8 * format.size_in_bytes()
            ),
            Self::Threshold { bits, format } => match format.why_no_threshold() {
                Some(why) => {
                    write!(f, "{format} has {why}: its elements are not compared with a threshold")
                }
                None => {
                    let threshold = f64::from_bits(bits);
                    write!(f, "the threshold is {threshold}, but must be finite and not negative")
                }
            },
            Self::ThresholdFormat { threshold, elements } => {
                write!(f, "a threshold for {threshold} elements, but the elements are {elements}")
            }
            Self::NoArithmetic { format } => {
                write!(f, "cannot multiply {format} elements, only f64, f32, f16 and bf16")
            }
            Self::Layout(error) => error.fmt(f),
            Self::Rows { rows, output } => write!(f, "{rows} rows, but an output for {output}"),
            Self::Axis { axis, dimensions } => {
                write!(f, "no axis {axis} in a tensor of {dimensions} dimensions")
            }
            Self::Index { index, elements } => {
                write!(f, "no element {index} in a tensor of {elements}")
            }
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Layout(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LayoutError> for Error {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}
