//! Multiplies elements, and checks whether all were finite before.

use super::replace::may_hit;
use crate::dispatch::tables;
use crate::element::{elements, read, write};
use crate::isa::lanes::Products;
use crate::lines::{Four, Line};
use crate::question::{On, Question};
use crate::rule::Rule;
use crate::soft_float::{self, format};

/// What elements are multiplied by.
pub(crate) struct Factor {
    /// The hits are looked for before the multiplication. Its screen is exact.
    pub(crate) rule: Rule,
    /// Whether elements of two bytes are bf16, not f16. No format of one byte is multiplied.
    pub(crate) bf16: bool,
    pub(crate) factor: f64,
}

/// Multiplies every element. Returns whether any was a hit before.
pub(crate) struct Multiply;

tables!(Multiply);

impl Question for Multiply {
    type Input<'x> = &'x mut [Four];
    type Asked<'a> = &'a Factor;
    type Out<'o> = ();
    type Answer = bool;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: &mut [Four], by: &Factor, (): ()) -> bool {
        match W {
            8 => products::<{ format::F64 }, 8>(x, &by.rule, by.factor),
            4 => products::<{ format::F32 }, 4>(x, &by.rule, by.factor),
            2 if by.bf16 => products::<{ format::BF16 }, 2>(x, &by.rule, by.factor),
            2 => products::<{ format::F16 }, 2>(x, &by.rule, by.factor),
            _ => false,
        }
    }
}

#[inline(always)]
fn products<const F: usize, const W: usize>(x: &mut [Four], rule: &Rule, factor: f64) -> bool {
    let mut found = false;
    for line in x.as_flattened_mut() {
        found |= elements::<W>(line).fold(false, |any, bits| any | rule.holds_of::<W>(bits));
        multiply_line::<F, W>(line, factor);
    }
    found
}

/// Not inlined. LLVM of rustc 1.96 for s390x otherwise moves the loads of the check after these
/// stores. Products that overflow then count as infinite elements.
#[inline(never)]
fn multiply_line<const F: usize, const W: usize>(line: &mut Line, factor: f64) {
    for element in line.as_chunks_mut::<W>().0 {
        write(element, soft_float::multiply::<F>(read(element), factor));
    }
}

impl<I: Products> On<I> for Multiply {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: &mut [Four], by: &Factor, (): ()) -> bool {
        let single = by.factor as f32;
        let bits = |bits: u32| isa.splat::<4>(bits.into());
        let (double, single, half) = (
            isa.splat::<8>(by.factor.to_bits()),
            bits(single.to_bits()),
            bits(I::factor_of_bf16(single)),
        );
        match W {
            8 => multiply::<I, 8, { format::F64 }>(isa, x, &by.rule, double),
            4 => multiply::<I, 4, { format::F32 }>(isa, x, &by.rule, single),
            2 if by.bf16 => multiply::<I, 2, { format::BF16 }>(isa, x, &by.rule, half),
            2 => multiply::<I, 2, { format::F16 }>(isa, x, &by.rule, single),
            _ => false,
        }
    }
}

#[inline(always)]
fn multiply<I: Products, const W: usize, const F: usize>(
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
