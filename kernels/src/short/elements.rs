//! Fewer than 64 bytes, element by element.

use super::Short;
use crate::element::elements;
use crate::lines::Places;
use crate::rule::Rule;

/// No registers.
pub(crate) struct Elements;

impl Short for Elements {
    #[inline(always)]
    fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool {
        elements::<W>(x).any(|bits| rule.holds_of::<W>(bits))
    }

    /// Not inlined: loops that know the number of elements would be written out.
    #[inline(never)]
    fn bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
        elements::<W>(x).rev().fold(0, |word, bits| word << 1 | u64::from(rule.holds_of::<W>(bits)))
    }

    #[inline(always)]
    fn hits<const W: usize>(x: &[u8], rule: &Rule) -> usize {
        elements::<W>(x).map(|bits| usize::from(rule.hits_of::<W>(bits))).sum()
    }

    #[inline(always)]
    fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
        for (bits, place) in elements::<W>(x).zip(out) {
            place.write(rule.holds_of::<W>(bits));
        }
    }
}
