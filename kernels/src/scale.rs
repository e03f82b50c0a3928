//! Multiplies in place, and checks whether all elements were finite before.
//!
//! The check looks at the bits of an element before the multiplication. The multiplications raise
//! exception flags as usual. If the thread flushes subnormals to zero (x86 DAZ and FTZ, Arm FZ),
//! products of f32, f64 and bf16 are flushed. f16 is not affected: its subnormals are normal
//! numbers in f32. The rounding mode is taken to be to nearest, as all Rust code may assume.

use crate::backend::Backend;
use crate::dispatch::{SizeOf, Width};
use crate::loops::{Factor, Multiply};
use crate::replace::by_fours;
use crate::rule::Rule;

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
/// after the last whole element keep their values.
pub fn scale(backend: Option<Backend>, x: &mut [u8], float: Float, factor: f64) -> bool {
    let (size, exponent) = match float {
        Float::F16 => (2, 0x7C00),
        Float::Bf16 => (2, 0x7F80),
        Float::F32 => (4, 0x7F80_0000),
        Float::F64 => (8, 0x7FF0_0000_0000_0000),
    };
    let multiply = SizeOf(size).table::<Multiply>().pick(backend);
    let (rule, bf16) = (Rule::equal(size, exponent, exponent), float == Float::Bf16);
    let (by, whole) = (Factor { rule, bf16, factor }, x.len() / size * size);
    by_fours(&mut x[..whole], |lines| multiply.run(lines, &by, ()).into()) != 0
}
