//! Replacing, as the scalar backend does.

use super::Portable;
use crate::codes::Codes;
use crate::rule::Test;
use crate::scalar;
use crate::simd::{Line, Replacing};

impl Replacing for Portable {
    #[inline(always)]
    fn replace<const W: usize>(self, lines: &mut [Line], test: &Test, codes: &Codes) -> usize {
        scalar::replace::<W>(lines.as_flattened_mut(), test, codes)
    }
}
