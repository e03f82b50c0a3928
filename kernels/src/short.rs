//! Inputs of fewer than 64 bytes are answered where they are asked, by instructions that every CPU
//! of the target has: no backend is looked up, and a rule that the caller knows is a constant here.
//!
//! ```text
//! SSE2     elements of 8 bytes, which SSE2 cannot compare, one by one
//! NEON     one line, with zeros after the input; masks element by element
//! others   element by element
//! ```

use crate::pieces::Places;
use crate::rule::Rule;
use crate::scalar;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
use crate::sse2;

/// Whether the answer is yes for any element.
#[inline(always)]
pub(crate) fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool {
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    if W < 8 {
        return sse2::any::<W>(x, rule);
    }
    if cfg!(target_arch = "aarch64") {
        return bits::<W>(x, rule) != 0;
    }
    scalar::elements::<W>(x).any(|bits| rule.holds_of::<W>(bits))
}

/// Bit `i` for element `i`: its answer.
#[inline(always)]
pub(crate) fn bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    if W < 8 {
        return sse2::bits::<W>(x, rule);
    }
    #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
    return crate::neon::short_bits::<W>(x, rule);
    #[cfg(not(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")))]
    scalar::word::<W>(x, rule)
}

/// How many answers are yes.
#[inline(always)]
pub(crate) fn count<const W: usize>(x: &[u8], rule: &Rule) -> usize {
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    if W < 8 {
        return sse2::count::<W>(x, rule);
    }
    if cfg!(target_arch = "aarch64") {
        return bits::<W>(x, rule).count_ones() as usize;
    }
    scalar::elements::<W>(x).map(|bits| usize::from(rule.holds_of::<W>(bits))).sum()
}

/// A byte for each element.
#[inline(always)]
pub(crate) fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    if W < 8 {
        return sse2::mask::<W>(x, rule, out);
    }
    for (bits, place) in scalar::elements::<W>(x).zip(out) {
        place.write(rule.holds_of::<W>(bits));
    }
}
