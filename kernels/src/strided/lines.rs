//! The loops over lines: the innermost dimension, in one piece and, but for masks, of at least a block. The path is chosen
//! once for all lines.

use core::mem::MaybeUninit;

use crate::drive::Census;
use crate::lane::{BLOCK, Lane};
use crate::path::{Sink, Tests};
use crate::replace::Select;
use crate::rule::{Op, Test};
use crate::scalar;
use crate::sinks;

use super::walk::Walk;
use super::{Dim, Grid, outside, results};

/// Whether these loops are for the grid.
pub(super) fn are(grid: &Grid<'_>) -> bool {
    let line = grid.line();
    line.input == 1 && line.size >= BLOCK
}

/// The lanes of a line.
///
/// # Panics
/// If they are not there.
#[inline(always)]
fn row<R>(x: &[R], start: usize, size: usize) -> &[R] {
    match start.checked_add(size).and_then(|end| x.get(start..end)) {
        Some(row) => row,
        None => outside(),
    }
}

/// A mask whose lines have their results in one piece; of all sinks it takes lines shorter than a block too.
pub(super) struct Mask;

impl Sink for Mask {
    const TESTS: Tests = Tests::All;
    type Out<'o> = (&'o mut [MaybeUninit<bool>], Grid<'o>);
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (out, grid): (&mut [MaybeUninit<bool>], Grid<'_>),
    ) {
        let size = grid.line().size;
        let screened = test.screen::<L>().is_some();
        let with = isa.constants(test.pair());
        // One dimension of lines is counted here, in registers: the walk is in memory, which short lines would wait for.
        let outer = grid.dims.get(1..).unwrap_or(&[]);
        let lines = outer.first().copied().unwrap_or(Dim::ONE);
        let mut walk = Walk::new(Grid { dims: outer.get(1..).unwrap_or(&[]), ..grid });
        loop {
            let (mut input, mut output) = (walk.input, walk.output);
            for _ in 0..lines.size {
                let row = row(x, input, size);
                let results = results(out, output, size);
                if size < BLOCK {
                    scalar::mask_of::<L, O, NEGATE>(row, test.pair(), results);
                } else if screened {
                    sinks::Mask::vector::<L, I, O, NEGATE>(isa, row, test, results);
                } else {
                    let ((blocks, rest), out_blocks) = (row.as_chunks(), results.as_chunks_mut().0);
                    for (block, out) in blocks.iter().zip(out_blocks) {
                        isa.store::<O, NEGATE>(block, with, out);
                    }
                    if let (false, Some(last), Some(out)) =
                        (rest.is_empty(), row.last_chunk(), results.last_chunk_mut())
                    {
                        isa.store::<O, NEGATE>(last, with, out);
                    }
                }
                input = input.wrapping_add_signed(lines.input);
                output = output.wrapping_add_signed(lines.output);
            }
            if !walk.next() {
                return;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, (out, grid): (&mut [MaybeUninit<bool>], Grid<'_>)) {
        let size = grid.line().size;
        let mut walk = Walk::lines(grid);
        loop {
            let results = results(out, walk.output, size);
            sinks::Mask::scalar::<L>(row(x, walk.input, size), test, results);
            if !walk.next() {
                return;
            }
        }
    }
}

/// What the output is for the first hit; or, with a place for that, whether each line has one.
pub(super) struct Position;

impl Position {
    #[inline(always)]
    fn of_line(grid: Grid<'_>, walk: &Walk<'_>, hit: usize) -> usize {
        walk.output.wrapping_add_signed(grid.line().output.wrapping_mul(hit as isize))
    }
}

impl Sink for Position {
    const TESTS: Tests = Tests::All;
    type Out<'o> = (Grid<'o>, Option<&'o mut [bool]>);
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (grid, mut out): (Grid<'_>, Option<&mut [bool]>),
    ) -> Option<usize> {
        let mut walk = Walk::lines(grid);
        let mut line = 0;
        loop {
            let row = row(x, walk.input, grid.line().size);
            let hit = sinks::Position::vector::<L, I, O, NEGATE>(isa, row, test, ());
            if let (None, Some(hit)) = (&out, hit) {
                return Some(Self::of_line(grid, &walk, hit));
            }
            if let Some(slot) = out.as_mut().and_then(|out| out.get_mut(line)) {
                *slot = hit.is_some();
            }
            line += 1;
            if !walk.next() {
                return None;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(
        x: &[L::Raw],
        test: &Test,
        (grid, mut out): (Grid<'_>, Option<&mut [bool]>),
    ) -> Option<usize> {
        let mut walk = Walk::lines(grid);
        let mut line = 0;
        loop {
            let row = row(x, walk.input, grid.line().size);
            let hit = sinks::Position::scalar::<L>(row, test, ());
            if let (None, Some(hit)) = (&out, hit) {
                return Some(Self::of_line(grid, &walk, hit));
            }
            if let Some(slot) = out.as_mut().and_then(|out| out.get_mut(line)) {
                *slot = hit.is_some();
            }
            line += 1;
            if !walk.next() {
                return None;
            }
        }
    }
}

/// How many hits each line has. Without a place for that, all together.
pub(super) struct Count;

impl Sink for Count {
    const TESTS: Tests = Tests::Positive;
    type Out<'o> = (Grid<'o>, Option<&'o mut [usize]>);
    type Output = usize;

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (grid, mut out): (Grid<'_>, Option<&mut [usize]>),
    ) -> usize {
        let mut walk = Walk::lines(grid);
        let (mut all, mut line) = (0, 0);
        loop {
            let row = row(x, walk.input, grid.line().size);
            let count = sinks::Tally::vector::<L, I, O, NEGATE>(isa, row, test, ()).count;
            all += count;
            if let Some(slot) = out.as_mut().and_then(|out| out.get_mut(line)) {
                *slot = count;
            }
            line += 1;
            if !walk.next() {
                return all;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(
        x: &[L::Raw],
        test: &Test,
        (grid, mut out): (Grid<'_>, Option<&mut [usize]>),
    ) -> usize {
        let mut walk = Walk::lines(grid);
        let (mut all, mut line) = (0, 0);
        loop {
            let row = row(x, walk.input, grid.line().size);
            let count = sinks::Tally::scalar::<L>(row, test, ()).count;
            all += count;
            if let Some(slot) = out.as_mut().and_then(|out| out.get_mut(line)) {
                *slot = count;
            }
            line += 1;
            if !walk.next() {
                return all;
            }
        }
    }
}

/// Takes a census, counts only.
pub(super) struct Take;

impl Sink for Take {
    const TESTS: Tests = Tests::Greater;
    type Out<'o> = Grid<'o>;
    type Output = Census;

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        nan: &Test,
        grid: Grid<'_>,
    ) -> Census {
        let mut walk = Walk::lines(grid);
        let mut census = Census::default();
        loop {
            let row = row(x, walk.input, grid.line().size);
            add(&mut census, sinks::Take::vector::<L, I, O, NEGATE>(isa, row, nan, ()));
            if !walk.next() {
                return census;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], nan: &Test, grid: Grid<'_>) -> Census {
        let mut walk = Walk::lines(grid);
        let mut census = Census::default();
        loop {
            let row = row(x, walk.input, grid.line().size);
            add(&mut census, sinks::Take::scalar::<L>(row, nan, ()));
            if !walk.next() {
                return census;
            }
        }
    }
}

/// Adds the counts up.
#[inline(always)]
pub(super) fn add(sum: &mut Census, census: Census) {
    sum.nan.count += census.nan.count;
    sum.pos_inf.count += census.pos_inf.count;
    sum.neg_inf.count += census.neg_inf.count;
}
