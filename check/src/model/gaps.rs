//! The parts of a file that nothing refers to.

use std::iter;
use std::ops::Range;

use super::text::is_text;

/// The runs of bytes that lie in none of these ranges, in rising order. Zeros, which are padding,
/// and text are left out. The ranges may overlap, and may come in any order; each lies within the
/// bytes.
pub(crate) fn gaps(bytes: &[u8], mut used: Vec<Range<usize>>) -> Vec<Range<usize>> {
    used.sort_unstable_by_key(|range| range.start);
    let (mut gaps, mut at) = (Vec::new(), 0);
    for range in used.into_iter().chain(iter::once(bytes.len()..bytes.len())) {
        let gap = at..range.start.max(at);
        if may_hold_numbers(&bytes[gap.clone()]) {
            gaps.push(gap);
        }
        at = at.max(range.end);
    }
    gaps
}

/// Whether bytes that nothing refers to could be numbers: neither zeros nor text.
pub(crate) fn may_hold_numbers(bytes: &[u8]) -> bool {
    bytes.iter().any(|&byte| byte != 0) && !is_text(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_and_text_are_left_out() {
        let nan = f32::NAN.to_le_bytes();
        let bytes = [b"head".as_slice(), &nan, b"\0\0\0", b"tail\n", &nan].concat();
        let gaps = |used: &[Range<usize>]| super::gaps(&bytes, used.to_vec());
        assert_eq!(gaps(std::slice::from_ref(&(8..11))), [0..8, 11..20]);
        assert_eq!(gaps(&[0..4, 11..16]), [4..11, 16..20]);
        assert_eq!(gaps(&[16..20, 4..8, 2..11]), []);
        assert!(!may_hold_numbers(&[0; 1000]) && may_hold_numbers(&[0xFF; 3]));
    }
}
