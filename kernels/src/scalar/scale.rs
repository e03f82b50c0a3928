//! Multiplying, element by element.

use super::{read, write};
use crate::float::multiply;
use crate::rule::Comparison;

/// Multiplies every element. Returns whether the comparison held for any element before.
#[inline(always)]
pub(crate) fn scale<const F: u8, const W: usize>(
    x: &mut [u8],
    comparison: &Comparison,
    factor: f64,
) -> bool {
    let mut seen = false;
    for element in x.as_chunks_mut::<W>().0 {
        let bits = read(element);
        seen |= comparison.holds(bits);
        write(element, product::<F>(bits, factor));
    }
    seen
}

/// Not inlined: the compiler would make kilobytes of vector code, and a CPU with vectors uses
/// another backend.
#[inline(never)]
fn product<const F: u8>(bits: u64, factor: f64) -> u64 {
    multiply::<F>(bits, factor)
}
