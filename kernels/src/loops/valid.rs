//! Counts and the census of the elements of a column that are no nulls, and the count of nulls.
//!
//! ```text
//! count(x, bitmap):
//!     for each block of 64 elements:
//!         hits = the packed bits of the block & the word of the bitmap
//!         count += the ones in hits
//!
//! census(x, bitmap):
//!     for each block of 64 elements:
//!         special = the packed bits of NaN and infinities & the word of the bitmap
//!         if special is not 0:
//!             nan, neg = the packed bits of NaN, and of -Inf, & the word of the bitmap
//!             if a class is missing: first[class] = the first one in its bits here
//!             add the ones in special, nan and neg
//! ```
//!
//! ```text
//! x        1.0 NaN 2.0 NaN NaN 3.0 ..      64 elements
//! bits      0   1   0   1   1   0  ..
//! bitmap    1   0   1   1   1   0  ..
//! hits      0   0   0   1   1   0  ..      2 hits
//! ```
//!
//! Blocks of wide elements come in halves: see `blocks`. There is no screen. Callers search for the
//! first hit before they ask, except in short columns and in the tiles of views.

use crate::bitmap::{Bitmap, few_bytes};
use crate::found::{ClassCounts, Three};
use crate::rule::{Comparison, Operation};
use crate::simd::{Line, Loop, SameAs, Simd, lines, op};

/// The whole blocks of an input, each with its bits of the bitmap. If `halved`, halves of blocks:
/// the code for whole blocks of wide elements is long and not faster. All loops together are 2.3 KB
/// shorter.
#[inline(always)]
fn blocks<'x, const W: usize>(
    x: &'x [u8],
    bitmap: &Bitmap<'x>,
    halved: bool,
) -> impl Iterator<Item = (&'x [Line], u64)> {
    let count = if halved { W / 2 } else { W };
    lines(x).0.chunks_exact(count).zip(bitmap.bits_of(count * 64 / W))
}

/// Counts the hits that are no nulls, in whole blocks.
pub(crate) struct CountValid<const W: usize>;

impl<const W: usize> SameAs<CountValid<1>> for CountValid<W> {}

impl<const W: usize> Loop for CountValid<W> {
    type Out<'o> = &'o Bitmap<'o>;
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, bitmap: &Bitmap<'_>) -> usize {
        match comparison.operation() {
            Operation::Greater => count::<I, W, { op::GREATER }>(isa, x, comparison, bitmap),
            Operation::Ones | Operation::Equal => {
                count::<I, W, { op::EQUAL }>(isa, x, comparison, bitmap)
            }
        }
    }
}

#[inline(always)]
fn count<I: Simd, const W: usize, const OP: u8>(
    isa: I,
    x: &[u8],
    comparison: &Comparison,
    bitmap: &Bitmap<'_>,
) -> usize {
    let (with, usual) = (isa.with::<W>(comparison), comparison.usual_bits());
    let mut count = 0;
    for (lines, valid) in blocks::<W>(x, bitmap, W > 4) {
        let hits = (isa.word::<W, OP>(lines, with) ^ usual) & valid;
        count += hits.count_ones() as usize;
    }
    count
}

/// Counts NaN, +Inf and -Inf that are no nulls, in whole blocks. The comparison is that for NaN of
/// a format that has infinities.
pub(crate) struct CensusValid<const W: usize>;

impl<const W: usize> SameAs<CensusValid<1>> for CensusValid<W> {}

impl<const W: usize> Loop for CensusValid<W> {
    /// The comparisons for NaN and infinities, and for -Inf.
    type Out<'o> = (&'o Bitmap<'o>, &'o [Comparison; 2]);
    type Output = ClassCounts;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        nan: &Comparison,
        (bitmap, [special, neg]): Self::Out<'_>,
    ) -> ClassCounts {
        let of_special = isa.with::<W>(special);
        let (of_nan, of_neg) = (isa.with::<W>(nan), isa.with::<W>(neg));
        let ([mut specials, mut nans, mut negs], mut at) = ([0; 3], 0);
        let (mut first, mut missing) = ([usize::MAX; 3], true);
        for (lines, valid) in blocks::<W>(x, bitmap, W > 2) {
            let special = isa.word::<W, { op::EQUAL }>(lines, of_special) & valid;
            if special != 0 {
                let nan = isa.word::<W, { op::GREATER }>(lines, of_nan) & valid;
                let neg = if nan == special {
                    0
                } else {
                    isa.word::<W, { op::EQUAL }>(lines, of_neg) & valid
                };
                if missing {
                    let classes = [nan, special & !nan & !neg, neg];
                    missing = find_first(&mut first, at, classes);
                }
                specials += special.count_ones() as usize;
                nans += nan.count_ones() as usize;
                negs += neg.count_ones() as usize;
            }
            at += lines.len() * 64 / W;
        }
        ClassCounts { three: [nans, specials - nans - negs, negs], first }
    }
}

/// Sets the first element of each class that has none, from the bits of elements from `at` on.
/// Returns whether a class is still without one.
#[inline(always)]
fn find_first(first: &mut Three, at: usize, classes: [u64; 3]) -> bool {
    let mut found = false;
    for (first, class) in first.iter_mut().zip(classes) {
        if class != 0 && *first == usize::MAX {
            *first = at + class.trailing_zeros() as usize;
            found = true;
        }
    }
    !found || first.contains(&usize::MAX)
}

/// Counts the nulls among the first elements of a bitmap.
pub(crate) struct CountNulls;

impl SameAs<Self> for CountNulls {}

impl Loop for CountNulls {
    /// The first bit, and the bit behind the last.
    type Out<'o> = [usize; 2];
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(_: I, x: &[u8], _: &Comparison, [begin, end]: [usize; 2]) -> usize {
        let bytes = &x[..end.div_ceil(8)];
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return 0 };
        // The zeros of other elements in the first and the last byte.
        let before = !first & !(u8::MAX << begin);
        let behind = if end.is_multiple_of(8) { 0 } else { !last & u8::MAX << (end % 8) };
        let (words, rest) = bytes.as_chunks();
        let mut zeros = 8 * rest.len() - few_bytes(rest).count_ones() as usize;
        for word in words {
            zeros += u64::from_le_bytes(*word).count_zeros() as usize;
        }
        zeros - (before.count_ones() + behind.count_ones()) as usize
    }
}
