//! How the codes of a format are ordered, and which are zero or subnormal.
//!
//! ```text
//! magnitude = bits & !sign                    integers of the same order as absolute values
//! key       = magnitude, or -magnitude        integers of the same order as values; -0 equals +0
//! ```

use crate::rule::{Comparison, Rule};

/// How the codes of a format are ordered, and which are zero or subnormal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The comparisons for NaN and for what is not finite; without hits if nothing is.
    nan: Comparison,
    non_finite: Comparison,
    /// The bit of the sign, or 0.
    sign: u64,
    /// The bits of the magnitude.
    magnitude: u64,
    /// The magnitude of the least normal number, or 0 if there is neither zero nor a subnormal one.
    least_normal: u64,
}

impl Numbers {
    /// The numbers of a format: the rules for NaN and for NaN or infinity, the bit of the sign (0
    /// if there is none), the bits of the magnitude, and the magnitude of the least normal number
    /// (0 if the format has neither zero nor subnormal numbers). A format without a sign has no
    /// zero either.
    ///
    /// # Panics
    /// If the rules are of different widths, or are negated, constant and true, or of two
    /// comparisons; or if elements are wider than a byte and the rules are not those of an IEEE
    /// format, whose exponent is all ones for NaN and infinity.
    #[must_use]
    pub const fn new(
        nan: Rule,
        non_finite: Rule,
        sign: u64,
        magnitude: u64,
        least_normal: u64,
    ) -> Self {
        let (nan, non_finite) = (comparison(nan), comparison(non_finite));
        assert!(nan.size() == non_finite.size(), "two rules for elements of one width");
        let ieee = nan.is_ieee() && non_finite.is_ones_of(&nan);
        assert!(nan.size() == 1 || ieee, "wider elements are of IEEE formats");
        Self { nan, non_finite, sign, magnitude, least_normal }
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.nan.size()
    }

    #[inline(always)]
    pub(crate) fn nan(&self) -> &Comparison {
        &self.nan
    }

    #[inline(always)]
    pub(crate) fn non_finite(&self) -> &Comparison {
        &self.non_finite
    }

    #[inline(always)]
    pub(crate) fn sign(&self) -> u64 {
        self.sign
    }

    #[inline(always)]
    pub(crate) fn magnitude(&self) -> u64 {
        self.magnitude
    }

    /// What magnitudes are xored with, so that they are signed integers of the same order: the top
    /// bit, where a format without a sign uses that.
    #[inline(always)]
    pub(crate) fn flip(&self) -> u64 {
        if self.sign == 0 { 1 << (8 * self.size() - 1) } else { 0 }
    }

    /// The magnitude of the least normal number.
    #[inline(always)]
    pub(crate) fn least_normal(&self) -> u64 {
        self.least_normal
    }

    /// A signed integer for the code of a finite number, in the order of values.
    #[inline(always)]
    pub(crate) fn key(&self, bits: u64) -> i64 {
        let up = 64 - 8 * self.size() as u32;
        let magnitude = ((bits & self.magnitude ^ self.flip()) << up).cast_signed() >> up;
        if bits & self.sign == 0 { magnitude } else { -magnitude }
    }

    /// Whether the element counts as [`Tally::zeros`], as [`Tally::small`] and as
    /// [`Tally::non_finite`].
    #[inline(always)]
    pub(crate) fn counts(&self, bits: u64) -> [bool; 3] {
        let magnitude = bits & self.magnitude;
        [magnitude == 0, magnitude < self.least_normal, self.non_finite.holds(bits)]
    }

    /// Whether -0 has the code of NaN.
    #[inline(always)]
    pub(crate) fn nan_is_negative_zero(&self) -> bool {
        self.sign != 0 && self.non_finite.holds(self.sign)
    }

    /// Whether there are two codes of this key: those of +0 and -0.
    pub(crate) fn has_two_codes(&self, key: i64) -> bool {
        key == 0 && self.sign != 0 && !self.nan_is_negative_zero()
    }

    /// The code of this key. Of zero that of +0.
    pub(crate) fn code(&self, key: i64) -> u64 {
        if self.sign == 0 {
            return (key.cast_unsigned() ^ self.flip()) & self.magnitude;
        }
        key.unsigned_abs() | if key < 0 { self.sign } else { 0 }
    }

    /// The rule for the elements of a code.
    pub(crate) fn has_code(&self, code: u64) -> Rule {
        Rule::equal(self.size(), self.magnitude | self.sign, code)
    }

    /// The comparison for the elements of this key.
    pub(crate) fn has_key(&self, key: i64) -> Comparison {
        if self.has_two_codes(key) {
            return comparison(Rule::equal(self.size(), self.magnitude, 0));
        }
        comparison(self.has_code(self.code(key)))
    }

    /// The codes that cannot change the lowest and the highest key, and are neither zero,
    /// subnormal, NaN nor infinite.
    ///
    /// ```text
    /// of both signs   least normal number <= magnitude <= the smaller of both largest magnitudes
    /// of one sign     lowest or least normal number <= code <= highest
    /// ```
    pub(crate) fn range(&self, [lowest, highest]: [i64; 2]) -> Option<Range> {
        let both = self.magnitude | self.sign;
        let range = |mask, low: u64, high: u64| {
            high.checked_sub(low).map(|width| Range { mask, low, width })
        };
        let (low, high) = (lowest.unsigned_abs(), highest.unsigned_abs());
        let least = self.least_normal;
        if self.sign == 0 {
            range(both, self.code(lowest), self.code(highest))
        } else if lowest >= 0 {
            range(both, low.max(least), high)
        } else if highest <= 0 {
            range(both, self.sign | high.max(least), self.sign | low)
        } else {
            range(self.magnitude, least, low.min(high))
        }
    }

    /// Whether the top bit of a code is a sign, and both codes without other bits are zeros. Then
    /// codes as integers have the order of numbers: unsigned ones among numbers of one sign, and
    /// signed ones among numbers that are not negative.
    #[inline(always)]
    pub(crate) fn is_sign_magnitude(&self) -> bool {
        self.sign == 1 << (8 * self.size() - 1) && !self.nan_is_negative_zero()
    }
}

/// The comparison of a rule; one that never holds for a constant that is false.
const fn comparison(rule: Rule) -> Comparison {
    let rule = match rule {
        Rule::Constant { answer: false, size } => Rule::equal(size, 0, 1),
        rule => rule,
    };
    match rule {
        Rule::Comparison(comparison) if !comparison.negate() => comparison,
        _ => panic!("a rule of one comparison"),
    }
}

/// The codes for which `(bits & mask) - low`, without a sign, is at most `width`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) mask: u64,
    pub(crate) low: u64,
    pub(crate) width: u64,
}

impl Range {
    /// A range of the upper halves of codes of 64 bits that lies in this one.
    pub(crate) fn upper_halves(self) -> Option<Self> {
        let low = self.low.div_ceil(1 << 32);
        let high = ((self.low + self.width).wrapping_add(1) >> 32).checked_sub(1)?;
        Some(Self { mask: self.mask >> 32, low, width: high.checked_sub(low)? })
    }
}
