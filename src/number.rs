//! The values of the codes of a format.

use nonfinite_kernels::Rule;

use crate::Format;
use crate::format::Special;

/// The bits of a positive infinity of f64, and the bit of its sign.
const INFINITY: u64 = f64::INFINITY.to_bits();
const SIGN: u64 = 1 << 63;

impl Format {
    /// The number that has this code, exactly. Bits above those of the format are ignored. Every
    /// NaN gives [`f64::NAN`]. No floating-point instruction touches the number, so flush-to-zero
    /// modes change nothing.
    ///
    /// Sources: IEEE 754-2019 section 3.4, OCP OFP8 1.0, OCP MX 1.0, and ml_dtypes for the formats
    /// that no standard has.
    ///
    /// ```
    /// use nonfinite::Format;
    /// assert_eq!(Format::F16.to_f64(0x7BFF), 65504.0);
    /// assert_eq!(Format::F8E4M3FnUz.to_f64(0xFF), -240.0);
    /// assert_eq!(Format::F32.to_f64(1), 2.0f64.powi(-149));
    /// ```
    #[must_use]
    pub const fn to_f64(self, bits: u64) -> f64 {
        let row = self.row();
        let magnitude = bits & self.magnitude();
        let negative = bits & self.sign() != 0;
        let positive = match row.special {
            Special::Ieee { exponent } if magnitude > exponent => return f64::NAN,
            Special::Ieee { exponent } if magnitude == exponent => INFINITY,
            Special::NanOnes { bits } if magnitude == bits as u64 => return f64::NAN,
            Special::NanCode { code } if bits & 0xFF == code as u64 => return f64::NAN,
            _ => self.widen(magnitude),
        };
        f64::from_bits(positive | (negative as u64) << 63)
    }

    /// The bits of the f64 that equals a finite magnitude.
    const fn widen(self, magnitude: u64) -> u64 {
        let (mantissa, bias) = (self.row().mantissa, self.row().bias);
        let exponent = (magnitude >> mantissa) as i64 + 1023 - bias as i64;
        let fraction = magnitude & ((1 << mantissa) - 1);
        if self.least_normal() <= magnitude {
            return (exponent as u64) << 52 | fraction << (52 - mantissa);
        }
        if matches!(self, Self::F64) || magnitude == 0 {
            return magnitude;
        }
        // Subnormal: the highest bit that is set becomes the 1 before the point.
        let top = magnitude.ilog2();
        let exponent = 1024 - bias as i64 + top as i64 - mantissa as i64;
        (exponent as u64) << 52 | (magnitude << (52 - top)) & ((1 << 52) - 1)
    }

    /// The bit of the sign, or 0.
    pub(crate) const fn sign(self) -> u64 {
        let row = self.row();
        if row.mantissa == 0 { 0 } else { row.finite[0] ^ row.finite[1] }
    }

    /// The bits of a magnitude.
    pub(crate) const fn magnitude(self) -> u64 {
        match self.sign() {
            0 => u64::MAX >> (64 - 8 * self.size_in_bytes()),
            sign => sign - 1,
        }
    }

    /// The magnitude of the least normal number, or 0 if all numbers are normal.
    pub(crate) const fn least_normal(self) -> u64 {
        match self.row().mantissa {
            0 => 0,
            mantissa => 1 << mantissa,
        }
    }

    /// The code of the largest magnitude that is not above `threshold`, which is not negative and
    /// finite; 0 is not.
    const fn largest_up_to(self, threshold: f64) -> u64 {
        // As f64 without a sign, numbers have the order of their bits.
        let (threshold, mut low, mut high) = (threshold.to_bits() & (SIGN - 1), 0, self.max_bits());
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.widen(middle) <= threshold {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

/// The number of [`crate::Predicate::exceeds`], for elements of one format.
///
/// Two thresholds are equal if the same elements of the same format exceed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    format: Format,
    /// The code of the largest magnitude that does not exceed.
    code: u64,
}

impl Threshold {
    /// `None` if the threshold is negative or not finite, or if the format has no thresholds.
    pub(crate) const fn new(format: Format, threshold: f64) -> Option<Self> {
        // Compares integers: a floating-point comparison of a subnormal or signalling threshold
        // sets a flag. A finite number without a sign has lower bits than infinity.
        let bits = threshold.to_bits();
        if (bits < INFINITY || bits == SIGN) && format.why_no_threshold().is_none() {
            Some(Self { format, code: format.largest_up_to(threshold) })
        } else {
            None
        }
    }

    /// The format of the elements.
    #[must_use]
    pub const fn format(self) -> Format {
        self.format
    }

    /// The largest magnitude of this format that does not exceed the threshold: the threshold
    /// itself, if the format has it.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.format.to_f64(self.code)
    }

    /// The rule for magnitudes above the threshold, of elements of `format`, which have `size`
    /// bytes and these bits of a magnitude.
    ///
    /// # Panics
    /// If the threshold is for another format. The message is not that of [`Error`], which would
    /// link all messages.
    // A caller that knows the format passes constants, and links no table of formats.
    #[inline(never)]
    #[track_caller]
    pub(crate) fn rule(self, format: Format, size: usize, magnitude: u64) -> Rule {
        let threshold = self.format;
        assert!(
            threshold == format,
            "a threshold for {threshold} elements, but the elements are {format}"
        );
        Rule::greater(size, magnitude, self.code)
    }

    /// [`Threshold::rule`] by the table of formats.
    #[inline(never)]
    #[track_caller]
    pub(crate) fn rule_for(self, format: Format) -> Rule {
        self.rule(format, format.size_in_bytes(), format.magnitude())
    }
}
