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

use super::census::Classify;
use super::position::Find;
use super::skip::{GROUP, longer};
use crate::rule::Comparison;
use crate::scalar;
use crate::simd::{COUNTED, Line, Loop, Simd, lines, until_line};
use crate::stats::{Numbers, Range, Tally};

/// Looks at every element.
struct Order<const W: usize>;

impl<const W: usize> Loop for Order<W> {
    type Out<'o> = (&'o Numbers, &'o mut Tally, u64);
    type Output = usize;

    /// Adds the elements of `x` to a tally. One element that has been seen before is given as
    /// filling. Returns how many elements are not finite.
    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, tally, filling): Self::Out<'_>,
    ) -> usize {
        let (pairs, _) = lines(x).0.as_chunks::<2>();
        let mut counts = [0; 3];
        let mut add = |more: [usize; 3]| {
            for (count, more) in counts.iter_mut().zip(more) {
                *count += more;
            }
        };
        for part in pairs.chunks(COUNTED / 128) {
            add(isa.order::<W>(part, numbers, &mut tally.keys));
        }
        let few = &x[pairs.len() * 128..];
        if !few.is_empty() {
            add(isa.order::<W>(&[filled::<W>(few, filling)], numbers, &mut tally.keys));
            let filled = (128 - few.len()) / W;
            for (count, one) in counts.iter_mut().zip(numbers.counts(filling)) {
                *count -= usize::from(one) * filled;
            }
        }
        let [mut zeros, mut small, non_finite] = counts;
        if numbers.nan_is_negative_zero() {
            (zeros, small) = (zeros - non_finite, small - non_finite);
        }
        (tally.zeros, tally.small) = (tally.zeros + zeros, tally.small + small);
        tally.non_finite += non_finite;
        non_finite
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

/// The lowest and the highest key of normal numbers.
struct Span<const W: usize>;

impl<const W: usize> Loop for Span<W> {
    type Out<'o> = (&'o Numbers, &'o mut [i64; 2], u64);
    type Output = bool;

    /// If all elements are normal numbers, extends the lowest and the highest key by them, and
    /// returns true. It may return false if they are.
    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, keys, filling): Self::Out<'_>,
    ) -> bool {
        let (pairs, _) = lines(x).0.as_chunks::<2>();
        let few = &x[pairs.len() * 128..];
        let mut all = *keys;
        for part in [pairs, &[filled::<W>(few, filling)][..usize::from(!few.is_empty())]] {
            if part.is_empty() {
                continue;
            }
            let Some([low, high]) = isa.span::<W>(part, numbers) else { return false };
            all = [all[0].min(low), all[1].max(high)];
        }
        *keys = all;
        true
    }
}

/// Counts zeros and subnormal numbers where no key is new.
struct CountSmall<const W: usize>;

impl<const W: usize> Loop for CountSmall<W> {
    type Out<'o> = (&'o Numbers, &'o mut Tally);
    type Output = usize;

    /// Adds elements of `x` to a tally, as long as they change no key and all are finite. Returns
    /// how many bytes that are.
    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], _: &Comparison, (numbers, tally): Self::Out<'_>) -> usize {
        let Some(codes) = numbers.around_zero(tally.keys) else { return 0 };
        let mut done = 0;
        for part in lines(x).0.as_chunks::<2>().0.chunks(COUNTED / 128) {
            let counts = isa.count_within::<W>(part, codes, numbers);
            let Some([zeros, small]) = counts else { return done };
            (tally.zeros, tally.small) = (tally.zeros + zeros, tally.small + small);
            done += 128 * part.len();
        }
        done
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
        let finite = isa.run::<Find<W>>(x, &non_finite.not(), ());
        // If none is finite, any element does: no key counts.
        let first = finite.unwrap_or(0);
        let filling = scalar::read(&x.as_chunks::<W>().0[first]);
        tally.keys = [numbers.key(filling); 2];
        tally.from = [first; 2];
        // First what stands before the first line of the cache.
        let (mut done, mut run) = (0, until_line::<W>(x));
        // Whether the run before was finite and had no new key, and whether all of it was normal.
        let (mut same, mut normal) = (false, true);
        loop {
            if run == 0 || done != 0 {
                let range = finite.and_then(|_| numbers.range(tally.keys));
                let clean = if range.is_none() { 0 } else { skip::<I, W>(isa, &x[done..], range) };
                done += clean;
                if run == 0 || clean != 0 {
                    run = GROUP;
                }
            }
            let end = (done + run).min(x.len());
            if done == end {
                return tally;
            }
            if same && !normal {
                let part = &x[done..end];
                let counted = isa.run::<CountSmall<W>>(part, non_finite, (numbers, &mut tally));
                done += counted;
                // What is behind is looked at in full.
                same = counted != 0;
                if same {
                    run = longer(run);
                    continue;
                }
            }
            let before = tally.keys;
            let part = &x[done..end];
            let keys = (numbers, &mut tally.keys, filling);
            let special = if normal && isa.run::<Span<W>>(part, non_finite, keys) {
                0
            } else {
                let small = tally.small;
                let special = isa.run::<Order<W>>(part, non_finite, (numbers, &mut tally, filling));
                // A group may be normal by chance.
                normal = special == 0 && small == tally.small && part.len() > GROUP;
                special
            };
            for ((from, old), new) in tally.from.iter_mut().zip(before).zip(tally.keys) {
                *from = if old == new { *from } else { done / W };
            }
            if special != 0 {
                let nan = numbers.nan();
                let three = match nan.is_ieee() {
                    true => isa.run::<Classify<W>>(part, nan, ()),
                    false => [special, 0, 0],
                };
                for (class, more) in three.into_iter().enumerate() {
                    if more != 0 && tally.classes.three[class] == 0 {
                        let find = if class == 0 { *nan } else { nan.class(class) };
                        let at = isa.run::<Find<W>>(part, &find, ()).unwrap_or(0);
                        tally.classes.first[class] = done / W + at;
                    }
                    tally.classes.three[class] += more;
                }
            }
            same = special == 0 && before == tally.keys;
            run = longer(run);
            done = end;
        }
    }
}
