//! The first hit.

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

/// Skips what holds no hit.
pub(crate) struct Position<const W: usize>;

impl<const W: usize> Loop for Position<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
        // A hit is often at the very beginning: the first line is compared before all else.
        if let Some(first) = lines(x).0.first() {
            let at = isa.find::<W>(first, comparison, isa.with::<W>(comparison));
            if at < 64 {
                return Some(at);
            }
        }
        let screen = comparison.search_screen();
        // What stands before the first line of the cache has been looked at.
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
