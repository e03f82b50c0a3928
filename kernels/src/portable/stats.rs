//! The loops of statistics: [`crate::stats`] has the algorithm. Under a validity bitmap, `order` is
//! that of the scalar backend.

use core::ops::{Add, BitAnd, BitXor, Neg};

use super::{BLOCK, blocks_without, find, run};
use crate::element::elements;
use crate::lines::{COUNTED, Long};
use crate::loops::Given;
use crate::order::Range;
use crate::rule::Rule;
use crate::scalar;
use crate::validity::Bitmap;

pub(crate) fn find_code<const W: usize>(x: Long<'_>, mask: u64, code: u64) -> usize {
    find::<W>(x, &Rule::equal(W, mask, code)).index(W).unwrap_or(x.len() / W)
}

/// In groups of 64 elements. Looks at nulls too: a group with a null outside of the range is not
/// skipped.
pub(crate) fn within<const W: usize>(x: &[u8], range: Range, _: Option<&Bitmap<'_>>) -> usize {
    // Both ends of the range have the same sign, so signed integers have the order of codes.
    let [below, high] = [range.low.wrapping_sub(1), range.high];
    let [not_below, above] = [below, high].map(|bound| Rule::greater(W, range.mask, bound));
    blocks_without::<W>(x, |bits| !not_below.holds_of::<W>(bits) | above.holds_of::<W>(bits))
}

pub(crate) fn order<const W: usize>(given: &Given<'_>, keys: &mut [i64; 2]) -> [usize; 3] {
    if given.valid.is_some() {
        return scalar::order::<W>(given, keys);
    }
    let (found, counts) = run(
        #[inline(always)]
        || match W {
            1 => ordered::<W, _>(given, *keys, |bits| bits as i8),
            2 => ordered::<W, _>(given, *keys, |bits| bits as i16),
            4 => ordered::<W, _>(given, *keys, |bits| bits as i32),
            _ => ordered::<W, _>(given, *keys, u64::cast_signed),
        },
    );
    *keys = found;
    counts
}

/// A signed integer as wide as an element, so that a vector holds as many as it can.
trait Key:
    Copy
    + Ord
    + Into<i64>
    + From<bool>
    + Add<Output = Self>
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + Neg<Output = Self>
{
}

impl Key for i8 {}
impl Key for i16 {}
impl Key for i32 {}
impl Key for i64 {}

/// One pass, or a second one with care. `narrow` keeps the low bytes.
#[inline(always)]
fn ordered<const W: usize, K: Key>(
    given: &Given<'_>,
    keys: [i64; 2],
    narrow: impl Fn(u64) -> K,
) -> ([i64; 2], [usize; 3]) {
    if !given.careful {
        let found = pass::<W, false, K>(given, keys, &narrow);
        if given.numbers.are_finite(found.0) {
            return found;
        }
    }
    pass::<W, true, K>(given, keys, &narrow)
}

/// One pass. Takes NaN and infinities for numbers, unless `CAREFUL`.
#[inline(always)]
fn pass<const W: usize, const CAREFUL: bool, K: Key>(
    &Given { numbers, blocks, last, filling, .. }: &Given<'_>,
    keys: [i64; 2],
    narrow: impl Fn(u64) -> K,
) -> ([i64; 2], [usize; 3]) {
    let [magnitude, least, sign, flip] =
        [numbers.magnitude, numbers.least_normal, numbers.sign, numbers.flip()].map(&narrow);
    let [filling, zero] = [filling, 0].map(&narrow);
    let [mut low, mut high] = keys.map(|key| narrow(key.cast_unsigned()));
    let mut counts = [0; 3];
    // So few elements that their number fits into a key.
    for x in blocks.chunks(if W == 1 { BLOCK } else { COUNTED }).chain([last]) {
        let [mut zeros, mut small, mut special] = [zero; 3];
        for bits in elements::<W>(x) {
            let hit = CAREFUL && numbers.special.holds_of::<W>(bits);
            let bits = if hit { filling } else { narrow(bits) };
            let m = bits & magnitude;
            let key = if bits & sign == zero { m ^ flip } else { -m };
            (low, high) = (low.min(key), high.max(key));
            zeros = zeros + K::from(m == zero);
            small = small + K::from(m < least);
            special = special + K::from(hit);
        }
        for (count, found) in counts.iter_mut().zip([zeros, small, special]) {
            *count += found.into() as usize;
        }
    }
    ([low, high].map(Into::into), counts)
}
