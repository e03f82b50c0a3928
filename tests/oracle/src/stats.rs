//! Statistics by arithmetic of f64, element by element.

use nonfinite::{Extreme, Format, Stats};

use crate::kind::{Kind, kind};

/// What the element with these bits is worth; NaN and infinities too.
#[must_use]
pub fn value(format: Format, bits: u64) -> f64 {
    match kind(format, bits) {
        Kind::Nan => return f64::NAN,
        Kind::PosInf => return f64::INFINITY,
        Kind::NegInf => return f64::NEG_INFINITY,
        Kind::Finite => {}
    }
    match format {
        Format::F64 => f64::from_bits(bits),
        Format::F32 => f32::from_bits(bits as u32).into(),
        Format::F16 => half::f16::from_bits(bits as u16).into(),
        Format::Bf16 => half::bf16::from_bits(bits as u16).into(),
        Format::F8E8M0Fnu => 2f64.powi(i32::from(bits as u8) - 127),
        Format::F8E4M3Fn | Format::F8E4M3 => by_digits(bits as u8, 4, 3, 7),
        Format::F8E4M3FnUz => by_digits(bits as u8, 4, 3, 8),
        Format::F8E4M3B11FnUz => by_digits(bits as u8, 4, 3, 11),
        Format::F8E5M2 => by_digits(bits as u8, 5, 2, 15),
        Format::F8E5M2FnUz => by_digits(bits as u8, 5, 2, 16),
        Format::F8E3M4 => by_digits(bits as u8, 3, 4, 3),
        Format::F4E2M1Fn => by_digits(bits as u8, 2, 1, 1),
        Format::F6E2M3Fn => by_digits(bits as u8, 2, 3, 1),
        Format::F6E3M2Fn => by_digits(bits as u8, 3, 2, 3),
        _ => unreachable!("a format without an oracle"),
    }
}

/// Sign, exponent and mantissa, taken apart by division.
fn by_digits(code: u8, exponent_bits: u32, mantissa_bits: u32, bias: i32) -> f64 {
    let (mantissas, exponents) = (1u32 << mantissa_bits, 1u32 << exponent_bits);
    let code = u32::from(code);
    let (mantissa, rest) = (code % mantissas, code / mantissas);
    let (exponent, rest) = (rest % exponents, rest / exponents);
    let (sign, fraction) = (if rest % 2 == 1 { -1.0 } else { 1.0 }, f64::from(mantissa));
    let fraction = fraction / f64::from(mantissas);
    match exponent {
        0 => sign * fraction * 2f64.powi(1 - bias),
        _ => sign * (1.0 + fraction) * 2f64.powi(exponent as i32 - bias),
    }
}

/// The smallest normal number, by the definitions of the formats.
fn least_normal(format: Format) -> f64 {
    2f64.powi(match format {
        Format::F64 => -1022,
        Format::F32 | Format::Bf16 => -126,
        Format::F16 | Format::F8E5M2 => -14,
        Format::F8E5M2FnUz => -15,
        Format::F8E4M3Fn | Format::F8E4M3 => -6,
        Format::F8E4M3FnUz => -7,
        Format::F8E4M3B11FnUz => -10,
        Format::F8E3M4 | Format::F6E3M2Fn => -2,
        Format::F4E2M1Fn | Format::F6E2M3Fn => 0,
        // All are normal.
        Format::F8E8M0Fnu => -127,
        _ => unreachable!("a format without an oracle"),
    })
}

/// Bits, value and index of a number.
pub type Number = (u64, f64, usize);

/// What [`Stats`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// NaN, +Inf, -Inf: how many, and the first.
    pub classes: [(usize, Option<usize>); 3],
    /// Zeros, subnormal and normal numbers.
    pub counts: [usize; 3],
    /// The minimum.
    pub min: Option<Number>,
    /// The maximum.
    pub max: Option<Number>,
    /// The maximum magnitude.
    pub max_abs: Option<Number>,
}

impl From<Stats> for Summary {
    fn from(stats: Stats) -> Self {
        let census = stats.census;
        let number = |x: Extreme| (x.bits, x.value, x.index);
        Self {
            classes: [census.nan, census.pos_inf, census.neg_inf].map(|x| (x.count, x.first)),
            counts: [stats.zeros, stats.subnormals, stats.normals],
            min: stats.min.map(number),
            max: stats.max.map(number),
            max_abs: stats.max_abs.map(number),
        }
    }
}

/// The bits of an element that count, and the bits of its magnitude.
fn masks(format: Format) -> (u64, u64) {
    match format {
        Format::F8E8M0Fnu => (0xFF, 0xFF),
        Format::F4E2M1Fn => (0xF, 7),
        Format::F6E2M3Fn | Format::F6E3M2Fn => (0x3F, 0x1F),
        Format::F64 => (u64::MAX, u64::MAX / 2),
        Format::F32 => (0xFFFF_FFFF, 0x7FFF_FFFF),
        Format::F16 | Format::Bf16 => (0xFFFF, 0x7FFF),
        _ => (0xFF, 0x7F),
    }
}

/// The statistics of elements, each given as its index and its bits.
#[must_use]
pub fn summary(format: Format, elements: impl Iterator<Item = (usize, u64)>) -> Summary {
    let mut summary = Summary::default();
    // Beside the summary, so that no comparison reads the value of a `None`: valgrind reports it.
    let (mut min, mut max, mut max_abs) = (f64::INFINITY, f64::NEG_INFINITY, -1.0);
    let (all, magnitude) = masks(format);
    for (i, bits) in elements {
        let class = match kind(format, bits) {
            Kind::Nan => 0,
            Kind::PosInf => 1,
            Kind::NegInf => 2,
            Kind::Finite => {
                let x = value(format, bits);
                let is_number = [x == 0.0, x.abs() < least_normal(format), true];
                let class = is_number.into_iter().position(|is_this| is_this).unwrap_or(2);
                summary.counts[class] += 1;
                let bits = bits & all;
                if x < min {
                    min = x;
                    summary.min = Some((bits, x, i));
                }
                if x > max {
                    max = x;
                    summary.max = Some((bits, x, i));
                }
                if x.abs() > max_abs {
                    max_abs = x.abs();
                    summary.max_abs = Some((bits & magnitude, x.abs(), i));
                }
                continue;
            }
        };
        let (count, first) = &mut summary.classes[class];
        *count += 1;
        first.get_or_insert(i);
    }
    summary
}

/// Whether an element is above a threshold. NaN is.
#[must_use]
pub fn exceeds(format: Format, bits: u64, threshold: f64) -> bool {
    let x = value(format, bits);
    x.is_nan() || x.abs() > threshold
}

/// Whether elements of the format are compared with thresholds: there are a sign and a -0.
#[must_use]
pub fn has_thresholds(format: Format) -> bool {
    use Format::{F8E4M3B11FnUz, F8E4M3FnUz, F8E5M2FnUz, F8E8M0Fnu};
    !matches!(format, F8E8M0Fnu | F8E4M3FnUz | F8E5M2FnUz | F8E4M3B11FnUz)
}

/// Thresholds worth a look: zero, the magnitude of an element, and a number beside another one.
#[must_use]
pub fn thresholds(format: Format, codes: &[u64]) -> Vec<f64> {
    let is_usable = |x: &f64| x.is_finite() && has_thresholds(format);
    let magnitude = |i: usize| codes.get(i).map_or(f64::NAN, |&bits| value(format, bits).abs());
    let (one, another) = (magnitude(codes.len() / 2), magnitude(codes.len() / 3));
    let beside = another * if codes.len().is_multiple_of(2) { 1.03 } else { 0.97 };
    [0.0, one, beside].into_iter().filter(is_usable).collect()
}
