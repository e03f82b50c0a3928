//! Sets of bits in words of 64, the lowest bit first.

/// The first bit with this value, from bit `from` on, among `bits` bits.
pub(super) fn next(words: &[u64], from: usize, bits: usize, value: bool) -> Option<usize> {
    let flip = if value { 0 } else { u64::MAX };
    let mut kept = u64::MAX << (from % 64);
    for (at, word) in words.iter().enumerate().take(bits.div_ceil(64)).skip(from / 64) {
        let word = (word ^ flip) & kept;
        kept = u64::MAX;
        if word != 0 {
            let next = at * 64 + word.trailing_zeros() as usize;
            return (next < bits).then_some(next);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn bits_behind_the_last_are_ignored() {
        let words = [1 << 3, 1 << 6];
        assert_eq!(next(&words, 4, 71, true), Some(70));
        assert_eq!(next(&words, 4, 70, true), None);
        assert_eq!(next(&words, 70, 71, false), None);
        assert_eq!(next(&words, 70, 72, false), Some(71));
        assert_eq!(next(&words, 64, 64, true), None);
    }
}
