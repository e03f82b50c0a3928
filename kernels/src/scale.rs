//! Multiplies in place, and checks whether all elements were finite before.
//!
//! The check looks at the bits of an element before the multiplication. The multiplications raise
//! exception flags as usual. If the thread flushes subnormals to zero (x86 DAZ and FTZ, Arm FZ),
//! products of f32, f64 and bf16 are flushed. f16 is not affected: its subnormals are normal
//! numbers in f32. The rounding mode is taken to be to nearest, as all Rust code may assume.

use crate::backend::{Backend, Question, Row};
use crate::float::format;
use crate::line::elements;
use crate::loops::scale::Scale;
use crate::rule::{Comparison, Rule};
use crate::scalar;

/// The formats that can be multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// IEEE 754 binary16: widened to f32, multiplied, rounded to nearest, ties to even.
    F16,
    /// bfloat16: widened, multiplied and rounded like binary16.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// Multiplies every element of `x` by `factor`, and returns whether any element was NaN or infinite
/// before. `factor` is rounded to f32 except for [`Float::F64`]. NaN stays NaN: it becomes quiet,
/// and keeps its sign and the upper bits of its payload. `None` means the active backend. Bytes
/// behind the last whole element keep their values.
pub fn scale(backend: Option<Backend>, x: &mut [u8], float: Float, factor: f64) -> bool {
    match float {
        Float::F16 => {
            static ROW: Row<Scale<{ format::F16 }>> = Row::of::<Scale<{ format::F16 }>>();
            run::<{ format::F16 }>(backend, &ROW, x, &const { special(2, 0x7C00) }, factor)
        }
        Float::Bf16 => {
            static ROW: Row<Scale<{ format::BF16 }>> = Row::of::<Scale<{ format::BF16 }>>();
            run::<{ format::BF16 }>(backend, &ROW, x, &const { special(2, 0x7F80) }, factor)
        }
        Float::F32 => {
            static ROW: Row<Scale<{ format::F32 }>> = Row::of::<Scale<{ format::F32 }>>();
            run::<{ format::F32 }>(backend, &ROW, x, &const { special(4, 0x7F80_0000) }, factor)
        }
        Float::F64 => {
            static ROW: Row<Scale<{ format::F64 }>> = Row::of::<Scale<{ format::F64 }>>();
            run::<{ format::F64 }>(
                backend,
                &ROW,
                x,
                &const { special(8, 0x7FF0_0000_0000_0000) },
                factor,
            )
        }
    }
}

/// The comparison for elements whose exponent is all ones.
const fn special(size: usize, exponent: u64) -> Comparison {
    match Rule::equal(size, exponent, exponent) {
        Rule::Comparison(comparison) => comparison,
        Rule::Constant { .. } | Rule::Either(_) => unreachable!(),
    }
}

fn run<const F: u8>(
    backend: Option<Backend>,
    row: &Row<Scale<F>>,
    x: &mut [u8],
    comparison: &Comparison,
    factor: f64,
) -> bool {
    let whole = elements(x.len(), comparison.size()) * comparison.size();
    row.run(backend, &[], comparison, (&mut x[..whole], factor))
}

impl<const F: u8> Question for Scale<F> {
    fn scalar(_: &[u8], comparison: &Comparison, (x, factor): (&mut [u8], f64)) -> bool {
        match F {
            format::F64 => scalar::scale::<F, 8>(x, comparison, factor),
            format::F32 => scalar::scale::<F, 4>(x, comparison, factor),
            _ => scalar::scale::<F, 2>(x, comparison, factor),
        }
    }
}
