//! The code of a number in a format.

use nonfinite::{Format, Replacement};

/// The code of the element nearest to `number`, ties to even, as the casts of numpy and ml_dtypes
/// round: above the range it is infinity, in formats without infinity NaN, and in formats without
/// both the largest number. `None` for NaN in formats without NaN.
pub(crate) fn encode(format: Format, number: f64) -> Option<u64> {
    match format {
        Format::F64 => return Some(number.to_bits()),
        Format::F32 => return Some((number as f32).to_bits().into()),
        _ => {}
    }
    let finite = Replacement::finite_bits(format);
    let sign = sign_of(format);
    if number.is_nan() || (sign == 0 && number < 0.0) {
        return nan(format);
    }
    let (magnitude, most) = (number.abs(), finite.pos_inf);
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if format.to_f64(middle) <= magnitude {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let below = format.to_f64(low);
    let code = if low == most {
        // The next step of the same size would be the first number that is too large.
        let step = below - format.to_f64(most - 1);
        let (middle, odd) = (below + step / 2.0, most % 2 == 1);
        if magnitude > middle || (magnitude == middle && odd) {
            return above(format, number < 0.0, sign);
        }
        low
    } else {
        let above = format.to_f64(low + 1);
        let (down, up) = (magnitude - below, above - magnitude);
        low + u64::from(up < down || (up == down && low % 2 == 1))
    };
    let zero_without_sign = code == 0 && nan(format) == Some(sign);
    Some(if number.is_sign_negative() && !zero_without_sign { code | sign } else { code })
}

/// The bit of the sign, or 0.
fn sign_of(format: Format) -> u64 {
    match format {
        Format::F8E8M0Fnu => 0,
        Format::F4E2M1Fn => 0x08,
        Format::F6E2M3Fn | Format::F6E3M2Fn => 0x20,
        format => 1 << (8 * format.size_in_bytes() - 1),
    }
}

/// The code of a number above the range.
fn above(format: Format, negative: bool, sign: u64) -> Option<u64> {
    let most = Replacement::finite_bits(format).pos_inf;
    let sign = if negative { sign } else { 0 };
    if format.to_f64(most + 1) == f64::INFINITY {
        return Some(sign | (most + 1));
    }
    match nan(format) {
        Some(nan) => Some(nan | sign),
        None => Some(most | sign),
    }
}

/// The code of a quiet NaN.
fn nan(format: Format) -> Option<u64> {
    match format {
        Format::F64 => Some(f64::NAN.to_bits()),
        Format::F32 => Some(f32::NAN.to_bits().into()),
        Format::F16 => Some(0x7E00),
        Format::Bf16 => Some(0x7FC0),
        Format::F8E5M2 => Some(0x7E),
        Format::F8E4M3 => Some(0x7C),
        Format::F8E3M4 => Some(0x78),
        _ => {
            let mut codes = (0..0x80).chain(0x80..=0xFF);
            codes.find(|&code| format.to_f64(code).is_nan())
        }
    }
}
