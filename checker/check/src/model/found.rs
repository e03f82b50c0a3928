//! The numbers that a check finds in a tensor.

use nonfinite::Format;
use serde::{Deserialize, Serialize};

use super::codes;

/// The count of the numbers of one kind, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindReport {
    /// The number of them.
    pub count: u64,
    /// The first one in the order of the file. In a box, since most tensors have none.
    pub first: Option<Box<First>>,
}

/// The first number of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct First {
    /// The index of the number among the numbers that were looked at, in the order of the file.
    pub place: u64,
    /// The coordinate of the element. For a scale, the coordinate of the first element of its
    /// block.
    pub coordinate: Vec<u64>,
    /// The bits of the number, in the low bits.
    pub bits: u64,
    /// The format of the number.
    pub format: Format,
    /// The part of the element (of a complex number), or the name of the scale of the block.
    pub part: Option<&'static str>,
}

impl First {
    /// Whether a NaN is quiet. None for infinities, and for formats without that distinction.
    #[must_use]
    pub fn quiet(&self) -> Option<bool> {
        codes::is_quiet(self.bits, self.format)
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
    /// block.
    pub coordinate: Vec<u64>,
    /// The part of the element (of a complex number), or the name of the scale of the block.
    pub part: Option<&'static str>,
}

/// The finite numbers of a tensor. Of quantised tensors, the scales. `T` is a number and its place,
/// or a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats<T = Extreme> {
    /// The minimum. None without a finite number.
    pub min: Option<T>,
    /// The maximum. None without a finite number.
    pub max: Option<T>,
    /// The maximum magnitude (absolute value). None without a finite number.
    pub max_abs: Option<T>,
    /// How many zeros there are, of either sign.
    pub zeros: u64,
    /// How many subnormal numbers there are: not zero, and nearer to it than every normal number.
    pub subnormals: u64,
    /// How many normal numbers there are.
    pub normals: u64,
}

impl<T> Default for Stats<T> {
    fn default() -> Self {
        Self { min: None, max: None, max_abs: None, zeros: 0, subnormals: 0, normals: 0 }
    }
}

impl<T> Stats<T> {
    /// The same numbers in another form.
    pub(crate) fn map<U>(self, mut form: impl FnMut(T) -> U) -> Stats<U> {
        Stats {
            min: self.min.map(&mut form),
            max: self.max.map(&mut form),
            max_abs: self.max_abs.map(&mut form),
            zeros: self.zeros,
            subnormals: self.subnormals,
            normals: self.normals,
        }
    }

    /// The numbers of both. The functions choose among two minima, maxima and maximum magnitudes.
    pub(crate) fn merged(self, other: Self, [min, max, max_abs]: [fn(T, T) -> T; 3]) -> Self {
        let join = |a: Option<T>, b: Option<T>, choose: fn(T, T) -> T| match (a, b) {
            (Some(a), Some(b)) => Some(choose(a, b)),
            (a, b) => a.or(b),
        };
        // Views may have any length, so the sums saturate.
        Self {
            min: join(self.min, other.min, min),
            max: join(self.max, other.max, max),
            max_abs: join(self.max_abs, other.max_abs, max_abs),
            zeros: self.zeros.saturating_add(other.zeros),
            subnormals: self.subnormals.saturating_add(other.subnormals),
            normals: self.normals.saturating_add(other.normals),
        }
    }
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
    /// Whether they are allowed, or those of a mask, and do not make the tensor bad.
    pub is_allowed: bool,
}
