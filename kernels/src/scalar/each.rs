//! The answers for some elements, one after the other.

use crate::element::elements;
use crate::lines::Places;
use crate::rule::Rule;

/// Bit `i` for element `i` of at most 64: its answer. Not inlined: loops that know the number of
/// elements would be written out.
#[inline(never)]
pub(crate) fn word<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    elements::<W>(x).rev().fold(0, |word, bits| word << 1 | u64::from(rule.holds_of::<W>(bits)))
}

/// Whether the answer is yes for any element.
#[inline(always)]
pub(crate) fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool {
    elements::<W>(x).any(|bits| rule.holds_of::<W>(bits))
}

/// How many answers are yes.
#[inline(always)]
pub(crate) fn count<const W: usize>(x: &[u8], rule: &Rule) -> usize {
    elements::<W>(x).map(|bits| usize::from(rule.holds_of::<W>(bits))).sum()
}

/// A byte for each element.
#[inline(always)]
pub(crate) fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    for (bits, place) in elements::<W>(x).zip(out) {
        place.write(rule.holds_of::<W>(bits));
    }
}
