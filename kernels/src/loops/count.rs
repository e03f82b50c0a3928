//! The number of hits.
//!
//! ```text
//! count(x):                                      the rule is not negated: for `Finite`, the
//!     if there are fewer than 64 elements:       caller subtracts the count of `NonFinite`
//!         return the ones in their packed bits
//!     run = 1 KiB
//!     until x is at its end:
//!         unless the last run was dense, with more than one hit in 128 bytes:
//!             if skip(x) skips anything: run = 1 KiB     skip.rs
//!         hits = exact(the next run bytes)       up to a cache line
//!         total += hits
//!         if more than one element a KiB was a hit: run = 4 * run, at most 16 KiB
//!         else: run = 1 KiB
//!
//! exact(x):
//!     for each part of 4 KiB:
//!         counters a, b = 0                      one byte in each lane
//!         for each register of the part:
//!             a (even) or b (odd) += 1 in each lane that is a hit
//!         total += the sum of all lanes of a and b
//!     total += the ones in the packed bits of the rest, less than 128 bytes (in `count` itself)
//! ```
//!
//! ```text
//! register      0   1   2   3   ..               one lane of each
//! hit           1   0   0   1
//! counter a     1 ----- 1 -----                  at most 128 in a lane after 4 KiB:
//! counter b         0 ----- 1 --                 no counter overflows
//! ```
//!
//! Two counters, because an addition waits for the one before. Where most groups have a hit, a
//! screen gains nothing, and a mispredicted branch costs as much as comparing a group. So the run
//! without a screen grows as long as hits are frequent.

use super::bits::Few;
use super::skip::{GROUP, Look, Skip, after_run, split_run};
use crate::found::Counted;
use crate::rule::{Comparison, Operation};
use crate::simd::{COUNTED, Call, Loop, SameAs, Simd, lines, op};

/// Counts the hits of a positive comparison in whole pairs of lines, element by element.
pub(crate) struct Exact<const W: usize>;

impl<const W: usize> SameAs<Exact<1>> for Exact<W> {}

impl<const W: usize> Loop for Exact<W> {
    type Out<'o> = ();
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> usize {
        match comparison.operation() {
            Operation::Greater => exact::<I, W, { op::GREATER }>(isa, x, comparison),
            Operation::Ones | Operation::Equal => exact::<I, W, { op::EQUAL }>(isa, x, comparison),
        }
    }
}

#[inline(always)]
fn exact<I: Simd, const W: usize, const OP: u8>(
    isa: I,
    x: &[u8],
    comparison: &Comparison,
) -> usize {
    let (pairs, _) = lines(x).0.as_chunks::<2>();
    let mut total = 0;
    for part in pairs.chunks(COUNTED / 128) {
        total += isa.count::<W, OP>(part, comparison);
    }
    total
}

/// Skips groups without a hit. The comparison must not be negated.
pub(crate) struct Count<const W: usize>;

impl<const W: usize> SameAs<Count<1>> for Count<W> {}

impl<const W: usize> Loop for Count<W> {
    type Out<'o> = ();
    type Output = Counted;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> Counted {
        if x.len() < 64 * W {
            let bits = isa.run::<Few<W>>(x, comparison, ());
            return Counted { hits: bits.count_ones() as usize, from: 0 };
        }
        let clean = isa.run::<Skip<W>>(x, comparison, Look::Hits(&mut []));
        if clean == x.len() {
            return Counted { hits: 0, from: 0 };
        }
        let steps = &Steps {
            skip: Call::of::<Skip<W>, I>(isa),
            exact: Call::of::<Exact<W>, I>(isa),
            few: Call::of::<Few<W>, I>(isa),
        };
        count(x, comparison, W.trailing_zeros(), clean, steps)
    }
}

/// The loops of a count.
struct Steps {
    skip: Call<Skip<1>>,
    exact: Call<Exact<1>>,
    few: Call<Few<1>>,
}

/// The count of an input that begins with `clean` bytes without a hit, and is longer. An element
/// has `1 << shift` bytes.
#[inline(never)]
fn count(x: &[u8], comparison: &Comparison, shift: u32, clean: usize, steps: &Steps) -> Counted {
    let mut counted = Counted { hits: 0, from: 0 };
    let (mut rest, mut clean, mut run) = (x, clean, GROUP);
    loop {
        rest = rest.get(clean..).unwrap_or_default();
        if rest.is_empty() {
            return counted;
        }
        let (part, behind) = split_run(rest, 1 << shift, run);
        let (pairs, few) = part.split_at(part.len() & !127);
        let mut hits = steps.exact.run(pairs, comparison, ());
        for few in few.chunks(63 << shift) {
            hits += steps.few.run(few, comparison, ()).count_ones() as usize;
        }
        if hits != 0 && counted.hits == 0 {
            counted.from = (x.len() - rest.len()) >> shift;
        }
        counted.hits += hits;
        rest = behind;
        let skip = || steps.skip.run(rest, comparison, Look::Hits(&mut []));
        (clean, run) = after_run(hits, part.len(), skip);
    }
}
