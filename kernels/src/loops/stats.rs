//! Minimum and maximum, and how many are zero, subnormal, NaN or infinite.
//!
//! ```text
//! stats(x):
//!     keys = [key of the first finite element; 2]
//!     expect = normal numbers
//!     part = the bytes before a cache line, and 256
//!     until x is at its end:
//!         from 16 KiB on: skip groups of 1 KiB that change nothing       `Numbers::range`
//!             from 1 KiB on where scans are slow: AVX2 and NEON of 64 bits, and portable
//!         if a group was skipped: part = 1 KiB
//!         taken = scan(expect, part), or else order(4 KiB of the part)
//!             nulls: skip and scan read the bitmap, order gets fill(part)        nulls.rs
//!             after NaN or an infinity: order(part)
//!         add the counts of what was taken to the tally
//!         where a key is new: note the group that has it first, or the beginning of the part
//!         if one was not finite: count NaN, +Inf and -Inf as census.rs does
//!         expect = what was in the part
//!         part = 16 KiB at first, later 1 KiB, 4 KiB, then 16 KiB
//!     place: find the first element of the lowest key, and of the highest, from its group on
//!
//! scan(expect, part):                            registers/stats.rs; signed formats
//!     for each chunk of 4 KiB:
//!         of each group of 1 KiB: the highest code as unsigned integer, and as signed one
//!         normal numbers:                        has every exponent a bit?
//!         zeros and subnormal numbers too:       count both
//!         if an element was not as expected: return the bytes before the chunk
//!     for each key that is new: the first group that has it
//!
//! order(part):                                   any format, any elements
//!     for each register:
//!         key = magnitude, negated where the sign is set
//!         lowest = min(lowest, key)              NaN and infinities: the lowest so far instead
//!         highest = max(highest, key)
//!         count zeros, magnitudes below the least normal number, and what is not finite
//! ```
//!
//! ```text
//! magnitudes     0 -- least normal ------ |x| so far ------ largest finite -- Inf -- NaN
//! the screen         |<----- skipped ---->|                  one subtraction and one maximum
//! ```
//!
//! A scan needs that the numbers so far are on both sides of zero, or zero. Of numbers of one sign
//! it takes the highest and the lowest code instead, and a zero or another sign ends it.
//!
//! In most tensors a new extreme is rare behind the first groups, and zeros are absent or many. So
//! the first 16 KiB are not screened, and parts grow while groups do not pass the screen. Registers
//! of 64 bytes have one maximum a cycle on the CPUs measured: a scan of normal numbers takes two
//! cycles a line, a screen one and a half.

use crate::numbers::{Numbers, Range};
use crate::rule::Comparison;
use crate::scalar;
use crate::scan::{Found, Given, Groups};
use crate::simd::{COUNTED, GROUP, Line, Loop, SameAs, Simd, expect, lines};
use crate::tally::Tally;

/// Looks at every element.
pub(super) struct Order<const W: usize>;

impl<const W: usize> SameAs<Order<1>> for Order<W> {}

impl<const W: usize> Loop for Order<W> {
    type Out<'o> = (&'o Numbers, &'o mut Tally, usize, u64);
    type Output = ();

    /// Adds the elements of `x`, of which the first has this index, to a tally without classes. One
    /// element that has been seen before is given as filling.
    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, tally, index, filling): Self::Out<'_>,
    ) {
        let (pairs, _) = lines(x).0.as_chunks::<2>();
        let (mut keys, mut counts) = (tally.keys, [0; 3]);
        let mut add = |more: [usize; 3]| {
            for (count, more) in counts.iter_mut().zip(more) {
                *count += more;
            }
        };
        for part in pairs.chunks(COUNTED / 128) {
            add(isa.order::<W>(part, numbers, &mut keys));
        }
        let few = &x[pairs.len() * 128..];
        if !few.is_empty() {
            add(isa.order::<W>(&[filled::<W>(few, filling)], numbers, &mut keys));
            let filled = (128 - few.len()) / W;
            for (count, one) in counts.iter_mut().zip(numbers.counts(filling)) {
                *count -= usize::from(one) * filled;
            }
        }
        if numbers.nan_is_negative_zero() {
            (counts[0], counts[1]) = (counts[0] - counts[2], counts[1] - counts[2]);
        }
        tally.extend(keys, [index; 2], counts);
    }
}

/// Two lines that begin with a few bytes. The rest is an element that was seen before.
#[inline(always)]
fn filled<const W: usize>(few: &[u8], filling: u64) -> [Line; 2] {
    let mut pair = [[0; 64]; 2];
    let bytes = pair.as_flattened_mut();
    for element in bytes.as_chunks_mut::<W>().0 {
        scalar::write(element, filling);
    }
    bytes[..few.len()].copy_from_slice(few);
    pair
}

/// Looks at elements as long as they are as expected.
pub(super) struct Scan<const W: usize, const EXPECT: u8, const NULLS: bool>;

/// A scan stands for a scan of another expectation too.
impl<const W: usize, const EXPECT: u8, const NULLS: bool> SameAs<Scan<1, { expect::NORMAL }, false>>
    for Scan<W, EXPECT, NULLS>
{
}

impl<const W: usize, const EXPECT: u8, const NULLS: bool> Loop for Scan<W, EXPECT, NULLS> {
    type Out<'o> = (&'o Numbers, Given<'o>, &'o mut [Groups; 2]);
    type Output = Found;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, given, outer): Self::Out<'_>,
    ) -> Found {
        isa.scan::<W, EXPECT, NULLS>(lines(x).0, numbers, given, outer)
    }
}

/// The outermost code of the last line, and the first line that has that code. One function for all
/// scans, so that its code exists once.
pub(super) struct Outermost<const W: usize>;

impl<const W: usize> SameAs<Outermost<1>> for Outermost<W> {}

impl<const W: usize> Loop for Outermost<W> {
    type Out<'o> = u64;
    type Output = (u64, usize);

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], _: &Comparison, flip: u64) -> (u64, usize) {
        isa.outermost::<W>(lines(x).0, flip)
    }
}

/// The bytes of whole groups whose elements are in the range.
pub(super) struct SkipWithin<const W: usize>;

impl<const W: usize> SameAs<SkipWithin<1>> for SkipWithin<W> {}

impl<const W: usize> Loop for SkipWithin<W> {
    type Out<'o> = Range;
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], _: &Comparison, range: Range) -> usize {
        let bounds = isa.bounds::<W>(range);
        let groups = lines(x).0.as_chunks::<2>().0.as_chunks::<{ GROUP / 128 }>().0;
        // A closure would not be inlined, and so not be compiled for the instruction set.
        for (i, group) in groups.iter().enumerate() {
            if !isa.within::<W>(group, bounds) {
                return i * GROUP;
            }
        }
        groups.len() * GROUP
    }
}
