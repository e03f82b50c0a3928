//! Columns of mask bytes become rows of the output.

use core::mem::MaybeUninit;

use super::interleave::{Row, bytes_of, interleave, row_of};
use super::results;
use super::tile::{Target, put};

/// Rows of few columns.
#[inline(always)]
pub(super) fn columns<const COLUMNS: usize>(scratch: &[u8], target: &mut Target<'_>) {
    const ROWS: usize = 64;
    let rows = &scratch.as_chunks::<COLUMNS>().0[..target.across.size];
    let (groups, rest) = rows.as_chunks::<ROWS>();
    for (i, group) in groups.iter().enumerate() {
        let mut turned = [[0; ROWS]; COLUMNS];
        for (row, bytes) in group.iter().enumerate() {
            for column in 0..COLUMNS {
                turned[column][row] = bytes[column];
            }
        }
        for (column, bytes) in turned.iter().enumerate() {
            let at = target.at(i * ROWS, column);
            for (slot, &byte) in results(target.out, at, ROWS).iter_mut().zip(bytes) {
                slot.write(byte != 0);
            }
        }
    }
    for (i, bytes) in rest.iter().enumerate() {
        for (column, &byte) in bytes.iter().enumerate() {
            let at = target.at(groups.len() * ROWS + i, column);
            put(target.out, at, byte != 0);
        }
    }
}

/// Squares of 16 x 16. The last of a row and of a column overlap those before. Of fewer columns than 16, what is read
/// behind a row is of the next rows, or of the [`SLACK`] behind the last, and is not written.
#[inline(always)]
pub(super) fn squares(scratch: &[u8], target: &mut Target<'_>) {
    let (rows, columns) = (target.across.size, target.along.size);
    if rows < SIDE {
        return singles(scratch, target);
    }
    let mut column = 0;
    while column < columns {
        let first = column.min(columns.saturating_sub(SIDE));
        let mut row = 0;
        while row < rows {
            let top = row.min(rows - SIDE);
            let square = load(scratch, top * columns + first, columns);
            for (i, answers) in turn(square).into_iter().enumerate().take(columns) {
                let at = target.at(top, first + i);
                if let Some(slots) = results(target.out, at, SIDE).first_chunk_mut() {
                    write(slots, answers);
                }
            }
            row += SIDE;
        }
        column += SIDE;
    }
}

/// Rows and columns of a square.
const SIDE: usize = 16;
/// What a scratch must have behind the last row.
pub(super) const SLACK: usize = SIDE;

/// One by one.
#[inline(always)]
fn singles(scratch: &[u8], target: &mut Target<'_>) {
    for (row, bytes) in scratch.chunks_exact(target.along.size).take(target.across.size).enumerate() {
        for (column, &byte) in bytes.iter().enumerate() {
            let at = target.at(row, column);
            put(target.out, at, byte != 0);
        }
    }
}

/// The rows of a square. What is not in the scratch is zero.
#[inline(always)]
fn load(scratch: &[u8], start: usize, pitch: usize) -> [Row; SIDE] {
    let mut square = [row_of([0; SIDE]); SIDE];
    let mut rest = scratch.get(start..).unwrap_or(&[]);
    for row in &mut square {
        if let Some(bytes) = rest.first_chunk() {
            *row = row_of(*bytes);
        }
        rest = rest.get(pitch..).unwrap_or(&[]);
    }
    square
}

/// Sixteen results, from the lowest bit of each byte.
#[inline(always)]
fn write(slots: &mut [MaybeUninit<bool>; SIDE], row: Row) {
    let bits = u128::from_le_bytes(bytes_of(row)) & u128::from_le_bytes([1; SIDE]);
    // SAFETY: same size and alignment; every byte is 0 or 1 and so a `bool`.
    *slots = unsafe { core::mem::transmute::<[u8; SIDE], [MaybeUninit<bool>; SIDE]>(bits.to_le_bytes()) };
}

/// Each round interleaves the bytes of row `i` and row `i + 8`: of the eight bits of a byte's place, row and column, each moves
/// up by one, and after four rounds row and column have changed places.
#[inline(always)]
fn turn(mut square: [Row; SIDE]) -> [Row; SIDE] {
    for _ in 0..4 {
        let before = square;
        for i in 0..SIDE / 2 {
            [square[2 * i], square[2 * i + 1]] = interleave(before[i], before[i + SIDE / 2]);
        }
    }
    square
}
