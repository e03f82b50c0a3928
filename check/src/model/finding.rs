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

/// The least and the greatest finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least. Of two zeros, the negative one is less.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Range {
    /// The range that covers both.
    pub(crate) fn union(self, other: Self) -> Self {
        let less = |a: f64, b: f64| if b.total_cmp(&a).is_lt() { b } else { a };
        Self { min: less(self.min, other.min), max: -less(-self.max, -other.max) }
    }
}
