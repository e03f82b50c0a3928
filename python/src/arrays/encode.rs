//! The code of a number in a format.

use nonfinite::Format;

/// The code of the element nearest to `number`, ties to even, as the casts of numpy and ml_dtypes
/// round: above the range it is infinity, in formats without infinity NaN, and in formats without
/// both the largest number. `None` for NaN in formats without NaN.
///
/// F8E8M0Fnu has neither a sign nor zero: negative numbers become NaN, and numbers near zero its
/// least number.
pub(crate) fn encode(format: Format, number: f64) -> Option<u64> {
    match format {
        Format::F64 => return Some(number.to_bits()),
        Format::F32 => return Some((number as f32).to_bits().into()),
        _ => {}
    }
    let most = format.max_bits();
    let has_sign = format != Format::F8E8M0Fnu;
    if number.is_nan() || (number < 0.0 && !has_sign) {
        return nan(format);
    }
    // The largest number has the same code with either sign, except for the bit of the sign.
    let sign_bit = if has_sign { most ^ format.min_bits() } else { 0 };
    let sign = if number.is_sign_negative() { sign_bit } else { 0 };
    let magnitude = number.abs();
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
    // Behind the largest number: the one that would follow if the range went on.
    let above = match (low == most, has_sign) {
        (false, _) => format.to_f64(low + 1),
        (true, true) => 2.0 * below - format.to_f64(low - 1),
        (true, false) => 2.0 * below,
    };
    // In F8E8M0Fnu the next number is twice this one, so it is the even one.
    let is_odd = low % 2 == 1 || !has_sign;
    let (down, up) = (magnitude - below, above - magnitude);
    match low + u64::from(up < down || (up == down && is_odd)) {
        // Formats with one zero have NaN in the place of -0.
        0 if nan(format) == Some(sign) => Some(0),
        code if code <= most => Some(code | sign),
        _ if format.to_f64(most + 1) == f64::INFINITY => Some((most + 1) | sign),
        _ => Some(nan(format).unwrap_or(most) | sign),
    }
}

/// The code of a quiet NaN. `None` if the format has no NaN.
fn nan(format: Format) -> Option<u64> {
    match format {
        Format::F16 => Some(0x7E00),
        Format::Bf16 => Some(0x7FC0),
        Format::F8E5M2 => Some(0x7E),
        Format::F8E4M3 => Some(0x7C),
        Format::F8E3M4 => Some(0x78),
        // The other formats have no signalling NaN.
        _ => (0..=0xFF).find(|&code| format.to_f64(code).is_nan()),
    }
}
