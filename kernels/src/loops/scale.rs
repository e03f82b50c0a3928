//! Multiplies elements, and checks whether all were finite before.

use super::Blend;
use super::replace::may_hit;
use crate::lines::Four;
use crate::product::format;
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
/// element before. Elements of two bytes are bf16 or f16; no format of one byte is multiplied.
#[inline(always)]
pub(crate) fn multiply<I: Multiply, const W: usize>(
    isa: I,
    x: &mut [Four],
    rule: &Rule,
    bf16: bool,
    factor: f64,
) -> bool {
    let single = factor as f32;
    let bits = |bits: u32| isa.splat::<4>(bits.into());
    match W {
        8 => by::<I, 8, { format::F64 }>(isa, x, rule, isa.splat::<8>(factor.to_bits())),
        4 => by::<I, 4, { format::F32 }>(isa, x, rule, bits(single.to_bits())),
        2 if bf16 => by::<I, 2, { format::BF16 }>(isa, x, rule, bits(I::factor_of_bf16(single))),
        2 => by::<I, 2, { format::F16 }>(isa, x, rule, bits(single.to_bits())),
        _ => false,
    }
}

#[inline(always)]
fn by<I: Multiply, const W: usize, const F: usize>(
    isa: I,
    x: &mut [Four],
    rule: &Rule,
    factor: I::V,
) -> bool {
    let mut found = false;
    for lines in x {
        found = found || may_hit::<I, W>(isa, lines, rule);
        for line in lines {
            for at in (0..64).step_by(I::BYTES) {
                isa.store(isa.times::<F>(isa.load(line, at), factor), line, at);
            }
        }
    }
    found
}
