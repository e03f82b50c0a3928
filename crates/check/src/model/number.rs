//! Codes of formats: the code of a value, and what a code says besides its value.

use nonfinite::Format;

/// The code of the nearest value to a finite number. Ties go to the even code. None if the number
/// is beyond the largest or the least value by half a step or more.
pub(crate) fn code(number: f64, format: Format) -> Option<u64> {
    let value = |code| format.to_f64(code);
    let (most, least) = (format.max_bits(), format.min_bits());
    // E8M0 has no sign. Otherwise the least number has the sign, and the bits of the largest.
    let sign = if least > most { least & !most } else { 0 };
    if sign == 0 && number <= value(0) - (value(1) - value(0)) / 2.0 {
        return None;
    }
    let magnitude = number.abs();
    // The codes of positive numbers rise with the numbers. Find the last code whose value is not
    // greater.
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if value(middle) <= magnitude {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let code = if magnitude == value(low) {
        low
    } else if low == most {
        let half_step = (value(low) - value(low - 1)) / 2.0;
        if magnitude - value(low) >= half_step {
            return None;
        }
        low
    } else {
        let middle = value(low) + (value(low + 1) - value(low)) / 2.0;
        low + u64::from(magnitude > middle || magnitude == middle && low % 2 == 1)
    };
    // The formats named `UZ` have no -0: the code of -0 is their NaN.
    let has_code = code != 0 || value(sign).is_finite();
    Some(if number.is_sign_negative() && has_code { code | sign } else { code })
}

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

    fn value(code: u64, format: Format) -> f64 {
        format.to_f64(code)
    }

    fn is_finite(code: u64, format: Format) -> bool {
        value(code, format).is_finite()
    }

    /// The value of every finite code has this code.
    #[test]
    fn codes_of_values() {
        for format in Format::ALL.iter().copied() {
            for code in all_codes(format).filter(|&code| is_finite(code, format)) {
                assert_eq!(super::code(value(code, format), format), Some(code), "{format}");
            }
        }
    }

    /// Half way between two codes, the even code is taken. The next smaller and the next greater
    /// f64 get the nearer code.
    #[test]
    fn rounding() {
        for format in Format::ALL.iter().copied().filter(|&format| format != Format::F64) {
            let step = (format.max_bits() >> 15) as usize + 1;
            for low in (0..format.max_bits()).step_by(step) {
                let middle = (value(low, format) + value(low + 1, format)) / 2.0;
                assert_eq!(code(middle.next_down(), format), Some(low), "{format} {low:#x}");
                assert_eq!(code(middle, format), Some(low + low % 2), "{format} {low:#x}");
                assert_eq!(code(middle.next_up(), format), Some(low + 1), "{format} {low:#x}");
            }
        }
    }

    /// ml_dtypes 0.6 makes these numbers infinite or NaN, and smaller ones the largest.
    #[test]
    fn beyond_the_largest_value() {
        for (format, number) in [
            (Format::F8E4M3Fn, 464.0f64),
            (Format::F8E5M2, 61440.0),
            (Format::F8E4M3FnUz, 248.0),
            (Format::F16, 65520.0),
        ] {
            assert_eq!(code(number.next_down(), format), Some(format.max_bits()), "{format}");
            assert_eq!([code(number, format), code(-number, format)], [None; 2], "{format}");
        }
    }

    /// E8M0 has neither zero nor negative numbers (OCP MX 1.0, section 5.4.1): its least value is
    /// 2^-127. A number that is smaller by half a step or more has no code.
    #[test]
    fn below_the_least_value() {
        let code = |number| code(number, Format::F8E8M0Fnu);
        let least = 2f64.powi(-127);
        assert_eq!([code(least), code((least / 2.0).next_up())], [Some(0); 2]);
        for number in [least / 2.0, least / 3.0, 0.0, -0.0, -least, -1.0] {
            assert_eq!(code(number), None, "{number:e}");
        }
    }

    /// Oracle: the standard library.
    #[test]
    fn rounding_to_f32() {
        for exponent in -150..128 {
            for mantissa in [0x1000_0000u64, 0x1000_0001, 0x3000_0000, 0xF_FFFF_F000_0000, 7] {
                let number = -f64::from_bits(2f64.powi(exponent).to_bits() | mantissa);
                let rounded = number as f32;
                let expected = rounded.is_finite().then(|| rounded.to_bits().into());
                assert_eq!(code(number, Format::F32), expected, "{number:e}");
            }
        }
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
            let fits = |code| is_finite(code, format) || code & beyond == beyond;
            assert!(all_codes(format).all(fits), "{format}");
        }
    }
}
