//! The loops over lines. A line is the innermost dimension: elements in one piece go through the drivers of dense
//! tensors, others one by one, as the compiler vectorises that.

use core::mem::MaybeUninit;

use crate::drive::{Census, Class};
use crate::isa::Blocks;
use crate::lane::{BLOCK, Lane};
use crate::path::{Sink, Tests};
use crate::rule::{Op, Pair, Test, holds};
use crate::sinks;

use super::walk::Walk;
use super::{Dim, Grid, outside, results};

/// The lanes of a line in one piece.
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

/// The lanes of a line that may have any step.
struct Line<'x, R> {
    /// From the lane of the lowest address to that of the highest.
    lanes: &'x [R],
    /// From one lane to the next, not zero.
    step: usize,
    size: usize,
    /// Whether the line begins at the highest address.
    backwards: bool,
}

impl<'x, R: Copy> Line<'x, R> {
    /// # Panics
    /// If a lane is not there.
    #[inline(always)]
    fn new(x: &'x [R], start: usize, dim: Dim) -> Self {
        let last = dim.size - 1;
        let step = dim.input.unsigned_abs();
        let Some(reach) = last.checked_mul(step) else { outside() };
        let backwards = dim.input < 0;
        let first = if backwards { start.checked_sub(reach) } else { Some(start) };
        let Some(lanes) = first.and_then(|first| x.get(first..first.checked_add(reach)?.checked_add(1)?))
        else {
            outside()
        };
        Self { lanes, step, size: dim.size, backwards }
    }

    /// Lane `i`.
    #[inline(always)]
    fn lane(&self, i: usize) -> R {
        let i = if self.backwards { self.size - 1 - i } else { i };
        self.lanes[i * self.step]
    }
}

#[inline(always)]
fn hit<L: Lane, O: Op, const NEGATE: bool>(raw: L::Raw, pair: Pair<L>) -> bool {
    holds(O::OP, pair, L::read(raw)) != NEGATE
}

/// The rule at run time, for the scalar path.
#[inline(always)]
fn scalar_hit<L: Lane>(raw: L::Raw, test: &Test) -> bool {
    holds(test.operation(), test.pair(), L::read(raw)) != test.negate()
}

/// A mask whose lines have results in one piece.
pub(super) struct Mask;

impl Sink for Mask {
    const TESTS: Tests = Tests::All;
    type Out<'o> = (&'o mut [MaybeUninit<bool>], Grid<'o>);
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (out, grid): (&mut [MaybeUninit<bool>], Grid<'_>),
    ) {
        let line = grid.line();
        let mut walk = Walk::lines(grid);
        loop {
            let results = results(out, walk.output, line.size);
            if line.input != 1 {
                pick::<L, O, NEGATE>(&Line::new(x, walk.input, line), test, results);
            } else {
                let row = row(x, walk.input, line.size);
                if line.size < BLOCK {
                    short::<L, O, NEGATE>(row, test, results);
                } else {
                    sinks::Mask::vector::<L, I, O, NEGATE>(isa, row, test, results);
                }
            }
            if !walk.next() {
                return;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, (out, grid): (&mut [MaybeUninit<bool>], Grid<'_>)) {
        let line = grid.line();
        let mut walk = Walk::lines(grid);
        loop {
            let results = results(out, walk.output, line.size);
            let lanes = Line::new(x, walk.input, line);
            for (i, out) in results.iter_mut().enumerate() {
                out.write(scalar_hit::<L>(lanes.lane(i), test));
            }
            if !walk.next() {
                return;
            }
        }
    }
}

/// A line with steps.
#[inline(always)]
fn pick<L: Lane, O: Op, const NEGATE: bool>(
    line: &Line<'_, L::Raw>,
    test: &Test,
    out: &mut [MaybeUninit<bool>],
) {
    let pair = test.pair::<L>();
    for (i, out) in out.iter_mut().enumerate() {
        out.write(hit::<L, O, NEGATE>(line.lane(i), pair));
    }
}

/// A line of less than a block, in pieces of a size that the compiler knows; the last overlaps the one before.
#[inline(always)]
fn short<L: Lane, O: Op, const NEGATE: bool>(x: &[L::Raw], test: &Test, out: &mut [MaybeUninit<bool>]) {
    let pair = test.pair::<L>();
    match x.len() {
        16.. => pieces::<16, L, O, NEGATE>(x, pair, out),
        4.. => pieces::<4, L, O, NEGATE>(x, pair, out),
        _ => pieces::<1, L, O, NEGATE>(x, pair, out),
    }
}

#[inline(always)]
fn pieces<const N: usize, L: Lane, O: Op, const NEGATE: bool>(
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let (x_pieces, out_pieces) = (x.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
    for (piece, out) in x_pieces.iter().zip(out_pieces) {
        store::<N, L, O, NEGATE>(piece, pair, out);
    }
    if let (Some(piece), Some(out)) = (x.last_chunk::<N>(), out.last_chunk_mut::<N>()) {
        store::<N, L, O, NEGATE>(piece, pair, out);
    }
}

#[inline(always)]
fn store<const N: usize, L: Lane, O: Op, const NEGATE: bool>(
    piece: &[L::Raw; N],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>; N],
) {
    for (&raw, out) in piece.iter().zip(out) {
        out.write(hit::<L, O, NEGATE>(raw, pair));
    }
}

/// What the output is for the first hit.
pub(super) struct Position;

impl Sink for Position {
    const TESTS: Tests = Tests::All;
    type Out<'o> = Grid<'o>;
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        grid: Grid<'_>,
    ) -> Option<usize> {
        let line = grid.line();
        let pair = test.pair::<L>();
        let mut walk = Walk::lines(grid);
        loop {
            let first = if line.input != 1 {
                let lanes = Line::new(x, walk.input, line);
                let mut i = 0;
                while i < line.size && !hit::<L, O, NEGATE>(lanes.lane(i), pair) {
                    i += 1;
                }
                (i < line.size).then_some(i)
            } else {
                let row = row(x, walk.input, line.size);
                if line.size < BLOCK {
                    first::<L, O, NEGATE>(row, pair)
                } else {
                    sinks::Position::vector::<L, I, O, NEGATE>(isa, row, test, ())
                }
            };
            if let Some(i) = first {
                return Some(walk.output.wrapping_add_signed(line.output.wrapping_mul(i as isize)));
            }
            if !walk.next() {
                return None;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, grid: Grid<'_>) -> Option<usize> {
        let line = grid.line();
        let mut walk = Walk::lines(grid);
        loop {
            let lanes = Line::new(x, walk.input, line);
            for i in 0..line.size {
                if scalar_hit::<L>(lanes.lane(i), test) {
                    return Some(walk.output.wrapping_add_signed(line.output.wrapping_mul(i as isize)));
                }
            }
            if !walk.next() {
                return None;
            }
        }
    }
}

/// The first hit of a line of less than a block: whether there is one is found without a branch for each element.
#[inline(always)]
fn first<L: Lane, O: Op, const NEGATE: bool>(x: &[L::Raw], pair: Pair<L>) -> Option<usize> {
    let mut any = false;
    for &raw in x {
        any |= hit::<L, O, NEGATE>(raw, pair);
    }
    if any { x.iter().position(|&raw| hit::<L, O, NEGATE>(raw, pair)) } else { None }
}

/// How many hits.
pub(super) struct Count;

impl Sink for Count {
    const TESTS: Tests = Tests::Positive;
    type Out<'o> = Grid<'o>;
    type Output = usize;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        grid: Grid<'_>,
    ) -> usize {
        let line = grid.line();
        let pair = test.pair::<L>();
        let mut walk = Walk::lines(grid);
        let mut count = 0;
        loop {
            if line.input != 1 {
                let lanes = Line::new(x, walk.input, line);
                for i in 0..line.size {
                    count += usize::from(hit::<L, O, NEGATE>(lanes.lane(i), pair));
                }
            } else {
                let row = row(x, walk.input, line.size);
                if line.size < BLOCK {
                    count += short_count::<L, O, NEGATE>(row, pair);
                } else {
                    count += sinks::Tally::vector::<L, I, O, NEGATE>(isa, row, test, ()).count;
                }
            }
            if !walk.next() {
                return count;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, grid: Grid<'_>) -> usize {
        let line = grid.line();
        let mut walk = Walk::lines(grid);
        let mut count = 0;
        loop {
            let lanes = Line::new(x, walk.input, line);
            for i in 0..line.size {
                count += usize::from(scalar_hit::<L>(lanes.lane(i), test));
            }
            if !walk.next() {
                return count;
            }
        }
    }
}

/// The hits of a line of less than a block.
#[inline(always)]
fn short_count<L: Lane, O: Op, const NEGATE: bool>(x: &[L::Raw], pair: Pair<L>) -> usize {
    // Fewer than 64 fit into a byte.
    let mut count = 0u8;
    for &raw in x {
        count += u8::from(hit::<L, O, NEGATE>(raw, pair));
    }
    usize::from(count)
}

/// Takes a census, counts only.
pub(super) struct Take;

impl Sink for Take {
    const TESTS: Tests = Tests::Greater;
    type Out<'o> = Grid<'o>;
    type Output = Census;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        nan: &Test,
        grid: Grid<'_>,
    ) -> Census {
        let line = grid.line();
        let mut walk = Walk::lines(grid);
        let mut census = Census::default();
        loop {
            if line.input != 1 || line.size < BLOCK {
                take::<L>(&mut census, &Line::new(x, walk.input, line), nan);
            } else {
                let row = row(x, walk.input, line.size);
                let here = sinks::Take::vector::<L, I, O, NEGATE>(isa, row, nan, ());
                add(&mut census.nan, here.nan.count);
                add(&mut census.pos_inf, here.pos_inf.count);
                add(&mut census.neg_inf, here.neg_inf.count);
            }
            if !walk.next() {
                return census;
            }
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], nan: &Test, grid: Grid<'_>) -> Census {
        let line = grid.line();
        let mut walk = Walk::lines(grid);
        let mut census = Census::default();
        loop {
            take::<L>(&mut census, &Line::new(x, walk.input, line), nan);
            if !walk.next() {
                return census;
            }
        }
    }
}

#[inline(always)]
fn add(class: &mut Class, count: usize) {
    class.count += count;
}

/// The census of a line, element by element.
#[inline(always)]
fn take<L: Lane>(census: &mut Census, line: &Line<'_, L::Raw>, nan: &Test) {
    let [special, nan, pos_inf] = nan.census_pairs::<L>();
    for i in 0..line.size {
        let lane = L::read(line.lane(i));
        if lane.and(special.mask) != special.bound {
            continue;
        }
        if lane.and(nan.mask) > nan.bound {
            census.nan.count += 1;
        } else if lane == pos_inf.bound {
            census.pos_inf.count += 1;
        } else {
            census.neg_inf.count += 1;
        }
    }
}
