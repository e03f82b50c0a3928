//! NaN, +Inf and -Inf, counted in one pass: as `count.rs`, with three counters.
//!
//! ```text
//! census(x):
//!     if there are fewer than 64 elements and all are finite: return zeros
//!     run = 1 KiB
//!     until x is at its end:
//!         unless the last run was dense:         as in count.rs
//!             if skip(x) skips anything: run = 1 KiB   by the screen for NaN and infinities
//!         three = classify(the next run bytes)   up to a cache line
//!         for each class with its first hits here:
//!             first[class] = find(class) in the run
//!         total += three
//!         run as in count.rs
//!
//! classify(x):                                       `Classes::count`
//!     of the whole pairs of lines:                   `Pairs`
//!         if they have at most 1 KiB: leave out 256 bytes at a time that cannot hit, at both ends
//!                                                    there hits may be sparse
//!         for each part of 4 KiB:
//!             for each register: add the hits of three comparisons to three counters
//!     the rest, less than 128 bytes, by packed bits
//!     return [nan, infinite - neg, neg]
//! ```
//!
//! ```text
//! bits & !sign  > exponent      nan              f32: exponent = 7F80_0000
//!               == exponent     infinite         either sign
//! bits          == sign | exponent   neg         +Inf is infinite and not neg
//! ```

use super::bits::Few;
use super::position::Find;
use super::skip::{GROUP, Look, Skip, after_run, may_hit, special, split_run};
use crate::found::{ClassCounts, Three};
use crate::rule::Comparison;
use crate::simd::{COUNTED, Call, Loop, SameAs, Simd, lines};

/// Classifies elements of one width.
pub(super) struct Classes {
    pairs: Call<Pairs<1>>,
    few: Call<Few<1>>,
    size: usize,
}

impl Classes {
    #[inline(always)]
    pub(super) fn of<I: Simd, const W: usize>(isa: I) -> Self {
        Self { pairs: Call::of::<Pairs<W>, I>(isa), few: Call::of::<Few<W>, I>(isa), size: W }
    }

    /// How many elements are NaN, +Inf and -Inf. The comparison is that for NaN of a format that
    /// has infinities.
    #[inline(always)]
    pub(super) fn count(&self, x: &[u8], nan: &Comparison) -> Three {
        let (pairs, rest) = x.split_at(x.len() & !127);
        let mut sum = self.pairs.run(pairs, nan, ());
        for few in rest.chunks(63 * self.size) {
            let special = self.few.run(few, &nan.special(), ());
            if special != 0 {
                let neg = self.few.run(few, &nan.class(2), ());
                let nan = self.few.run(few, nan, ());
                let classes = [nan, special & !nan & !neg, neg];
                sum += packed(classes.map(|bits: u64| bits.count_ones() as usize));
            }
        }
        unpacked(sum)
    }
}

/// Classifies the elements of whole pairs of lines.
struct Pairs<const W: usize>;

impl<const W: usize> SameAs<Pairs<1>> for Pairs<W> {}

impl<const W: usize> Loop for Pairs<W> {
    type Out<'o> = ();
    /// See [`packed`].
    type Output = u64;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], nan: &Comparison, (): ()) -> u64 {
        let mut left = lines(x).0.as_chunks::<2>().0;
        if x.len() <= GROUP {
            // One call for all that is left: adding up the counters costs as much as ten lines.
            let screen = isa.screen::<W>(special(nan));
            while let Some((four, rest)) = left.split_first_chunk::<2>()
                && !may_hit::<I, W, false>(isa, four.as_flattened(), screen)
            {
                left = rest;
            }
            while let Some((rest, four)) = left.split_last_chunk::<2>()
                && !may_hit::<I, W, false>(isa, four.as_flattened(), screen)
            {
                left = rest;
            }
        }
        let mut sum = 0;
        for part in left.chunks(COUNTED / 128) {
            let [nan, inf, neg] = isa.classify::<W>(part, nan);
            // The count of infinities includes both signs.
            sum += packed([nan, inf - neg, neg]);
        }
        sum
    }
}

/// Bits of a count in [`packed`].
pub(super) const COUNT: u32 = 21;

// The longest run without a screen is 16 groups, and ends at a cache line.
const _: () = assert!(17 * GROUP < 1 << COUNT);

/// Three counts in a register. The caller of a loop waits less for them than for memory.
#[inline(always)]
fn packed([a, b, c]: Three) -> u64 {
    a as u64 | (b as u64) << COUNT | (c as u64) << (2 * COUNT)
}

#[inline(always)]
fn unpacked(sum: u64) -> Three {
    [0, 1, 2].map(|i| (sum >> (i * COUNT)) as usize & ((1 << COUNT) - 1))
}

/// Skips groups of finite elements.
pub(crate) struct Census<const W: usize>;

impl<const W: usize> SameAs<Census<1>> for Census<W> {}

impl<const W: usize> Loop for Census<W> {
    type Out<'o> = ();
    type Output = ClassCounts;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], nan: &Comparison, (): ()) -> ClassCounts {
        if x.len() < 64 * W && isa.run::<Few<W>>(x, &nan.special(), ()) == 0 {
            return ClassCounts::default();
        }
        let clean = isa.run::<Skip<W>>(x, nan, Look::Special);
        if clean == x.len() {
            return ClassCounts::default();
        }
        let steps = &Steps {
            skip: Call::of::<Skip<W>, I>(isa),
            classes: Classes::of::<I, W>(isa),
            find: Call::of::<Find<W>, I>(isa),
        };
        census(x, nan, W.trailing_zeros(), clean, steps)
    }
}

/// The loops of a census.
struct Steps {
    skip: Call<Skip<1>>,
    classes: Classes,
    find: Call<Find<1>>,
}

/// The census of an input that begins with `clean` bytes of finite elements, and is longer. An
/// element has `1 << shift` bytes.
#[inline(never)]
fn census(x: &[u8], nan: &Comparison, shift: u32, clean: usize, steps: &Steps) -> ClassCounts {
    let mut taken = ClassCounts::default();
    let (mut rest, mut clean, mut run) = (x, clean, GROUP);
    loop {
        rest = rest.get(clean..).unwrap_or_default();
        if rest.is_empty() {
            return taken;
        }
        let (part, behind) = split_run(rest, 1 << shift, run);
        let three = steps.classes.count(part, nan);
        taken.add_three(three, |class| {
            let first = steps.find.run(part, &nan.class(class), ());
            ((x.len() - rest.len()) >> shift) + first.unwrap_or(0)
        });
        rest = behind;
        let skip = || steps.skip.run(rest, nan, Look::Special);
        (clean, run) = after_run(three.into_iter().sum(), part.len(), skip);
    }
}
