//! Minimum and maximum, and how many are zero, subnormal, NaN or infinite.
//!
//! ```text
//! stats(x):
//!     lowest = highest = the first finite element
//!     run = the bytes before a cache line, else 1 KiB
//!     until x is at its end:
//!         range = codes that change nothing          stats.rs, `Numbers::range`
//!         skip groups of 1 KiB whose elements are all in the range
//!         if a group was skipped: run = 1 KiB
//!         if the run before was normal and span(the next run bytes) is: the keys are known
//!         else order(the next run bytes):            in parts of 4 KiB
//!             for each register:
//!                 key = magnitude, negated where the sign is set
//!                 lowest = min(lowest, key)          NaN and infinities: the lowest so far instead
//!                 highest = max(highest, key)
//!                 add zeros, magnitudes below the least normal number, and what is not finite
//!         if one was not finite: count NaN, +Inf and -Inf as census.rs does
//!         if the lowest or the highest key is new: note where the run begins
//!         run = 4 * run, at most 16 KiB
//!     the caller searches the first element of the lowest key, and of the highest
//! ```
//!
//! ```text
//! magnitudes     0 -- least normal ------ |x| so far ------ largest finite -- Inf -- NaN
//! the screen         |<----- skipped ---->|                  one subtraction and one maximum
//! ```
//!
//! In most tensors a new extreme is rare behind the first groups, and zeros are absent or many. So
//! the exact look at a group has no branch, and its runs grow while groups do not pass the screen.
//! A run of normal numbers takes one minimum and two maxima a register: `span` in
//! `registers/stats.rs`.

use super::census::{ClassCounts, Classify};
use super::position::Find;
use super::skip::longer;
use crate::rule::Comparison;
use crate::scalar;
use crate::simd::{COUNTED, GROUP, Line, Loop, Simd, expect, lines, until_line};
use crate::stats::{Found, Numbers, Range, SCANNED, Tally};

/// Bytes that are looked at first, from the first line of the cache on.
const FIRST: usize = 256;

/// From here on groups are screened. Of random numbers, group `n` has a new extreme with a
/// probability of `2 / n`, and what a group costs that does not pass is saved by ten that do.
const SCREENED: usize = SCANNED;

/// Looks at every element.
struct Order<const W: usize>;

impl<const W: usize> Loop for Order<W> {
    type Out<'o> = (&'o Numbers, &'o mut [i64; 2], u64);
    type Output = Found;

    /// Extends the keys by the elements of `x`. One element that has been seen before is given as
    /// filling.
    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, keys, filling): Self::Out<'_>,
    ) -> Found {
        let (pairs, _) = lines(x).0.as_chunks::<2>();
        let mut counts = [0; 3];
        let mut add = |more: [usize; 3]| {
            for (count, more) in counts.iter_mut().zip(more) {
                *count += more;
            }
        };
        for part in pairs.chunks(COUNTED / 128) {
            add(isa.order::<W>(part, numbers, keys));
        }
        let few = &x[pairs.len() * 128..];
        if !few.is_empty() {
            add(isa.order::<W>(&[filled::<W>(few, filling)], numbers, keys));
            let filled = (128 - few.len()) / W;
            for (count, one) in counts.iter_mut().zip(numbers.counts(filling)) {
                *count -= usize::from(one) * filled;
            }
        }
        if numbers.nan_is_negative_zero() {
            (counts[0], counts[1]) = (counts[0] - counts[2], counts[1] - counts[2]);
        }
        Found { bytes: x.len(), counts, groups: [0; 2] }
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
struct Scan<const W: usize, const EXPECT: u8>;

impl<const W: usize, const EXPECT: u8> Loop for Scan<W, EXPECT> {
    type Out<'o> = (&'o Numbers, &'o mut [i64; 2]);
    type Output = Found;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, keys): Self::Out<'_>,
    ) -> Found {
        isa.scan::<W, EXPECT>(lines(x).0.as_chunks().0, numbers, keys)
    }
}

/// The bytes of whole groups whose elements are in the range.
#[inline(always)]
fn skip<I: Simd, const W: usize>(isa: I, x: &[u8], range: Option<Range>) -> usize {
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

/// Statistics of at least one element.
pub(crate) struct Statistics<const W: usize>;

impl<const W: usize> Loop for Statistics<W> {
    type Out<'o> = &'o Numbers;
    type Output = Tally;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], non_finite: &Comparison, numbers: &Numbers) -> Tally {
        let mut tally = Tally::new();
        let elements = x.as_chunks::<W>().0;
        let mut finite = Some(0);
        if non_finite.holds(scalar::read(&elements[0])) {
            finite = isa.run::<Find<W>>(x, &non_finite.not(), ());
        }
        // If none is finite, any element does: no key counts.
        let first = finite.unwrap_or(0);
        let filling = scalar::read(&elements[first]);
        tally.keys = [numbers.key(filling); 2];
        tally.from = [first; 2];
        let scans = finite.is_some() && numbers.is_sign_magnitude();
        // First what stands before the first line of the cache, and four lines.
        let (mut done, mut run) = (0, until_line::<W>(x) + FIRST);
        let mut expect = expect::NORMAL;
        loop {
            if done >= SCREENED {
                let range = finite.and_then(|_| numbers.range(tally.keys));
                let clean = if range.is_none() { 0 } else { skip::<I, W>(isa, &x[done..], range) };
                done += clean;
                if clean != 0 {
                    run = GROUP;
                }
            }
            let mut part = &x[done..(done + run).min(x.len())];
            if part.is_empty() {
                return tally;
            }
            let before = tally.keys;
            let around_zero = before[0] <= 0 && before[1] >= 0;
            let mut found = Found::default();
            if scans && done != 0 && part.len() >= 128 {
                let out = (numbers, &mut tally.keys);
                found = match expect {
                    expect::NORMAL if !around_zero => {
                        isa.run::<Scan<W, { expect::ONE_SIGN }>>(part, non_finite, out)
                    }
                    _ if !around_zero => found,
                    expect::NORMAL => {
                        isa.run::<Scan<W, { expect::NORMAL }>>(part, non_finite, out)
                    }
                    expect::FINITE => {
                        isa.run::<Scan<W, { expect::FINITE }>>(part, non_finite, out)
                    }
                    _ => isa.run::<Scan<W, { expect::ANYTHING }>>(part, non_finite, out),
                };
                if found.bytes == 0 && around_zero && expect < expect::ANYTHING && I::SCANS {
                    expect += 1;
                    continue;
                }
            }
            let scanned = found.bytes != 0;
            if !scanned {
                if expect == expect::NORMAL && done >= FIRST {
                    part = &part[..part.len().min(GROUP)];
                }
                let out = (numbers, &mut tally.keys, filling);
                found = isa.run::<Order<W>>(part, non_finite, out);
            }
            part = &part[..found.bytes];
            for (which, old) in before.into_iter().enumerate() {
                if old != tally.keys[which] {
                    tally.from[which] = (done + found.groups[which]) / W;
                }
            }
            let [zeros, small, special] = found.counts;
            (tally.zeros, tally.small) = (tally.zeros + zeros, tally.small + small);
            tally.non_finite += special;
            if special != 0 {
                classify::<I, W>(isa, part, numbers, special, done / W, &mut tally.classes);
            }
            let seen = match (small, special) {
                (0, 0) => expect::NORMAL,
                (_, 0) => expect::FINITE,
                _ => expect::ANYTHING,
            };
            // A group may be normal by chance.
            expect = if part.len() > GROUP { seen } else { expect.max(seen) };
            done += part.len();
            run = if done < SCREENED { SCANNED } else { longer(run) };
        }
    }
}

/// Adds the classes of some elements that are not finite to those before element `from`.
#[inline(always)]
fn classify<I: Simd, const W: usize>(
    isa: I,
    x: &[u8],
    numbers: &Numbers,
    special: usize,
    from: usize,
    classes: &mut ClassCounts,
) {
    let nan = numbers.nan();
    let three = match nan.is_ieee() {
        true => isa.run::<Classify<W>>(x, nan, ()),
        false => [special, 0, 0],
    };
    for (class, more) in three.into_iter().enumerate() {
        if more != 0 && classes.three[class] == 0 {
            let find = if class == 0 { *nan } else { nan.class(class) };
            classes.first[class] = from + isa.run::<Find<W>>(x, &find, ()).unwrap_or(0);
        }
        classes.three[class] += more;
    }
}
