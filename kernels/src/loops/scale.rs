//! Multiplies elements, and checks whether all were finite before.

use super::Blend;
use super::replace::may_hit;
use crate::float::format;
use crate::pieces::Four;
use crate::rule::Rule;

/// Floating-point multiplication.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Multiply: Blend {
    /// The products of the elements of a [`format`]. `factor` holds an f64 in every lane for
    /// [`format::F64`], and an f32 for all other formats.
    fn times<const F: usize>(self, x: Self::V, factor: Self::V) -> Self::V;

    /// The bits of the factor for elements of bf16.
    #[inline(always)]
    fn factor_of_bf16(factor: f32) -> u32 {
        factor.to_bits()
    }
}

/// Multiplies every element. Returns whether the rule, which has an exact screen, held for any
/// element before.
#[inline(always)]
pub(crate) fn multiply<I: Multiply, const F: usize>(
    isa: I,
    x: &mut [Four],
    rule: &Rule,
    factor: f64,
) -> bool {
    let factor = match F {
        format::F64 => isa.splat::<8>(factor.to_bits()),
        format::BF16 => isa.splat::<4>(I::factor_of_bf16(factor as f32).into()),
        _ => isa.splat::<4>((factor as f32).to_bits().into()),
    };
    let mut found = false;
    for lines in x {
        found = found
            || match F {
                format::F64 => may_hit::<I, 8>(isa, lines, rule),
                format::F32 => may_hit::<I, 4>(isa, lines, rule),
                _ => may_hit::<I, 2>(isa, lines, rule),
            };
        for line in lines {
            for at in (0..64).step_by(I::BYTES) {
                isa.store(isa.times::<F>(isa.load(line, at), factor), line, at);
            }
        }
    }
    found
}
