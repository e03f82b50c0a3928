//! Multiplying in place.

use super::Write;
use crate::float::format;
use crate::simd::{Line, Scaling};

/// Floating-point multiplication.
pub(crate) trait Times: Write {
    /// The products of the elements of a [`format`]. `factor` holds an f64 in every lane for
    /// [`format::F64`], and an f32 for all other formats.
    fn times<const F: u8>(self, lanes: Self::V, factor: Self::V) -> Self::V;

    /// The bits of the factor for elements of bf16.
    #[inline(always)]
    fn factor_of_bf16(factor: f32) -> u32 {
        factor.to_bits()
    }
}

impl<R: Times> Scaling for R {
    type Factor = R::V;

    #[inline(always)]
    fn factor<const F: u8>(self, factor: f64) -> R::V {
        match F {
            format::F64 => self.splat::<8>(factor.to_bits()),
            format::BF16 => self.splat::<4>(R::factor_of_bf16(factor as f32).into()),
            _ => self.splat::<4>((factor as f32).to_bits().into()),
        }
    }

    #[inline(always)]
    fn multiply<const F: u8>(self, line: &mut Line, factor: R::V) {
        for part in 0..64 / R::BYTES {
            let at = part * R::BYTES;
            self.write(self.times::<F>(self.load(line, at), factor), line, at);
        }
    }
}
