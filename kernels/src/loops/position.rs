//! The search: the index of the first element for which the rule holds.
//!
//! ```text
//! position(x):
//!     if the first line has a hit: return its index       a hit is often at the very beginning
//!     if there are fewer than 512 bytes, or there is no screen: return find(x)
//!     done = 0
//!     loop:
//!         done += skip(x from done on)                    skip.rs: groups of 1 KiB without a hit,
//!                                                         from the first cache line on
//!         if x is at its end: return none
//!         if find(the next 1 KiB) has a hit: return its index
//!         done += 1 KiB
//!
//! find(x):
//!     for each line:
//!         if a lane is a hit: return the index of the first such lane
//!     if bytes are left: the same for the last 64 bytes of x
//!     if x has fewer than 64 bytes: zeros follow them, and a hit among the zeros does not count
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

use super::skip::{GROUP, Look, Skip};
use crate::rule::{Comparison, Screen};
use crate::simd::{Loop, SameAs, Simd, lines};

/// Compares every element until one is a hit.
pub(crate) struct Find<const W: usize>;

impl<const W: usize> SameAs<Find<1>> for Find<W> {}

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
        if few.is_empty() {
            return None;
        }
        // The last line overlaps the one before, or is filled up.
        let short;
        let (line, before) = match x.last_chunk() {
            Some(last) => (last, (x.len() - 64) / W),
            None => {
                short = isa.padded(x);
                (&short, 0)
            }
        };
        let at = before + isa.find::<W>(line, comparison, with);
        (at < x.len() / W).then_some(at)
    }
}

/// Finds the first hit.
pub(crate) struct Position<const W: usize>;

impl<const W: usize> SameAs<Position<1>> for Position<W> {}

impl<const W: usize> Loop for Position<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
        // A hit is often at the very beginning, so the first line is compared first.
        if let Some(first) = x.first_chunk() {
            let at = isa.find::<W>(first, comparison, isa.with::<W>(comparison));
            if at < 64 {
                return Some(at);
            }
        }
        if x.len() < 512 || comparison.negate() || comparison.screen() == Screen::None {
            return isa.run::<Find<W>>(x, comparison, ());
        }
        isa.run::<Screened<W>>(x, comparison, ())
    }
}

/// Skips groups without a hit. The first line has no hit. Separate from [`Position`]: a hit there
/// would have to wait while this function saves registers.
struct Screened<const W: usize>;

impl<const W: usize> Loop for Screened<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
        let mut rest = x;
        loop {
            let clean = isa.run::<Skip<W>>(rest, comparison, Look::Hits(&mut []));
            rest = rest.get(clean..).unwrap_or_default();
            if rest.is_empty() {
                return None;
            }
            let (group, behind) = rest.split_at_checked(GROUP).unwrap_or((rest, &[]));
            if let Some(at) = isa.run::<Find<W>>(group, comparison, ()) {
                return Some((x.len() - rest.len()) / W + at);
            }
            rest = behind;
        }
    }
}
