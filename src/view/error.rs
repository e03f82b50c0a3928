//! What can be wrong with a view.

use core::fmt;

/// Why a view, or an operation on one, was refused. Nothing was written. Dimensions are numbered
/// from 0, the outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ViewError {
    /// There is not one stride for each size.
    StrideCount {
        /// How many sizes there are.
        sizes: usize,
        /// How many strides there are.
        strides: usize,
    },
    /// The sizes multiply to more than a `usize` holds.
    TooManyElements {
        /// The dimension that, counted from the innermost, makes them too many.
        dimension: usize,
    },
    /// Coordinate 0 is not among the elements given.
    OffsetOutOfBounds {
        /// The offset of coordinate 0.
        offset: usize,
        /// How many elements (of an output, bytes) were given.
        elements: usize,
    },
    /// The first or the last coordinate of a dimension is not among the elements given.
    OutOfBounds {
        /// The first dimension, from the outermost, that leads outside.
        dimension: usize,
        /// Its size.
        size: usize,
        /// Its stride.
        stride: isize,
        /// How many elements (of an output, bytes) were given.
        elements: usize,
    },
    /// Two coordinates of an output may name one byte; see [`crate::TensorViewMut::new`].
    Overlap {
        /// The dimension whose steps are too short.
        dimension: usize,
        /// Its stride.
        stride: isize,
        /// The absolute stride that it needs to step over all bytes that dimensions of shorter
        /// strides reach.
        needed: usize,
    },
    /// The output does not have the rank of the input.
    OutputRank {
        /// Dimensions of the input.
        input: usize,
        /// Dimensions of the output.
        output: usize,
    },
    /// The output does not have the sizes of the input.
    OutputSize {
        /// The first dimension that differs.
        dimension: usize,
        /// Its size in the input.
        input: usize,
        /// Its size in the output.
        output: usize,
    },
    /// A contiguous output is not as long as the tensor has elements.
    OutputLength {
        /// Elements of the tensor.
        elements: usize,
        /// Length of the output.
        output: usize,
    },
    /// The output of packed bits ends before the last result.
    OutputBits {
        /// Elements of the tensor.
        elements: usize,
        /// The bit of the output that the first result was to go to.
        offset: usize,
        /// Length of the output in bytes.
        bytes: usize,
    },
    /// The output does not have one place for each row.
    Rows {
        /// Rows of the tensor, at most `usize::MAX`.
        rows: usize,
        /// Length of the output.
        output: usize,
    },
    /// The tensor has no such dimension to run rows along.
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
    /// A coordinate does not have one place for each dimension.
    CoordinateLength {
        /// Dimensions of the tensor.
        dimensions: usize,
        /// Length of the coordinate.
        coordinate: usize,
    },
}

impl ViewError {
    /// Input and output must have the same sizes.
    pub(crate) fn check_sizes(from: &[usize], to: &[usize]) -> Result<(), Self> {
        if from.len() != to.len() {
            return Err(Self::OutputRank { input: from.len(), output: to.len() });
        }
        match (0..from.len()).find(|&i| from[i] != to[i]) {
            Some(dimension) => {
                Err(Self::OutputSize { dimension, input: from[dimension], output: to[dimension] })
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::StrideCount { sizes, strides } => {
                write!(f, "{sizes} sizes, but {strides} strides")
            }
            Self::TooManyElements { dimension } => {
                write!(
                    f,
                    "with dimension {dimension} there are more elements than a usize can count"
                )
            }
            Self::OffsetOutOfBounds { offset, elements } => {
                write!(f, "offset {offset} is outside of the {elements} elements given")
            }
            Self::OutOfBounds { dimension, size, stride, elements } => write!(
                f,
                "dimension {dimension} (size {size}, stride {stride}) leads outside of the {elements} elements given"
            ),
            Self::Overlap { dimension, stride, needed } => write!(
                f,
                "dimension {dimension} of the output (stride {stride}) may name bytes that others name: \
                 its stride must be at least {needed}, forwards or backwards"
            ),
            Self::OutputRank { input, output } => {
                write!(f, "the input has {input} dimensions, but the output has {output}")
            }
            Self::OutputSize { dimension, input, output } => {
                write!(f, "dimension {dimension} has size {input}, but size {output} in the output")
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
            Self::Rows { rows, output } => write!(f, "{rows} rows, but an output for {output}"),
            Self::Axis { axis, dimensions } => {
                write!(f, "no axis {axis} in a tensor of {dimensions} dimensions")
            }
            Self::Index { index, elements } => {
                write!(f, "no element {index} in a tensor of {elements}")
            }
            Self::CoordinateLength { dimensions, coordinate } => {
                write!(f, "{dimensions} dimensions, but a coordinate of {coordinate} places")
            }
        }
    }
}

impl core::error::Error for ViewError {}
