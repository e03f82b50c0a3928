//! The search: the index of the first element for which the rule holds.
//!
//! ```text
//! position(x):
//!     if the first line has a hit: return its index       a hit is often at the very beginning
//!     done = the bytes before the first cache line        0 below 4 KiB; they are in that line
//!     loop:
//!         done += skip(x from done on)                    skip.rs: groups of 1 KiB without a hit
//!         run = 1 KiB                                     without a screen: all the rest
//!         if find(the next run bytes) has a hit: return its index
//!         done += run
//!         if x is at its end: return none
//!
//! find(x):
//!     for each line:
//!         if a lane is a hit: return the index of the first such lane
//!     the same for the last bytes, with zeros behind them; a hit among the zeros does not count
//! ```
//!
//! ```text
//! x      line | 1 KiB | 1 KiB | 1 KiB        | 1 KiB | 1 KiB
//!        find | skip  | skip  | skip: may hit| skip  | skip: may hit
//!                             | find: none           | find: the first hit, returned
//! ```
//!
//! A group that may hit and has no hit is read twice, the second time from the nearest cache.
//!
//! A negated rule has no screen in a search: nearly every element is a hit of `Finite`. `any` is
//! `position(..).is_some()`. `all` is "no `position` of the negated rule".

use super::skip::{GROUP, skip};
use crate::rule::{Comparison, Screen};
use crate::simd::{Loop, Simd, lines, until_line};

/// Compares every element until one is a hit.
pub(crate) struct Find<const W: usize>;

impl<const W: usize> Loop for Find<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
        let ((lines, few), with) = (lines(x), isa.with::<W>(comparison));
        for (i, line) in lines.iter().enumerate() {
            let at = isa.find::<W>(line, comparison, with);
            if at < 64 {
                return Some(i * (64 / W) + at);
            }
        }
        let at = isa.find::<W>(&isa.padded(few), comparison, with);
        (at < few.len() / W).then(|| lines.len() * (64 / W) + at)
    }
}

/// Skips groups without a hit.
pub(crate) struct Position<const W: usize>;

impl<const W: usize> Loop for Position<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
        // A hit is often at the very beginning, so the first line is compared first.
        if let Some(first) = lines(x).0.first() {
            let at = isa.find::<W>(first, comparison, isa.with::<W>(comparison));
            if at < 64 {
                return Some(at);
            }
        }
        let screen = comparison.search_screen();
        // The bytes before the first cache line have been compared.
        let mut done = until_line::<W>(x);
        loop {
            done += skip::<I, W>(isa, &x[done..], screen);
            let run = if screen == Screen::None { usize::MAX } else { GROUP };
            let end = done.saturating_add(run).min(x.len());
            if done == end {
                return None;
            }
            if let Some(at) = isa.run::<Find<W>>(&x[done..end], comparison, ()) {
                return Some(done / W + at);
            }
            done = end;
        }
    }
}
