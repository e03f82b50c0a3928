//! Multiplying in plain loops.

use super::Portable;
use crate::float::{format, multiply};
use crate::scalar;
use crate::simd::{Line, Scaling};

impl Scaling for Portable {
    type Factor = f64;

    #[inline(always)]
    fn factor<const F: u8>(self, factor: f64) -> f64 {
        factor
    }

    #[inline(always)]
    fn multiply<const F: u8>(self, line: &mut Line, factor: f64) {
        match F {
            format::F64 => multiply_all::<F, 8>(line, factor),
            format::F32 => multiply_all::<F, 4>(line, factor),
            _ => multiply_all::<F, 2>(line, factor),
        }
    }
}

/// Not inlined. LLVM of rustc 1.96 for s390x otherwise moves the loads of
/// [`crate::simd::Simd::accumulate`] behind these stores. Products that overflow then count as
/// infinite elements.
#[inline(never)]
fn multiply_all<const F: u8, const W: usize>(line: &mut Line, factor: f64) {
    for element in line.as_chunks_mut::<W>().0 {
        scalar::write(element, multiply::<F>(scalar::read(element), factor));
    }
}
