//! The least and the greatest of the finite numbers.

use nonfinite::Format;

use crate::model::{Range, number};

/// Keys that are compared side by side, so that the compiler can use vectors.
const LANES: usize = 32;

/// The bits of the least and the greatest finite number. None if no number is finite.
///
/// Compares keys: signed integers in the order of the numbers. The bits of a positive number rise
/// with it. Those of a negative one fall, so its key has all bits except the sign inverted. A
/// number is finite if its bits, without the sign, are below `limit`.
macro_rules! bits_range {
    ($name:ident, $key:ty, $size:literal) => {
        fn $name(numbers: &[u8], limit: u64) -> Option<(u64, u64)> {
            let limit = limit as $key;
            let invert = |key: $key| key ^ (key >> (<$key>::BITS - 1) & <$key>::MAX);
            let mut least = [<$key>::MAX; LANES];
            let mut greatest = [<$key>::MIN; LANES];
            let numbers = numbers.as_chunks::<$size>().0;
            let mut look = |lane: usize, number: &[u8; $size]| {
                let bits = <$key>::from_ne_bytes(*number);
                let key = invert(bits);
                let finite = bits & <$key>::MAX < limit;
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
            let bits = |key| invert(key).cast_unsigned().into();
            (least <= greatest).then(|| (bits(least), bits(greatest)))
        }
    };
}
bits_range!(bits_range16, i16, 2);
bits_range!(bits_range32, i32, 4);
bits_range!(bits_range64, i64, 8);

/// The range of numbers in the byte order of the machine. None if no number is finite.
pub(super) fn of(numbers: &[u8], format: Format) -> Option<Range> {
    let limit = number::first_beyond(format);
    let (least, greatest) = match format.size_in_bytes() {
        1 => return of_bytes(numbers, format),
        2 => bits_range16(numbers, limit),
        4 => bits_range32(numbers, limit),
        _ => bits_range64(numbers, limit),
    }?;
    Some(Range { min: number::value(least, format), max: number::value(greatest, format) })
}

/// Like [`of`], for formats of one byte.
fn of_bytes(codes: &[u8], format: Format) -> Option<Range> {
    let mut seen = [false; 256];
    for &code in codes {
        seen[usize::from(code)] = true;
    }
    let codes = (0..=u8::MAX).filter(|&code| seen[usize::from(code)]).map(u64::from);
    codes
        .filter(|&code| number::is_finite(code, format))
        .map(|code| number::value(code, format))
        .map(|value| Range { min: value, max: value })
        .reduce(Range::union)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range of a single finite number is its value, for every format. For formats wider than
    /// 16 bits, only the upper 16 bits vary.
    #[test]
    fn each_number_of_each_format() {
        for format in Format::ALL.iter().copied() {
            let size = format.size_in_bytes();
            let bits = (8 * size as u32).min(16);
            for code in (0..1u64 << bits).map(|code| code << (8 * size as u32 - bits)) {
                let bytes = code.to_ne_bytes();
                let native = if cfg!(target_endian = "big") { 8 - size..8 } else { 0..size };
                let expected = number::is_finite(code, format).then(|| number::value(code, format));
                let found = of(&bytes[native], format);
                let found = found.map(|range| [range.min, range.max].map(f64::to_bits));
                assert_eq!(found, expected.map(|value| [value.to_bits(); 2]), "{format} {code:#x}");
            }
        }
    }
}
