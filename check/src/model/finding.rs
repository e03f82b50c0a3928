//! What a check finds in a tensor.

use nonfinite::Format;

use super::number;

/// The count of the numbers of one kind, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// The number of them.
    pub count: u64,
    /// The first one in the order of the file.
    pub first: Option<First>,
}

/// The first number of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct First {
    /// The index of the number among the numbers that were looked at, in the order of the file. In
    /// lists of varying length, the row.
    pub place: usize,
    /// The coordinate of the element. For a scale, the coordinate of the first element of its
    /// block.
    pub coordinate: Vec<usize>,
    /// The bits of the number, in the low bits.
    pub bits: u64,
    /// The format of the number.
    pub format: Format,
    /// The part of the element (of a complex number), or the name of the scale of the block.
    pub part: Option<&'static str>,
}

impl First {
    /// A number at a place.
    pub(crate) const fn new(
        place: usize,
        coordinate: Vec<usize>,
        bits: u64,
        format: Format,
        part: Option<&'static str>,
    ) -> Self {
        Self { place, coordinate, bits, format, part }
    }

    /// Whether a NaN is quiet. None for infinities, and for formats without that distinction.
    #[must_use]
    pub fn quiet(&self) -> Option<bool> {
        number::is_quiet(self.bits, self.format)
    }

    /// The bits in hexadecimal, all digits of the format.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("0x{:0width$x}", self.bits, width = 2 * self.format.size_in_bytes())
    }
}

/// The minimum, the maximum, or the maximum magnitude of a tensor. Of several equal numbers, the
/// first in the order of the file. -0 and +0 are equal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extreme {
    /// The number, exactly.
    pub value: f64,
    /// The coordinate of the element. For a scale, the coordinate of the first element of its
    /// block. In lists of varying length, the row.
    pub coordinate: Vec<usize>,
    /// The part of the element (of a complex number), or the name of the scale of the block.
    pub part: Option<&'static str>,
}

impl Extreme {
    /// A number at a coordinate.
    pub(crate) const fn new(
        value: f64,
        coordinate: Vec<usize>,
        part: Option<&'static str>,
    ) -> Self {
        Self { value, coordinate, part }
    }
}

/// The finite numbers of a tensor. Of quantised tensors, the scales.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// The minimum. None without a finite number.
    pub min: Option<Extreme>,
    /// The maximum. None without a finite number.
    pub max: Option<Extreme>,
    /// The maximum magnitude (absolute value). None without a finite number.
    pub max_abs: Option<Extreme>,
    /// How many zeros there are, of either sign.
    pub zeros: u64,
    /// How many subnormal numbers there are: not zero, and nearer to it than every normal number.
    pub subnormals: u64,
    /// How many normal numbers there are.
    pub normals: u64,
}

/// Finite numbers of a larger magnitude than [`Options::max_abs`](crate::Options::max_abs).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Large {
    /// How many there are.
    pub count: u64,
    /// The bound.
    pub bound: f64,
    /// The maximum magnitude, without its sign.
    pub largest: Extreme,
    /// Whether they are allowed, and do not make the tensor bad.
    pub is_allowed: bool,
}

impl Large {
    /// This many numbers above a bound.
    pub(crate) const fn new(count: u64, bound: f64, largest: Extreme, is_allowed: bool) -> Self {
        Self { count, bound, largest, is_allowed }
    }
}
