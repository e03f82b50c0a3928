//! Replaces elements, with the loop of the scalar backend.

use super::Portable;
use crate::codes::Codes;
use crate::rule::Comparison;
use crate::scalar;
use crate::simd::{Line, Replacing};

impl Replacing for Portable {
    #[inline(always)]
    fn replace<const W: usize>(
        self,
        lines: &mut [Line],
        comparison: &Comparison,
        codes: &Codes,
    ) -> usize {
        scalar::replace::<W>(lines.as_flattened_mut(), comparison, codes)
    }
}
