//! Codes of formats: what a code says besides its value.

use nonfinite::Format;

/// The code after the largest finite number. Every NaN and infinity has all of these bits set, and
/// the bits are adjacent.
pub(crate) const fn first_beyond(format: Format) -> u64 {
    format.max_bits() + 1
}

/// Whether a NaN is quiet. None for infinities, and for formats without that distinction.
pub(crate) fn is_quiet(code: u64, format: Format) -> Option<bool> {
    if !matches!(format, Format::F16 | Format::Bf16 | Format::F32 | Format::F64) {
        return None;
    }
    // The code of infinity has a mantissa of zeros below its exponent.
    let mantissa_bits = first_beyond(format).trailing_zeros();
    let is_nan = code & ((1 << mantissa_bits) - 1) != 0;
    is_nan.then(|| code >> (mantissa_bits - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All codes. For formats wider than 16 bits, the codes with zeros in the lower bits.
    fn all_codes(format: Format) -> impl Iterator<Item = u64> {
        let bits = 64 - (format.max_bits() | format.min_bits()).leading_zeros();
        (0..1 << bits.min(16)).map(move |code| code << bits.saturating_sub(16))
    }

    /// IEEE 754-2019, section 6.2.1: the first bit of the mantissa is 1 in a quiet NaN.
    #[test]
    fn quiet_and_signalling() {
        for (format, infinity, quiet) in [
            (Format::F16, 0x7C00, 0x200),
            (Format::Bf16, 0x7F80, 0x40),
            (Format::F32, 0x7F80_0000, 0x40_0000),
            (Format::F64, 0x7FF0 << 48, 1 << 51),
        ] {
            assert_eq!(is_quiet(infinity, format), None);
            for mantissa in [quiet, quiet | 1, 2 * quiet - 1] {
                assert_eq!(is_quiet(infinity | mantissa, format), Some(true), "{format}");
            }
            for mantissa in [1, quiet / 2, quiet - 1] {
                assert_eq!(is_quiet(infinity | mantissa, format), Some(false), "{format}");
            }
        }
        // OCP OFP8 does not tell them apart.
        assert_eq!(is_quiet(0x7E, Format::F8E5M2), None);
    }

    #[test]
    fn bits_of_codes_that_are_not_finite() {
        for format in Format::ALL.iter().copied() {
            let beyond = first_beyond(format);
            let bits = beyond >> beyond.trailing_zeros();
            assert_eq!(bits & (bits + 1), 0, "{format}: neighbours");
            let fits = |code| format.to_f64(code).is_finite() || code & beyond == beyond;
            assert!(all_codes(format).all(fits), "{format}");
        }
    }
}
