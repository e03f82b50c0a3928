//! Masks, tile by tile where the output runs another way than the input: a tile is read along the input into a
//! scratch of mask bytes, and these are brought to their places. So only bytes are moved, whatever the elements are.

use core::mem::MaybeUninit;

use crate::isa::{Isa, Kernel};
use crate::lane::BLOCK;
use crate::out::MaskOut;
use crate::path::Path;
use crate::rule::{Rule, Test};

use super::gather::{Gather, ROOM};
use super::walk::Walk;
use super::{Dim, Grid, lines, outside, results, transpose};

/// Most results of a tile. The scratch has more, see [`transpose::SLACK`].
const TILE: usize = 4096;
/// Rows that are transposed as one: they should fill a cache line of the output.
const ROWS: usize = 64;

/// Fills all places of the output with one answer.
pub(super) fn fill(answer: bool, out: &mut [MaybeUninit<bool>], grid: Grid<'_>) {
    let line = grid.line();
    let mut walk = Walk::lines(grid);
    loop {
        if line.output == 1 {
            results(out, walk.output, line.size).fill(MaybeUninit::new(answer));
        } else {
            for i in 0..line.size {
                let at = walk.output.wrapping_add_signed(line.output.wrapping_mul(i as isize));
                put(out, at, answer);
            }
        }
        if !walk.next() {
            return;
        }
    }
}

/// One result.
#[inline(always)]
pub(super) fn put(out: &mut [MaybeUninit<bool>], at: usize, answer: bool) {
    match out.get_mut(at) {
        Some(slot) => {
            slot.write(answer);
        }
        None => outside(),
    }
}

/// The mask of a grid that is not empty.
pub(super) fn mask(path: Path, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>], grid: Grid<'_>) {
    match directions(grid.dims) {
        Some((along, across)) => by_tiles(path, x, test, out, grid, along, across),
        None => by_lines(path, x, test, out, grid),
    }
}

/// Along the innermost dimension.
fn by_lines(path: Path, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>], grid: Grid<'_>) {
    let line = grid.line();
    if line.input == 1 && line.output == 1 {
        return Path::run::<lines::Mask>(Some(path), x, test, (out, grid));
    }
    let (mut from, mut to) = (Gather::new(grid), Gather::new(grid));
    let mut room = [0; ROOM];
    let rule = Rule::Test(*test);
    while let Some(bytes) = from.fill(x, test.size(), &mut room) {
        let count = bytes.len() / test.size();
        if line.output == 1 && line.size >= count {
            // Most often they all belong to one line.
            let mut bytes = bytes;
            while !bytes.is_empty()
                && let Some((_, output, size)) = to.stretch(bytes.len() / test.size())
            {
                let (here, next) = bytes.split_at(size * test.size());
                crate::mask(Some(path), here, &rule, MaskOut::from(results(out, output, size)));
                bytes = next;
            }
            continue;
        }
        let mut scratch = [0; ROOM];
        let mut answers = &mut scratch[..count];
        crate::mask(Some(path), bytes, &rule, MaskOut::from(&mut *answers));
        while !answers.is_empty()
            && let Some((_, output, size)) = to.stretch(answers.len())
        {
            let (here, next) = answers.split_at_mut(size);
            place(here, out, output, line.output);
            answers = next;
        }
    }
}

/// Mask bytes from `output` on, `step` from one to the next.
#[inline(always)]
fn place(bytes: &[u8], out: &mut [MaybeUninit<bool>], output: usize, step: isize) {
    if step == 1 {
        for (slot, &byte) in results(out, output, bytes.len()).iter_mut().zip(bytes) {
            slot.write(byte != 0);
        }
    } else {
        for (i, &byte) in bytes.iter().enumerate() {
            put(out, output.wrapping_add_signed(step.wrapping_mul(i as isize)), byte != 0);
        }
    }
}

/// Tiles of two dimensions: read along the first, several rows across. Either may be one that is not there.
fn by_tiles(
    path: Path,
    x: &[u8],
    test: &Test,
    out: &mut [MaybeUninit<bool>],
    grid: Grid<'_>,
    along: Option<usize>,
    across: Option<usize>,
) {
    let take = |at: Option<usize>| at.map_or(Dim::ONE, |at| grid.dims[at]);
    let mut plane = Plane { along: take(along), across: take(across), input: 0, output: 0 };
    if plane.along.input == -1 {
        // Read it forwards.
        plane.turn();
    }
    let (turned_input, turned_output) = (plane.input, plane.output);

    assert!(grid.dims.len() <= Grid::MOST, "a grid of more than {} dimensions", Grid::MOST);
    let mut others = [Dim::default(); Grid::MOST];
    let mut rank = 0;
    for (i, &dim) in grid.dims.iter().enumerate() {
        if Some(i) != along && Some(i) != across {
            others[rank] = dim;
            rank += 1;
        }
    }
    let mut walk = Walk::new(Grid { dims: &others[..rank], ..grid });
    loop {
        plane.input = walk.input.wrapping_add(turned_input);
        plane.output = walk.output.wrapping_add(turned_output);
        plane.mask(path, x, test, out);
        if !walk.next() {
            return;
        }
    }
}

/// Which dimensions to read along and to take several rows of; none if lines will do: along the one whose elements lie in
/// one piece, across that with the smallest steps in the output, which is the first.
fn directions(dims: &[Dim]) -> Option<(Option<usize>, Option<usize>)> {
    let first = dims.first()?;
    if first.input == 0 {
        // One element is read of a broadcast dimension.
        return Some(((dims.len() > 1).then_some(1), Some(0)));
    }
    if first.input == -1 && first.output == 1 && first.size >= BLOCK {
        return Some((Some(0), (dims.len() > 1).then_some(1)));
    }
    let in_one_piece = |i: &usize| dims[*i].input.unsigned_abs() == 1;
    let along = (0..dims.len()).filter(in_one_piece).max_by_key(|&i| dims[i].size)?;
    // Few elements in one piece are worth it if the next few follow them.
    let size = dims[along].size;
    let worth = size >= 16 || first.input == size as isize && first.size * size >= BLOCK;
    (along > 0 && worth).then_some((Some(along), Some(0)))
}

/// Two dimensions of a grid.
struct Plane {
    along: Dim,
    across: Dim,
    input: usize,
    output: usize,
}

impl Plane {
    /// Turns the dimension around that is read along.
    fn turn(&mut self) {
        let Dim { size, input, output } = self.along;
        let last = (size - 1) as isize;
        self.input = self.input.wrapping_add_signed(input.wrapping_mul(last));
        self.output = self.output.wrapping_add_signed(output.wrapping_mul(last));
        self.along = Dim { size, input: input.wrapping_neg(), output: output.wrapping_neg() };
    }

    fn mask(&self, path: Path, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
        let Self { along, across, .. } = *self;
        // Of a broadcast dimension one row is read.
        let read = if across.input == 0 { 1 } else { across.size };
        let columns = along.size.min(TILE / read.min(ROWS));
        let rows = match across.input {
            0 => across.size,
            _ => across.size.min((TILE / columns).max(ROWS) / ROWS * ROWS),
        };
        let mut scratch = [0; TILE + transpose::SLACK];
        let mut row = 0;
        while row < across.size {
            let rows = rows.min(across.size - row);
            let mut column = 0;
            while column < along.size {
                let columns = columns.min(along.size - column);
                let offset = |from: usize, along: isize, across: isize| {
                    from.wrapping_add_signed(along.wrapping_mul(column as isize))
                        .wrapping_add_signed(across.wrapping_mul(row as isize))
                };
                let input = offset(self.input, along.input, across.input);
                let output = offset(self.output, along.output, across.output);
                let read = if across.input == 0 { 1 } else { rows };
                let dims = dense(
                    Dim { size: columns, input: along.input, output: 1 },
                    Dim { size: read, input: across.input, output: columns as isize },
                );
                let slots = MaskOut::from(&mut scratch[..read * columns]).slots();
                by_lines(path, x, test, slots, Grid { input, output: 0, dims: &dims });
                let target = Target {
                    out: &mut *out,
                    output,
                    along: Dim { size: columns, ..along },
                    across: Dim { size: rows, ..across },
                };
                path.scatter(&scratch, test, target);
                column += columns;
            }
            row += rows;
        }
    }
}

/// Makes one line of two dimensions where that is the same.
fn dense(along: Dim, across: Dim) -> [Dim; 2] {
    if along.input == 1 && across.input == along.size as isize {
        [Dim { size: along.size * across.size, ..along }, Dim { size: 1, ..across }]
    } else {
        [along, across]
    }
}

/// Where the mask bytes of a tile go.
pub(crate) struct Target<'o> {
    pub(super) out: &'o mut [MaybeUninit<bool>],
    output: usize,
    /// From column to column of the tile.
    pub(super) along: Dim,
    /// From row to row.
    pub(super) across: Dim,
}

impl Target<'_> {
    /// Where a result goes.
    #[inline(always)]
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        self.output
            .wrapping_add_signed(self.across.output.wrapping_mul(row as isize))
            .wrapping_add_signed(self.along.output.wrapping_mul(column as isize))
    }
}

/// Brings the mask bytes of a tile to their places.
pub(crate) struct Scatter;

impl<I: Isa> Kernel<I> for Scatter {
    type Out<'o> = Target<'o>;
    type Output = ();

    /// `scratch` has one row behind the other, and [`transpose::SLACK`]; of a broadcast dimension it has one row.
    #[inline(always)]
    fn run(_: I, scratch: &[u8], _: &Test, mut target: Target<'_>) {
        scatter(scratch, &mut target);
    }
}

#[inline(always)]
pub(crate) fn scatter(scratch: &[u8], target: &mut Target<'_>) {
    let (along, across) = (target.along, target.across);
    if across.input == 0 {
        spread(scratch, target);
    } else if along.output.unsigned_abs() == 1 {
        for (row, bytes) in scratch.chunks_exact(along.size).take(across.size).enumerate() {
            copy(bytes, target, row);
        }
    } else if across.output == 1 {
        match along.size {
            2 => transpose::columns::<2>(scratch, target),
            3 => transpose::columns::<3>(scratch, target),
            4 => transpose::columns::<4>(scratch, target),
            _ => transpose::squares(scratch, target),
        }
    } else {
        for (row, bytes) in scratch.chunks_exact(along.size).take(across.size).enumerate() {
            for (column, &byte) in bytes.iter().enumerate() {
                let at = target.at(row, column);
                put(target.out, at, byte != 0);
            }
        }
    }
}

/// One row into a row of the output, or backwards into it.
#[inline(always)]
fn copy(bytes: &[u8], target: &mut Target<'_>, row: usize) {
    if target.along.output == 1 {
        let at = target.at(row, 0);
        for (slot, &byte) in results(target.out, at, bytes.len()).iter_mut().zip(bytes) {
            slot.write(byte != 0);
        }
    } else {
        let at = target.at(row, bytes.len() - 1);
        for (slot, &byte) in results(target.out, at, bytes.len()).iter_mut().zip(bytes.iter().rev()) {
            slot.write(byte != 0);
        }
    }
}

/// One row for all rows.
#[inline(always)]
fn spread(scratch: &[u8], target: &mut Target<'_>) {
    let rows = target.across.size;
    for (column, &byte) in scratch.iter().take(target.along.size).enumerate() {
        let answer = byte != 0;
        if target.across.output == 1 {
            let at = target.at(0, column);
            results(target.out, at, rows).fill(MaybeUninit::new(answer));
        } else {
            for row in 0..rows {
                let at = target.at(row, column);
                put(target.out, at, answer);
            }
        }
    }
}
