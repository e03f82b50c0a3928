//! The least and the greatest of the numbers that are finite.

use half::{bf16, f16};
use nonfinite::{Format, Predicate, TensorView};

/// The least and the greatest finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least. Of zeros, the negative one is less.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

/// Keys that are looked at side by side, so that the compiler can use vectors.
const LANES: usize = 32;

/// Signed integers in the order of the numbers whose bits they are made of.
///
/// The bits of a number that is not negative rise with it; those of a negative one fall, so all but
/// the sign are turned round. `limit` is the key of +Inf: everything from there on, and its mirror
/// image, is not finite.
macro_rules! key_range {
    ($name:ident, $key:ty, $size:literal) => {
        fn $name(numbers: &[u8], limit: $key) -> Option<($key, $key)> {
            let mut least = [<$key>::MAX; LANES];
            let mut greatest = [<$key>::MIN; LANES];
            let numbers = numbers.as_chunks::<$size>().0;
            let mut look = |lane: usize, number: &[u8; $size]| {
                let bits = <$key>::from_ne_bytes(*number);
                let magnitude = bits & <$key>::MAX;
                let key = bits ^ (bits >> (<$key>::BITS - 1) & <$key>::MAX);
                let finite = magnitude < limit;
                least[lane] = least[lane].min(if finite { key } else { <$key>::MAX });
                greatest[lane] = greatest[lane].max(if finite { key } else { <$key>::MIN });
            };
            let (groups, rest) = numbers.as_chunks::<LANES>();
            for group in groups {
                for (lane, number) in group.iter().enumerate() {
                    look(lane, number);
                }
            }
            for (lane, number) in rest.iter().enumerate() {
                look(lane, number);
            }
            let least = least.into_iter().min()?;
            let greatest = greatest.into_iter().max()?;
            (least <= greatest).then_some((least, greatest))
        }
    };
}
key_range!(range16, i16, 2);
key_range!(range32, i32, 4);
key_range!(range64, i64, 8);

impl Range {
    pub(crate) fn union(self, other: Self) -> Self {
        let less = |a: f64, b: f64| if b.total_cmp(&a).is_lt() { b } else { a };
        Self { min: less(self.min, other.min), max: -less(-self.max, -other.max) }
    }

    /// Of numbers in the byte order of the machine; none if none is finite.
    pub(crate) fn of(numbers: &[u8], format: Format) -> Option<Self> {
        let decode16 = |key: i16| (key ^ (key >> 15 & i16::MAX)) as u16;
        match format {
            Format::F16 => {
                let (least, greatest) = range16(numbers, 0x7C00)?;
                let value = |key| f64::from(f16::from_bits(decode16(key)).to_f32());
                Some(Self { min: value(least), max: value(greatest) })
            }
            Format::Bf16 => {
                let (least, greatest) = range16(numbers, 0x7F80)?;
                let value = |key| f64::from(bf16::from_bits(decode16(key)).to_f32());
                Some(Self { min: value(least), max: value(greatest) })
            }
            Format::F32 => {
                let (least, greatest) = range32(numbers, 0x7F80_0000)?;
                let value =
                    |key: i32| f64::from(f32::from_bits((key ^ (key >> 31 & i32::MAX)) as u32));
                Some(Self { min: value(least), max: value(greatest) })
            }
            Format::F64 => {
                let (least, greatest) = range64(numbers, 0x7FF0_0000_0000_0000)?;
                let value = |key: i64| f64::from_bits((key ^ (key >> 63 & i64::MAX)) as u64);
                Some(Self { min: value(least), max: value(greatest) })
            }
            _ => Self::of_codes(numbers, format),
        }
    }

    fn of_codes(codes: &[u8], format: Format) -> Option<Self> {
        let mut seen = [false; 256];
        for &code in codes {
            seen[usize::from(code)] = true;
        }
        let all: [u8; 256] = std::array::from_fn(|code| code as u8);
        let mut finite = [0; 256];
        TensorView::from_bytes(&all, format).ok()?.mask(Predicate::Finite, &mut finite).ok()?;
        let values = all
            .into_iter()
            .filter(|&code| seen[usize::from(code)] && finite[usize::from(code)] == 1);
        values
            .map(|code| value_of_code(code, format))
            .map(|x| Self { min: x, max: x })
            .reduce(Self::union)
    }
}

/// The value of a finite code of one of the formats of a byte: OCP OFP8 and MX, and ml_dtypes for
/// the others.
pub(crate) fn value_of_code(code: u8, format: Format) -> f64 {
    let (mantissa_bits, bias) = match format {
        Format::F8E4M3Fn | Format::F8E4M3 => (3, 7),
        Format::F8E4M3FnUz => (3, 8),
        Format::F8E4M3B11FnUz => (3, 11),
        Format::F8E5M2 => (2, 15),
        Format::F8E5M2FnUz => (2, 16),
        Format::F8E3M4 => (4, 3),
        // One exponent and nothing else: 0 is a power of two like all others.
        Format::F8E8M0Fnu => return f64::from(code as i16 - 127).exp2(),
        Format::F6E2M3Fn => return value_of_bits(code & 0x3F, 0x20, 3, 1),
        Format::F6E3M2Fn => return value_of_bits(code & 0x3F, 0x20, 2, 3),
        _ => return value_of_bits(code & 0xF, 0x8, 1, 1),
    };
    value_of_bits(code, 0x80, mantissa_bits, bias)
}

fn value_of_bits(bits: u8, sign: u8, mantissa_bits: u32, bias: i32) -> f64 {
    let magnitude = i32::from(bits & (sign - 1));
    let (exponent, mantissa) = (magnitude >> mantissa_bits, magnitude & ((1 << mantissa_bits) - 1));
    let fraction = f64::from(mantissa) / f64::from(1 << mantissa_bits);
    let value = match exponent {
        0 => fraction * f64::from(1 - bias).exp2(),
        _ => (1.0 + fraction) * f64::from(exponent - bias).exp2(),
    };
    if bits & sign != 0 { -value } else { value }
}
