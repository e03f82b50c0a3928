//! Columns of mask bytes become rows of the output. Plain integer arithmetic, which the compiler vectorises for each
//! instruction set.

use core::mem::MaybeUninit;

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

/// Eight columns at a time. The last eight overlap those before; of fewer than eight, what is read behind a row is of
/// the next rows, or of the eight bytes behind the last, and is not written.
#[inline(always)]
pub(super) fn blocks(scratch: &[u8], target: &mut Target<'_>) {
    let columns = target.along.size;
    let mut column = 0;
    while column < columns {
        let first = column.min(columns.saturating_sub(8));
        eight(scratch, target, first);
        column += 8;
    }
}

/// Eight columns, or fewer if there are no more.
#[inline(always)]
fn eight(scratch: &[u8], target: &mut Target<'_>, column: usize) {
    let rows = target.across.size;
    match rows {
        32.. => groups::<4>(scratch, target, column),
        8.. => groups::<1>(scratch, target, column),
        _ => {
            for row in 0..rows {
                for column in column..(column + 8).min(target.along.size) {
                    let at = target.at(row, column);
                    put(target.out, at, scratch[row * target.along.size + column] != 0);
                }
            }
        }
    }
}

/// Eight columns in groups of `8 * WIDE` rows; the last overlaps the one before.
#[inline(always)]
fn groups<const WIDE: usize>(scratch: &[u8], target: &mut Target<'_>, column: usize) {
    let (rows, columns) = (target.across.size, target.along.size);
    let mut row = 0;
    while row < rows {
        let first = row.min(rows - 8 * WIDE);
        let turned = turn::<WIDE>(scratch, first * columns + column, columns);
        for (i, words) in turned.iter().enumerate().take(columns) {
            let at = target.at(first, column + i);
            let slots = results(target.out, at, 8 * WIDE).as_chunks_mut::<8>().0;
            for (slots, &word) in slots.iter_mut().zip(words) {
                write(slots, word);
            }
        }
        row += 8 * WIDE;
    }
}

/// Eight results, the lowest bits of the bytes of a word, least significant first.
#[inline(always)]
fn write(slots: &mut [MaybeUninit<bool>; 8], word: u64) {
    let bytes = (word & 0x0101_0101_0101_0101).to_le_bytes();
    // SAFETY: same size and alignment; every byte is 0 or 1 and so a `bool`.
    *slots = unsafe { core::mem::transmute::<[u8; 8], [MaybeUninit<bool>; 8]>(bytes) };
}

/// `WIDE` squares of 8 x 8 bytes, one below the other, turned: word `k` of row `i` has column `i` of square `k`.
#[inline(always)]
fn turn<const WIDE: usize>(scratch: &[u8], start: usize, pitch: usize) -> [[u64; WIDE]; 8] {
    let mut words = [[0; WIDE]; 8];
    for i in 0..8 {
        for k in 0..WIDE {
            let at = start + (8 * k + i) * pitch;
            words[i][k] = scratch[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        }
    }
    swap::<WIDE, 4>(&mut words, 0x0000_0000_FFFF_FFFF);
    swap::<WIDE, 2>(&mut words, 0x0000_FFFF_0000_FFFF);
    swap::<WIDE, 1>(&mut words, 0x00FF_00FF_00FF_00FF);
    words
}

/// Swaps the two off-diagonal squares of `BY` bytes in each square of `2 * BY`; `low` covers the left of these.
#[inline(always)]
fn swap<const WIDE: usize, const BY: usize>(words: &mut [[u64; WIDE]; 8], low: u64) {
    let shift = 8 * BY as u32;
    for i in 0..8 {
        if i & BY != 0 {
            continue;
        }
        for k in 0..WIDE {
            let (upper, lower) = (words[i][k], words[i + BY][k]);
            words[i][k] = upper & low | (lower & low) << shift;
            words[i + BY][k] = upper >> shift & low | lower & !low;
        }
    }
}
