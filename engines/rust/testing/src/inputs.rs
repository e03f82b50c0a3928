//! Inputs: bit patterns at the borders of each class, in every position.

use half::{bf16, f16};

/// A type that the engines have.
pub trait Float: Copy {
    /// The value of these bits.
    fn from_bits(bits: u64) -> Self;
    /// The bits of the exponent, all set: +Inf.
    const INFINITY: u64;
    /// The sign.
    const SIGN: u64;
}

macro_rules! float {
    ($type:ty, $bits:ty, $infinity:expr) => {
        impl Float for $type {
            fn from_bits(bits: u64) -> Self {
                <$type>::from_bits(bits as $bits)
            }
            const INFINITY: u64 = $infinity;
            const SIGN: u64 = 1 << (<$bits>::BITS - 1);
        }
    };
}
float!(f64, u64, 0x7ff0_0000_0000_0000);
float!(f32, u32, 0x7f80_0000);
float!(f16, u16, 0x7c00);
float!(bf16, u16, 0x7f80);

/// `count` values. The specials are zeros, subnormals, the largest finite number, the infinities,
/// NaNs that are quiet, signalling, of either sign, and with all kinds of payloads.
#[must_use]
pub fn values<T: Float>(count: usize) -> Vec<T> {
    let (infinity, sign) = (T::INFINITY, T::SIGN);
    let payload = (infinity & infinity.wrapping_neg()) - 1;
    let magnitudes = [
        0,
        1,
        payload,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity | payload,
        infinity | (payload + 1) >> 1,
        infinity >> 1,
    ];
    // A length that no vector has: so each special comes to each lane.
    let specials = magnitudes.iter().flat_map(|bits| [*bits, bits | sign]);
    specials.chain([infinity >> 1]).cycle().take(count).map(T::from_bits).collect()
}

/// `count` finite values.
#[must_use]
pub fn finite<T: Float>(count: usize) -> Vec<T> {
    (0..count as u64).map(|index| T::from_bits((T::INFINITY >> 1) ^ (index & 7))).collect()
}
