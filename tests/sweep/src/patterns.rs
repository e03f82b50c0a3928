//! Which patterns there are, by index.

use nonfinite::Format;

/// Patterns of one format, numbered.
pub trait Patterns: Copy {
    /// Their format.
    fn format(self) -> Format;
    /// For messages and state files.
    fn name(self) -> String;
    /// How many there are.
    fn len(self) -> u64;
    /// Whether there are none.
    fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// The bits of the one with this number.
    fn get(self, index: u64) -> u64;
}

/// All 2^32 patterns of `f32`, in order of their bits.
#[derive(Clone, Copy, Debug)]
pub struct AllF32;

impl Patterns for AllF32 {
    fn format(self) -> Format {
        Format::F32
    }

    fn name(self) -> String {
        "f32".to_owned()
    }

    fn len(self) -> u64 {
        1 << 32
    }

    #[inline(always)]
    fn get(self, index: u64) -> u64 {
        index
    }
}

/// Every sign and exponent of `f64` with mantissas of no bit, each single bit, each run of ones
/// from either end, and all ones but one.
#[derive(Clone, Copy, Debug)]
pub struct StructuredF64;

/// Bits of the mantissa of `f64`.
const MANTISSA: u64 = 52;
/// Mantissas of a kind.
const KIND: u64 = MANTISSA + 1;

impl Patterns for StructuredF64 {
    fn format(self) -> Format {
        Format::F64
    }

    fn name(self) -> String {
        "f64-structured".to_owned()
    }

    fn len(self) -> u64 {
        (4 * KIND) << 12
    }

    #[inline(always)]
    fn get(self, index: u64) -> u64 {
        let (high, low) = (index / (4 * KIND), index % (4 * KIND));
        let (kind, n) = (low / KIND, low % KIND);
        let ones = (1 << MANTISSA) - 1;
        let single = (1 << n) & ones;
        let mantissa = match kind {
            0 => single,
            1 => ones ^ single,
            2 => ones >> (MANTISSA - n),
            _ => ones & !(ones >> n),
        };
        high << MANTISSA | mantissa
    }
}

/// Random patterns of `f64`: half of them any bits, a quarter with the exponent of NaN and
/// infinity, a quarter with the largest finite exponent; of the latter two, some with few bits in
/// the mantissa.
#[derive(Clone, Copy, Debug)]
pub struct RandomF64 {
    /// How many: 2 to this power.
    pub log2: u32,
}

/// The finaliser of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// 2014).
#[inline(always)]
fn mix(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

impl Patterns for RandomF64 {
    fn format(self) -> Format {
        Format::F64
    }

    fn name(self) -> String {
        format!("f64-random-{}", self.log2)
    }

    fn len(self) -> u64 {
        1 << self.log2
    }

    #[inline(always)]
    fn get(self, index: u64) -> u64 {
        let bits = mix(index);
        let (exponent, greatest) = (0x7FF << MANTISSA, 0x7FE << MANTISSA);
        let sparse = bits & (bits << 17 | 1 << 63) & (bits << 34 | 1 << 63);
        match index % 8 {
            0..4 => bits,
            4 => bits | exponent,
            5 => sparse & bits << 5 | exponent | bits & 1 << 63,
            6 => bits & !(1 << MANTISSA) | greatest,
            _ => sparse & !exponent | greatest,
        }
    }
}
