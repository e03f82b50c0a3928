//! Statistics, element by element.

use super::{class, elements};
use crate::numbers::Numbers;
use crate::tally::{Tally, Want};

/// Looks at each element that is valid.
pub(crate) fn stats<const W: usize>(x: &[u8], numbers: &Numbers, want: Want<'_>) -> Tally {
    let bitmap = if let Want::Places(Some(nulls)) = want { Some(nulls.bitmap) } else { None };
    let mut tally = Tally::new();
    for (i, bits) in elements::<W>(x).enumerate() {
        if bitmap.is_some_and(|bitmap| !bitmap.is_valid(i)) {
            tally.nulls += 1;
            continue;
        }
        let [zero, small, non_finite] = numbers.counts(bits);
        if non_finite {
            let class = if numbers.nan().is_ieee() { class(bits, numbers.nan()) } else { 0 };
            tally.classes.add(class, 1, i);
            tally.non_finite += 1;
            continue;
        }
        let key = numbers.key(bits);
        let first = i == tally.non_finite + tally.nulls;
        if first || key < tally.keys[0] {
            (tally.keys[0], tally.from[0]) = (key, i);
        }
        if first || key > tally.keys[1] {
            (tally.keys[1], tally.from[1]) = (key, i);
        }
        tally.zeros += usize::from(zero);
        tally.small += usize::from(small);
    }
    tally
}
