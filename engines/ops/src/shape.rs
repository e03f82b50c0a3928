//! Shapes of which parts are unknown until a model runs.

use core::fmt;
use core::str::FromStr;

use crate::Excerpt;

/// The known part of the size of a dimension: an interval (`ov::Dimension`). Text has the form of
/// OpenVINO: `37`, `?`, `2..4`, `2..`, `..4`. A dimension that ONNX gives a name (`dim_param`) or
/// nothing is [`Dimension::DYNAMIC`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    min: u64,
    max: Option<u64>,
}

impl Dimension {
    /// Any size.
    pub const DYNAMIC: Self = Self { min: 0, max: None };

    /// A dimension of this size.
    #[must_use]
    pub const fn fixed(size: u64) -> Self {
        Self { min: size, max: Some(size) }
    }

    /// Any size from `min` to `max`, both included. Without `max`, any size from `min` on. `None`
    /// if no size is in this range.
    #[must_use]
    pub fn interval(min: u64, max: Option<u64>) -> Option<Self> {
        max.is_none_or(|max| min <= max).then_some(Self { min, max })
    }

    /// The smallest size.
    #[must_use]
    pub const fn min(&self) -> u64 {
        self.min
    }

    /// The largest size, if there is one.
    #[must_use]
    pub const fn max(&self) -> Option<u64> {
        self.max
    }

    /// Whether the size is known.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.max == Some(self.min)
    }

    /// Whether the dimension can have this size.
    #[must_use]
    pub fn admits(&self, size: usize) -> bool {
        let size = size as u64;
        self.min <= size && self.max.is_none_or(|max| size <= max)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (0, None) => f.write_str("?"),
            (min, None) => write!(f, "{min}.."),
            (min, Some(max)) if min == max => write!(f, "{min}"),
            (0, Some(max)) => write!(f, "..{max}"),
            (min, Some(max)) => write!(f, "{min}..{max}"),
        }
    }
}

/// Why a text is not a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DimensionError {
    /// The text is neither a size, nor `?`, nor an interval of sizes.
    Syntax {
        /// The text.
        text: Excerpt,
    },
    /// The lower bound of the interval is above the upper one.
    Empty {
        /// The lower bound.
        min: u64,
        /// The upper bound.
        max: u64,
    },
}

impl fmt::Display for DimensionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Syntax { text } => {
                write!(
                    f,
                    "{text} is no dimension: neither a size such as 37, nor ? for a dynamic "
                )?;
                f.write_str("one, nor an interval such as 2..4, 2.. or ..4")
            }
            Self::Empty { min, max } => write!(f, "no size is in the interval {min}..{max}"),
        }
    }
}

impl core::error::Error for DimensionError {}

/// Accepts a size, `?` or `-1`, and intervals with or without bounds, with blanks around it, as
/// OpenVINO does. OpenVINO also accepts an empty text, other negative numbers and sizes beyond 63
/// bits, and changes their meaning. They are refused here.
impl FromStr for Dimension {
    type Err = DimensionError;

    fn from_str(given: &str) -> Result<Self, DimensionError> {
        let syntax = DimensionError::Syntax { text: Excerpt::new(given) };
        let text = given.trim_ascii();
        if text == "?" || text == "-1" {
            return Ok(Self::DYNAMIC);
        }
        let Some((min, max)) = text.split_once("..") else {
            return size(text).map(Self::fixed).ok_or(syntax);
        };
        let min = if min.is_empty() { 0 } else { size(min).ok_or(syntax)? };
        let max = if max.is_empty() { None } else { Some(size(max).ok_or(syntax)?) };
        Self::interval(min, max).ok_or(DimensionError::Empty { min, max: max.unwrap_or(u64::MAX) })
    }
}

/// Digits of a number that fits into OpenVINO's `int64_t`.
fn size(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse::<i64>().ok().filter(|_| digits).map(i64::unsigned_abs)
}

/// The known part of a shape (`ov::PartialShape`, `TensorShapeProto` of ONNX).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartialShape<'a> {
    /// The rank is unknown.
    DynamicRank,
    /// One interval for each dimension.
    Ranked(&'a [Dimension]),
}

impl PartialShape<'_> {
    /// Whether rank and sizes are known.
    #[must_use]
    pub fn is_static(&self) -> bool {
        matches!(self, Self::Ranked(dimensions) if dimensions.iter().all(Dimension::is_static))
    }

    /// Whether a tensor of the model can have this shape.
    ///
    /// # Errors
    /// [`ShapeError`] names the rank or the first dimension that differs.
    pub fn admits(&self, shape: &[usize]) -> Result<(), ShapeError> {
        let Self::Ranked(dimensions) = *self else { return Ok(()) };
        if dimensions.len() != shape.len() {
            return Err(ShapeError::Rank { expected: dimensions.len(), found: shape.len() });
        }
        let pairs = dimensions.iter().zip(shape);
        match pairs.enumerate().find(|(_, (dimension, size))| !dimension.admits(**size)) {
            Some((index, (&expected, &found))) => {
                Err(ShapeError::Dimension { index, expected, found })
            }
            None => Ok(()),
        }
    }
}

/// Prints the form of OpenVINO: `[?,21,37]`, or `[...]` if the rank is dynamic.
impl fmt::Display for PartialShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Ranked(dimensions) = self else { return f.write_str("[...]") };
        f.write_str("[")?;
        for (i, dimension) in dimensions.iter().enumerate() {
            write!(f, "{}{dimension}", if i == 0 { "" } else { "," })?;
        }
        f.write_str("]")
    }
}

/// Why the model does not admit a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShapeError {
    /// The rank differs.
    Rank {
        /// The rank of the partial shape.
        expected: usize,
        /// The rank of the tensor.
        found: usize,
    },
    /// A dimension has a size that is not in its interval.
    Dimension {
        /// Index of the dimension.
        index: usize,
        /// The interval.
        expected: Dimension,
        /// The size of the tensor.
        found: usize,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rank { expected, found } => {
                write!(f, "rank {found} where the model has rank {expected}")
            }
            Self::Dimension { index, expected, found } => {
                write!(f, "dimension {index} is {found} where the model has {expected}")
            }
        }
    }
}

impl core::error::Error for ShapeError {}
