//! Copies of elements from one layout to another.

use super::dims::{Dim, line, sort, walk};
use super::interleave::{Row, bytes_of, interleave, row_of};

/// Copies the element at each coordinate. Elements have `element` bytes; steps are in elements.
///
/// # Safety
/// Each element can be read, each place can be written, and none is both.
#[inline(never)]
pub(super) unsafe fn copy(element: usize, from: *const u8, to: *mut u8, dims: &[Dim]) {
    let mut inner = dims.first().copied().unwrap_or(Dim::ONE);
    let mut outer = dims.get(1).copied().unwrap_or(Dim::ONE);
    let in_one_piece = inner.input == 1 && inner.output == 1;
    // A long inner loop, and one that reads adjacent elements: far ones share few sets of a cache.
    let adjacent = outer.input.unsigned_abs() == 1 && outer.size >= SIDE;
    if !in_one_piece && (outer.size > inner.size || adjacent) {
        (inner, outer) = (outer, inner);
    }
    let copy_line = match element {
        1 => elements::<1>,
        2 => elements::<2>,
        4 => elements::<4>,
        _ => elements::<8>,
    };
    let step = element as isize;
    let lines_of_bytes = Dim { input: outer.input * step, output: outer.output * step, ..outer };
    let (size, by, to_by) = (inner.size, inner.input * step, inner.output * step);
    walk(dims.get(2..).unwrap_or(&[]), &mut |input, output| {
        // SAFETY: coordinates of the other dimensions; the rest is as the caller vouches.
        unsafe {
            let (from, to) = (from.offset(input * step), to.offset(output * step));
            if in_one_piece {
                byte_lines(from, to, size * element, lines_of_bytes);
            } else {
                line(lines_of_bytes, |input, output| {
                    copy_line(from.offset(input), to.offset(output), size, by, to_by);
                });
            }
        }
    });
}

/// Copies a line of `size` elements of `N` bytes. In the input they are `by` bytes apart, in the
/// output `to_by`. Copies four a turn, since a turn costs more than a copy.
///
/// # Safety
/// As [`copy`].
#[inline(never)]
unsafe fn elements<const N: usize>(
    mut from: *const u8,
    mut to: *mut u8,
    size: usize,
    by: isize,
    to_by: isize,
) {
    let mut copy_next = |count| {
        for _ in 0..count {
            // SAFETY: an element of the line, and its place. Arrays of bytes may have any address.
            unsafe { *to.cast::<[u8; N]>() = *from.cast::<[u8; N]>() };
            (from, to) = (from.wrapping_offset(by), to.wrapping_offset(to_by));
        }
    };
    for _ in 0..size / 4 {
        copy_next(4);
    }
    copy_next(size % 4);
}

/// Lines of bytes.
///
/// # Safety
/// As [`copy`].
#[inline(never)]
unsafe fn byte_lines(from: *const u8, to: *mut u8, size: usize, lines: Dim) {
    // SAFETY: each is as long as its lines are.
    unsafe {
        match size {
            1..=2 => pairs::<1>(from, to, size, lines),
            3..=4 => pairs::<2>(from, to, size, lines),
            5..=8 => pairs::<4>(from, to, size, lines),
            9..=16 => pairs::<8>(from, to, size, lines),
            17..=32 => pairs::<16>(from, to, size, lines),
            33..=64 => pairs::<32>(from, to, size, lines),
            65..=128 => pairs::<64>(from, to, size, lines),
            _ => line(lines, |input, output| {
                core::ptr::copy_nonoverlapping(from.offset(input), to.offset(output), size);
            }),
        }
    }
}

/// Lines of `N` to `2 * N` bytes: the first `N` and the last `N`, which may overlap.
///
/// # Safety
/// As [`copy`], with `size` in this range.
#[inline(always)]
unsafe fn pairs<const N: usize>(from: *const u8, to: *mut u8, size: usize, lines: Dim) {
    let last = size - N;
    line(lines, |input, output| {
        // SAFETY: both pieces are in the line.
        unsafe {
            let (from, to) = (from.offset(input), to.offset(output));
            let (first, second) = (*from.cast::<[u8; N]>(), *from.add(last).cast::<[u8; N]>());
            *to.cast() = first;
            *to.add(last).cast() = second;
        }
    });
}

/// The side of a square of mask bytes that is transposed at once. This many bytes must be readable
/// behind the input of [`place`].
pub(super) const SIDE: usize = 16;

/// Copies mask bytes from the output of a kernel to their places.
///
/// # Safety
/// As [`copy`]; and [`SIDE`] bytes can be read behind the bytes named.
#[inline(never)]
pub(super) unsafe fn place(from: *const u8, to: *mut u8, dims: &mut [Dim]) {
    sort(dims, |dim| dim.output.unsigned_abs());
    let [across, rest @ ..] = dims else {
        // SAFETY: one byte.
        return unsafe { *to = *from };
    };
    let forwards = across.output == 1;
    if across.output.unsigned_abs() == 1 {
        if across.input == 0 {
            let back = if forwards { 0 } else { across.size - 1 };
            return walk(rest, &mut |input, output| {
                // SAFETY: the places of a line all get the byte that it repeats.
                unsafe {
                    to.offset(output).sub(back).write_bytes(*from.offset(input), across.size);
                }
            });
        }
        if !forwards && across.input == 1 {
            // SAFETY: the bytes of a line and their places.
            return walk(rest, &mut |input, output| unsafe {
                reversed(from.offset(input), to.offset(output), across.size);
            });
        }
        if across.input != 1
            && across.size >= SIDE
            && let Some(along) = rest.iter().position(|dim| dim.input == 1)
        {
            rest.swap(0, along);
            let along = rest[0];
            // SAFETY: coordinates of the other dimensions; the rest is as the caller vouches.
            return walk(&rest[1..], &mut |input, output| unsafe {
                turn(from.offset(input), to.offset(output), along, *across);
            });
        }
    }
    // SAFETY: as the caller vouches.
    unsafe { copy(1, from, to, dims) }
}

/// Copies a line backwards: byte `i` goes to `to - i`.
///
/// # Safety
/// `size` bytes can be read from `from` on, and written up to `to`.
#[inline(never)]
unsafe fn reversed(from: *const u8, to: *mut u8, size: usize) {
    // SAFETY: below `size`.
    unsafe {
        let chunks = Dim { size: size / 16, input: 16, output: 16, row: 0 };
        line(chunks, |at, _| {
            let bytes = u128::from_ne_bytes(*from.offset(at).cast());
            *to.offset(-at - 15).cast() = bytes.swap_bytes().to_ne_bytes();
        });
        let rest = Dim { size: size % 16, input: 1, output: 1, row: 0 };
        let done = (size - rest.size) as isize;
        line(rest, |at, _| *to.offset(-done - at) = *from.offset(done + at));
    }
}

/// Transposes columns into rows, in squares. `along` has a step of 1 in the input. `across` has a
/// step of 1 or -1 in the output and at least [`SIDE`] coordinates. The last squares overlap the
/// squares before them.
///
/// # Safety
/// As [`place`].
#[inline(never)]
unsafe fn turn(from: *const u8, to: *mut u8, along: Dim, across: Dim) {
    let mut column = 0;
    while column < along.size {
        let first = column.min(along.size.saturating_sub(SIDE));
        let mut row = 0;
        while row < across.size {
            let top = row.min(across.size - SIDE) as isize;
            // SAFETY: bytes of these rows, or, of fewer columns than a square has, some behind;
            // places of these columns.
            unsafe {
                let from = from.offset(top * across.input).add(first);
                let square = core::array::from_fn(|i| {
                    row_of(*from.offset(i as isize * across.input).cast::<[u8; SIDE]>())
                });
                let square = turned(square);
                for (i, &answers) in square[..SIDE.min(along.size)].iter().enumerate() {
                    let to = to.offset(top * across.output + (first + i) as isize * along.output);
                    if across.output == 1 {
                        *to.cast() = bytes_of(answers);
                    } else {
                        let bytes = u128::from_ne_bytes(bytes_of(answers)).swap_bytes();
                        *to.sub(SIDE - 1).cast() = bytes.to_ne_bytes();
                    }
                }
            }
            row += SIDE;
        }
        column += SIDE;
    }
}

/// Each round interleaves the bytes of row `i` and row `i + 8`. The place of a byte has eight bits:
/// four of the row and four of the column. Each round rotates these bits up by one, so row and
/// column are exchanged after four rounds.
#[inline(always)]
fn turned(mut square: [Row; SIDE]) -> [Row; SIDE] {
    for _ in 0..4 {
        let before = square;
        for i in 0..SIDE / 2 {
            [square[2 * i], square[2 * i + 1]] = interleave(before[i], before[i + SIDE / 2]);
        }
    }
    square
}
