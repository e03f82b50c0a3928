//! The values of the codes of a format.

use nonfinite_kernels::{Numbers, Rule};

use crate::format::Special;
use crate::{Format, Predicate};

/// The bits of a positive infinity of f64.
const INFINITY: u64 = f64::INFINITY.to_bits();

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
    pub(crate) const fn widen(self, magnitude: u64) -> u64 {
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
    const fn magnitude(self) -> u64 {
        match self.sign() {
            0 => u64::MAX >> (64 - 8 * self.size_in_bytes()),
            sign => sign - 1,
        }
    }

    /// The magnitude of the least normal number, or 0 if all numbers are normal.
    const fn least_normal(self) -> u64 {
        match self.row().mantissa {
            0 => 0,
            mantissa => 1 << mantissa,
        }
    }

    /// The order of the codes, as the kernels have it.
    pub(crate) const fn numbers(self) -> &'static Numbers {
        &NUMBERS[self as usize]
    }

    pub(crate) const fn make_numbers(self) -> Numbers {
        let (nan, special) = (*self.rule(Predicate::Nan), *self.rule(Predicate::NonFinite));
        let (magnitude, largest) = (self.magnitude(), self.max_bits());
        Numbers::new(nan, special, self.sign(), magnitude, self.least_normal(), largest)
    }

    /// The rule for elements whose magnitude is above `threshold`, which is not negative and
    /// finite, and for infinities and NaN. `None` for the format without a sign.
    pub(crate) fn exceeds(self, threshold: f64) -> Option<Rule> {
        if self.sign() == 0 {
            return None;
        }
        // Searches for the largest magnitude that is not above the threshold; 0 is not. As f64
        // without a sign, numbers have the order of their bits.
        let (mut low, mut high) = (0, self.max_bits());
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.widen(middle) <= threshold.to_bits() & (i64::MAX as u64) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Some(Rule::greater(self.size_in_bytes(), self.magnitude(), low))
    }

    /// Whether the code of NaN is that of -0, whose magnitude exceeds nothing.
    pub(crate) const fn nan_is_minus_zero(self) -> bool {
        self.sign() != 0 && matches!(self.row().special, Special::NanCode { .. })
    }
}

/// The order of the codes of each format.
static NUMBERS: [Numbers; Format::ALL.len()] = {
    let mut all = [Format::F16.make_numbers(); Format::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = Format::ALL[i].make_numbers();
        i += 1;
    }
    all
};
