//! Replacing, element by element.

use super::{read, write};
use crate::codes::Codes;
use crate::rule::Comparison;

/// Replaces every hit. Returns the number of hits.
#[inline(always)]
pub(crate) fn replace<const W: usize>(
    x: &mut [u8],
    comparison: &Comparison,
    codes: &Codes,
) -> usize {
    let mut found = 0;
    for element in x.as_chunks_mut::<W>().0 {
        let bits = read(element);
        if comparison.holds(bits) {
            write(element, codes.instead_of(bits));
            found += 1;
        }
    }
    found
}
