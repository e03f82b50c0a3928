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
//! classify(x):
//!     if x has at most 1 KiB: leave out 256 bytes at a time that cannot hit, at both ends
//!                                                    there hits may be sparse
//!     for each part of 4 KiB:
//!         for each register: add the hits of three comparisons to three counters
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
use super::count::{dense, next_run};
use super::position::Find;
use super::skip::{GROUP, Look, Skip, may_hit, run_end, special};
use crate::found::{ClassCounts, Three};
use crate::rule::Comparison;
use crate::simd::{COUNTED, Call, Loop, Simd, lines};

/// Classifies every element. The comparison is that for NaN of a format that has infinities.
pub(crate) struct Classify<const W: usize>;

impl<const W: usize> Loop for Classify<W> {
    type Out<'o> = ();
    type Output = Three;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], nan: &Comparison, (): ()) -> Three {
        let pairs = lines(x).0.as_chunks::<2>().0;
        let mut left = pairs;
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
        let mut three = [0; 3];
        for part in left.chunks(COUNTED / 128) {
            add(&mut three, isa.classify::<W>(part, nan));
        }
        for few in x[pairs.len() * 128..].chunks(63 * W) {
            add(&mut three, few_classes::<I, W>(isa, few, nan));
        }
        // The count of infinities includes both signs.
        [three[0], three[1] - three[2], three[2]]
    }
}

/// Fewer than 64 elements: NaN, infinities, -Inf.
#[inline(always)]
fn few_classes<I: Simd, const W: usize>(isa: I, x: &[u8], nan: &Comparison) -> Three {
    let (special, neg) = (nan.special(), nan.class(2));
    let special = isa.run::<Few<W>>(x, &special, ());
    if special == 0 {
        return [0; 3];
    }
    let neg = isa.run::<Few<W>>(x, &neg, ());
    let nan = isa.run::<Few<W>>(x, nan, ());
    [nan, special & !nan, neg].map(|bits: u64| bits.count_ones() as usize)
}

#[inline(always)]
fn add(three: &mut Three, more: Three) {
    for (count, more) in three.iter_mut().zip(more) {
        *count += more;
    }
}

/// Skips groups of finite elements.
pub(crate) struct Census<const W: usize>;

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
            skip: Call::<Skip<1>>::of::<Skip<W>, I>(isa),
            classify: Call::<Classify<1>>::of::<Classify<W>, I>(isa),
            find: Call::<Find<1>>::of::<Find<W>, I>(isa),
        };
        census(x, nan, W.trailing_zeros(), clean, steps)
    }
}

/// The loops of a census.
struct Steps {
    skip: Call<Skip<1>>,
    classify: Call<Classify<1>>,
    find: Call<Find<1>>,
}

/// The census of an input that begins with `clean` bytes of finite elements, and is longer. An
/// element has `1 << shift` bytes.
#[inline(never)]
fn census(x: &[u8], nan: &Comparison, shift: u32, clean: usize, steps: &Steps) -> ClassCounts {
    let mut taken = ClassCounts::default();
    let (mut done, mut run) = (clean, GROUP);
    loop {
        let end = run_end(x, 1 << shift, done, run);
        let three = steps.classify.run(&x[done..end], nan, ());
        taken.add_three(three, |class| {
            let first = steps.find.run(&x[done..end], &nan.class(class), ());
            (done >> shift) + first.unwrap_or(0)
        });
        if end == x.len() {
            return taken;
        }
        let hits = three.into_iter().sum();
        let clean =
            if dense(hits, end - done) { 0 } else { steps.skip.run(&x[end..], nan, Look::Special) };
        run = if clean == 0 { next_run(hits, end - done) } else { GROUP };
        done = end + clean;
        if done == x.len() {
            return taken;
        }
    }
}
