//! The first hit.

use super::bits::{self, Few};
use super::skip::{GROUP, skip};
use crate::rule::{Screen, Test};
use crate::simd::{Loop, Simd, lines, until_line};

/// Compares every element until one is a hit.
pub(crate) struct Find<const W: usize>;

impl<const W: usize> Loop for Find<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], test: &Test, (): ()) -> Option<usize> {
        let (lines, few) = lines(x);
        if test.negate() {
            return find_negated::<I, W>(isa, x, test);
        }
        let with = isa.with::<W>(test);
        for (i, line) in lines.iter().enumerate() {
            let at = isa.find::<W>(line, test, with);
            if at < 64 {
                return Some(i * (64 / W) + at);
            }
        }
        let bits = if few.is_empty() { 0 } else { isa.run::<Few<W>>(few, test, ()) };
        (bits != 0).then(|| lines.len() * (64 / W) + bits.trailing_zeros() as usize)
    }
}

/// The first element for which the positive test does not hold, word by word.
#[inline(always)]
fn find_negated<I: Simd, const W: usize>(isa: I, x: &[u8], test: &Test) -> Option<usize> {
    for (i, part) in x.chunks(64 * W).enumerate() {
        let mut word = [[0; 8]];
        let whole = part.len() / (64 * W);
        let rest = isa.run::<bits::Plain<W>>(part, test, &mut word[..whole]);
        let bits = u64::from_le_bytes(word[0]) | rest;
        if bits != 0 {
            return Some(i * 64 + bits.trailing_zeros() as usize);
        }
    }
    None
}

/// Skips what holds no hit.
pub(crate) struct Position<const W: usize>;

impl<const W: usize> Loop for Position<W> {
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], test: &Test, (): ()) -> Option<usize> {
        // A hit is often at the very beginning: the first line is compared before all else.
        if let Some(first) = lines(x).0.first()
            && !test.negate()
        {
            let at = isa.find::<W>(first, test, isa.with::<W>(test));
            if at < 64 {
                return Some(at);
            }
        }
        let screen = test.search_screen();
        let mut done = if test.negate() { 0 } else { until_line::<W>(x) };
        loop {
            done += skip::<I, W>(isa, &x[done..], screen);
            let run = if screen == Screen::None { usize::MAX } else { GROUP };
            let end = done.saturating_add(run).min(x.len());
            if done == end {
                return None;
            }
            if let Some(at) = isa.run::<Find<W>>(&x[done..end], test, ()) {
                return Some(done / W + at);
            }
            done = end;
        }
    }
}
