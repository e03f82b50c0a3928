//! Multiplies in place, and checks whether all elements were finite before.

use crate::float::format;
use crate::rule::Comparison;
use crate::simd::{Loop, SameAs, Simd};

/// Multiplies every element of a [`format`].
pub(crate) struct Scale<const F: u8>;

impl<const F: u8> SameAs<Self> for Scale<F> {}

impl<const F: u8> Loop for Scale<F> {
    type Out<'o> = (&'o mut [u8], f64);
    /// Whether any element was NaN or infinite.
    type Output = bool;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        _: &[u8],
        comparison: &Comparison,
        (x, factor): (&mut [u8], f64),
    ) -> bool {
        match F {
            format::F64 => scale::<I, F, 8>(isa, comparison, x, factor),
            format::F32 => scale::<I, F, 4>(isa, comparison, x, factor),
            _ => scale::<I, F, 2>(isa, comparison, x, factor),
        }
    }
}

#[inline(always)]
fn scale<I: Simd, const F: u8, const W: usize>(
    isa: I,
    comparison: &Comparison,
    x: &mut [u8],
    factor: f64,
) -> bool {
    let (factor, screen) = (isa.factor::<F>(factor), isa.screen::<W>(comparison.screen()));
    let (pairs, few) = x.as_chunks_mut::<128>();
    let mut seen = isa.accumulator();
    for pair in pairs {
        let lines = pair.as_chunks_mut().0;
        if let Some(lines) = lines.first_chunk_mut::<2>() {
            seen = isa.accumulate::<W, false>(seen, lines, screen);
            for line in lines {
                isa.multiply::<F>(line, factor);
            }
        }
    }
    if !few.is_empty() {
        // The line is filled up with zeros. They are finite, and their products are dropped.
        let mut lines = [[0; 64]; 2];
        lines.as_flattened_mut()[..few.len()].copy_from_slice(few);
        seen = isa.accumulate::<W, false>(seen, &lines, screen);
        for line in &mut lines {
            isa.multiply::<F>(line, factor);
        }
        few.copy_from_slice(&lines.as_flattened()[..few.len()]);
    }
    isa.any_hit::<W>(seen, screen)
}
