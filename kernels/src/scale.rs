//! Multiplying in place, with a look at what was there before.
//!
//! Whether an element is finite is decided by its
//! bits, before it is multiplied, as everywhere; the products raise flags as products do, and where
//! the thread flushes subnormals to zero (x86 DAZ and FTZ, Arm FZ), those of f32, f64 and bf16 are
//! flushed. f16 is not touched by that: its subnormals are normal as f32. Rust code may assume that
//! the rounding mode is to nearest, and so does this.

use crate::backend::{Backend, Question, Row, row};
use crate::float::format;
use crate::loops::scale::Scale;
use crate::rule::{Comparison, Rule};
use crate::scalar;

/// The formats that can be multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// IEEE 754 binary16: widened to f32, multiplied, rounded to nearest, ties to even.
    F16,
    /// bfloat16: likewise.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// Multiplies every element of `x` by `factor`, which is rounded to f32 except for [`Float::F64`],
/// and returns whether one was NaN or infinite before. NaN stays NaN, made quiet, with its sign and
/// the upper bits of its payload. `backend` is the active one if `None`. Bytes behind the last
/// whole element stay.
pub fn scale(backend: Option<Backend>, x: &mut [u8], float: Float, factor: f64) -> bool {
    match float {
        Float::F16 => {
            static ROW: Row<Scale<{ format::F16 }>> = row::<Scale<{ format::F16 }>>();
            run::<{ format::F16 }>(backend, &ROW, x, &const { special(2, 0x7C00) }, factor)
        }
        Float::Bf16 => {
            static ROW: Row<Scale<{ format::BF16 }>> = row::<Scale<{ format::BF16 }>>();
            run::<{ format::BF16 }>(backend, &ROW, x, &const { special(2, 0x7F80) }, factor)
        }
        Float::F32 => {
            static ROW: Row<Scale<{ format::F32 }>> = row::<Scale<{ format::F32 }>>();
            run::<{ format::F32 }>(backend, &ROW, x, &const { special(4, 0x7F80_0000) }, factor)
        }
        Float::F64 => {
            static ROW: Row<Scale<{ format::F64 }>> = row::<Scale<{ format::F64 }>>();
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
    let whole = x.len() / comparison.size() * comparison.size();
    Backend::run::<Scale<F>>(backend, row, &[], comparison, (&mut x[..whole], factor))
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
