//! The numbers of each format: the value of a code, and the code of a value.

use nonfinite::{Format, Predicate, TensorView};

/// The layout of a number. From the high bits down: a sign (or none), an exponent and a mantissa.
struct Number {
    format: Format,
    /// 1, or 0 for a format without negative numbers.
    sign_bits: u32,
    exponent_bits: u32,
    mantissa_bits: u32,
    /// The exponent field of numbers from 1 up to 2.
    bias: i32,
    /// Whether the highest bit of the mantissa tells quiet NaNs from signalling ones.
    has_quiet_bit: bool,
}

const fn row(format: Format, bits: (u32, u32, u32), bias: i32, has_quiet_bit: bool) -> Number {
    let (sign_bits, exponent_bits, mantissa_bits) = bits;
    Number { format, sign_bits, exponent_bits, mantissa_bits, bias, has_quiet_bit }
}

/// A row for each format, in the order of [`Format::ALL`]. Sources: IEEE 754, OCP OFP8 1.0, OCP MX
/// 1.0, and ml_dtypes for the others.
static NUMBERS: [Number; Format::ALL.len()] = [
    row(Format::F16, (1, 5, 10), 15, true),
    row(Format::Bf16, (1, 8, 7), 127, true),
    row(Format::F32, (1, 8, 23), 127, true),
    row(Format::F64, (1, 11, 52), 1023, true),
    row(Format::F8E4M3Fn, (1, 4, 3), 7, false),
    row(Format::F8E4M3FnUz, (1, 4, 3), 8, false),
    row(Format::F8E5M2, (1, 5, 2), 15, false),
    row(Format::F8E5M2FnUz, (1, 5, 2), 16, false),
    row(Format::F8E4M3, (1, 4, 3), 7, false),
    row(Format::F8E3M4, (1, 3, 4), 3, false),
    row(Format::F8E4M3B11FnUz, (1, 4, 3), 11, false),
    row(Format::F8E8M0Fnu, (0, 8, 0), 127, false),
    row(Format::F4E2M1Fn, (1, 2, 1), 1, false),
    row(Format::F6E2M3Fn, (1, 2, 3), 1, false),
    row(Format::F6E3M2Fn, (1, 3, 2), 3, false),
];

// `Format` is non-exhaustive here, so no `match` can list all formats. Instead this assertion and
// the length of the table stop the build when a format of `nonfinite` has no row.
const _: () = {
    let mut i = 0;
    while i < NUMBERS.len() {
        assert!(NUMBERS[i].format as usize == i, "a row for each format, in the order of the enum");
        i += 1;
    }
};

fn number(format: Format) -> &'static Number {
    &NUMBERS[format as usize]
}

/// The value of the code of a finite number. Bits above those of the format are ignored.
pub(crate) fn value(code: u64, format: Format) -> f64 {
    let &Number { sign_bits, exponent_bits, mantissa_bits, bias, .. } = number(format);
    let field = |at: u32, bits: u32| code >> at & ((1 << bits) - 1);
    let exponent = field(mantissa_bits, exponent_bits) as i32;
    let fraction = field(0, mantissa_bits) as f64 / (1u64 << mantissa_bits) as f64;
    // A format without a mantissa has no zero: its exponent 0 is a power of two like the others.
    let magnitude = if exponent == 0 && mantissa_bits > 0 {
        fraction * power_of_two(1 - bias)
    } else {
        (1.0 + fraction) * power_of_two(exponent - bias)
    };
    if field(exponent_bits + mantissa_bits, sign_bits) == 1 { -magnitude } else { magnitude }
}

/// Two to this power, which is from -1022 to 1023. Exact, unlike `exp2`, whose precision differs
/// between platforms.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The code of the nearest value to a finite number. Ties go to the even code. None if the number
/// is beyond the largest or the least value by half a step or more.
pub(crate) fn code(number: f64, format: Format) -> Option<u64> {
    let value = |code| value(code, format);
    let &Number { sign_bits, exponent_bits, mantissa_bits, .. } = self::number(format);
    if sign_bits == 0 && number <= value(0) - (value(1) - value(0)) / 2.0 {
        return None;
    }
    let magnitude = number.abs();
    // The codes of positive numbers rise with the numbers. Find the last code whose value is not
    // greater.
    let (mut low, mut high) = (0, format.max_bits());
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
    } else if low == format.max_bits() {
        let half_step = (value(low) - value(low - 1)) / 2.0;
        if magnitude - value(low) >= half_step {
            return None;
        }
        low
    } else {
        let middle = value(low) + (value(low + 1) - value(low)) / 2.0;
        low + u64::from(magnitude > middle || magnitude == middle && low % 2 == 1)
    };
    let negative = u64::from(number.is_sign_negative()) << (exponent_bits + mantissa_bits);
    // The formats named `UZ` have no -0: the code of -0 is their NaN.
    let has_code = sign_bits == 1 && (code != 0 || is_finite(negative, format));
    Some(if has_code { code | negative } else { code })
}

/// Whether a code stands for a finite number.
pub(crate) fn is_finite(code: u64, format: Format) -> bool {
    let size = format.size_in_bytes();
    let bytes = code.to_ne_bytes();
    let bytes = if cfg!(target_endian = "big") { &bytes[8 - size..] } else { &bytes[..size] };
    TensorView::from_bytes(bytes, format).is_ok_and(|x| x.all(Predicate::Finite))
}

/// The code after the largest finite number. Every NaN and infinity has all of these bits set, and
/// the bits are adjacent.
pub(crate) const fn first_beyond(format: Format) -> u64 {
    format.max_bits() + 1
}

/// Whether a NaN is quiet. None for infinities, and for formats without that distinction.
pub(crate) fn is_quiet(code: u64, format: Format) -> Option<bool> {
    let &Number { mantissa_bits, has_quiet_bit, .. } = number(format);
    let is_nan = has_quiet_bit && code & ((1 << mantissa_bits) - 1) != 0;
    is_nan.then(|| code >> (mantissa_bits - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    /// All codes. For formats wider than 16 bits, the codes with zeros in the lower bits.
    fn all_codes(format: Format) -> impl Iterator<Item = u64> {
        let Number { sign_bits, exponent_bits, mantissa_bits, .. } = number(format);
        let bits = sign_bits + exponent_bits + mantissa_bits;
        (0..1 << bits.min(16)).map(move |code| code << bits.saturating_sub(16))
    }

    /// Oracle: the standard library and `half`.
    #[test]
    fn values_of_wide_formats() {
        for code in all_codes(Format::F16).filter(|&code| is_finite(code, Format::F16)) {
            let expected = f16::from_bits(code as u16).to_f64();
            assert_eq!(value(code, Format::F16).to_bits(), expected.to_bits(), "{code:#x}");
        }
        for code in all_codes(Format::Bf16).filter(|&code| is_finite(code, Format::Bf16)) {
            let expected = bf16::from_bits(code as u16).to_f64();
            assert_eq!(value(code, Format::Bf16).to_bits(), expected.to_bits(), "{code:#x}");
        }
        for number in [0.0, -0.0, 1.0, -1.5, f32::MAX, f32::MIN, 1e-45, -1.1e-38, f32::EPSILON] {
            let value = value(number.to_bits().into(), Format::F32);
            assert_eq!(value.to_bits(), f64::from(number).to_bits());
        }
        for number in [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::MIN, 5e-324, -2e-308, f64::EPSILON] {
            assert_eq!(value(number.to_bits(), Format::F64).to_bits(), number.to_bits());
            assert_eq!(code(number, Format::F64), Some(number.to_bits()));
        }
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

    /// E8M0 has neither zero nor negative numbers (OCP MX 1.0, section 5.4.1): its least value is
    /// 2^-127. A number that is smaller by half a step or more has no code.
    #[test]
    fn below_the_least_value() {
        let code = |number| code(number, Format::F8E8M0Fnu);
        let least = power_of_two(-127);
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
                let number = -f64::from_bits(power_of_two(exponent).to_bits() | mantissa);
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
