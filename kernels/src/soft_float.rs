//! Products of floating-point elements. Only this file and the `scale.rs` of each backend have
//! floating-point arithmetic.
//!
//! f16 and bf16 are widened to f32, multiplied, and rounded to nearest with ties to even. There are
//! no branches, so that the compiler can vectorise the code. Rounding makes a NaN quiet, and keeps
//! its sign and the upper bits of its payload (IEEE 754-2019, section 6.2.3).

/// The formats that can be multiplied, as constants, so that each loop is compiled for one format.
pub(crate) mod format {
    pub(crate) const F16: usize = 0;
    pub(crate) const BF16: usize = 1;
    pub(crate) const F32: usize = 2;
    pub(crate) const F64: usize = 3;
}

/// The bits of a product. `factor` is rounded to f32 except for [`format::F64`].
#[inline]
pub(crate) fn multiply<const F: usize>(bits: u64, factor: f64) -> u64 {
    let narrow = factor as f32;
    match F {
        format::F64 => (f64::from_bits(bits) * factor).to_bits(),
        format::F32 => (f32::from_bits(bits as u32) * narrow).to_bits().into(),
        format::F16 => narrow_f16(widen_f16(bits as u16) * narrow).into(),
        _ => narrow_bf16(widen_bf16(bits as u16) * narrow).into(),
    }
}

/// Exact.
#[inline(always)]
fn widen_f16(half: u16) -> f32 {
    // The exponent of an f32 minus the exponent of an f16 with the same value.
    const REBIAS: u32 = (127 - 15) << 23;
    const LEAST_NORMAL: u32 = REBIAS + (1 << 23);
    let bits = u32::from(half);
    let magnitude = (bits & 0x7FFF) << 13;
    let widened = if magnitude >= 0x7C00 << 13 {
        magnitude + 2 * REBIAS
    } else if magnitude >= 0x0400 << 13 {
        magnitude + REBIAS
    } else {
        // Converts the number as if it were normal, with a leading one, and subtracts this one
        // again. The subtraction is exact, and makes no subnormal f32.
        (f32::from_bits(magnitude + LEAST_NORMAL) - f32::from_bits(LEAST_NORMAL)).to_bits()
    };
    f32::from_bits(widened | (bits & 0x8000) << 16)
}

#[inline(always)]
fn narrow_f16(wide: f32) -> u16 {
    const REBIAS: u32 = (127 - 15) << 23;
    // From 2^16 on, the result is infinity. A smaller number that rounds up to 2^16 carries into
    // the exponent, and becomes infinity too.
    const TOO_LARGE: u32 = (127 + 16) << 23;
    const LEAST_NORMAL: u32 = REBIAS + (1 << 23);
    let bits = wide.to_bits();
    let magnitude = bits & 0x7FFF_FFFF;
    let narrowed = if magnitude > 0x7F80_0000 {
        0x7E00 | magnitude >> 13 & 0x3FF
    } else if magnitude >= TOO_LARGE {
        0x7C00
    } else if magnitude >= LEAST_NORMAL {
        (magnitude - REBIAS + 0xFFF + (magnitude >> 13 & 1)) >> 13
    } else {
        // The last bit of 0.5 has the weight of the last bit of a subnormal f16, so the addition
        // rounds correctly.
        (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()
    };
    (narrowed | bits >> 16 & 0x8000) as u16
}

/// Exact.
#[inline(always)]
fn widen_bf16(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

#[inline(always)]
fn narrow_bf16(wide: f32) -> u16 {
    let bits = wide.to_bits();
    let rounded = if bits & 0x7FFF_FFFF > 0x7F80_0000 {
        bits | 0x40_0000
    } else {
        bits + 0x7FFF + (bits >> 16 & 1)
    };
    (rounded >> 16) as u16
}
