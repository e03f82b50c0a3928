//! Copies of elements from one layout to another.

use super::dims::{Dim, all_steps, steps};

/// Copies the element at each coordinate. Elements have `element` bytes; steps are in elements. May
/// exchange the first two dimensions.
///
/// # Safety
/// Each element can be read, each place can be written, and none is both.
pub(super) unsafe fn copy(element: usize, from: *const u8, to: *mut u8, dims: &mut [Dim]) {
    if let [inner, outer, ..] = dims
        && (inner.input, inner.output) != (1, 1)
        // Long inner loops, and loops that read adjacent elements: elements that are far from each
        // other share few sets of a cache.
        && (outer.size > inner.size || outer.input.unsigned_abs() == 1 && outer.size >= 16)
    {
        core::mem::swap(inner, outer);
    }
    // SAFETY: as the caller vouches.
    unsafe { copy_runs(element, from, to, dims) }
}

/// Copies mask bytes to their places: the innermost dimension of `dims` is the one with the least
/// step in the output.
///
/// # Safety
/// As [`copy`].
pub(super) unsafe fn copy_bytes(from: *const u8, to: *mut u8, dims: &mut [Dim]) {
    let inner = dims.first().copied().unwrap_or(Dim::ONE);
    if inner.output == 1
        && inner.input > 1
        && inner.size >= SIDE
        && let Some(along) = dims.iter().position(|dim| dim.input == 1 && dim.size >= SIDE)
    {
        dims.swap(1, along);
        // SAFETY: coordinates of the other dimensions; the rest is as the caller vouches.
        return all_steps(&dims[2..], &mut |input, output, _| unsafe {
            transpose(from.offset(input), to.offset(output), dims[1], inner);
        });
    }
    if let [inner, outer, ..] = dims
        && inner.size < 16.min(outer.size)
    {
        core::mem::swap(inner, outer);
    }
    // SAFETY: as the caller vouches.
    unsafe { copy_runs(1, from, to, dims) }
}

/// The side of a square of mask bytes that is transposed at once.
const SIDE: usize = 8;

/// Transposes columns into rows, in squares. `along` has a step of 1 in the input, `across` in the
/// output, and both have at least [`SIDE`] coordinates. The last squares overlap those before them.
///
/// # Safety
/// As [`copy`].
unsafe fn transpose(from: *const u8, to: *mut u8, along: Dim, across: Dim) {
    for column in (0..along.size).step_by(SIDE).map(|column| column.min(along.size - SIDE)) {
        for row in (0..across.size).step_by(SIDE).map(|row| row.min(across.size - SIDE)) {
            // SAFETY: the rows and columns of a square are within the sizes of the dimensions.
            unsafe {
                let from = from.offset(row as isize * across.input).add(column);
                let to = to.offset(column as isize * along.output).add(row);
                let square = core::array::from_fn(|i| {
                    u64::from_le_bytes(*from.offset(i as isize * across.input).cast())
                });
                for (i, bytes) in transposed(square).into_iter().enumerate() {
                    *to.offset(i as isize * along.output).cast() = bytes.to_le_bytes();
                }
            }
        }
    }
}

/// Transposes a square of bytes: exchanges the corners of squares of 8, of 4 and of 2 bytes.
#[inline(always)]
fn transposed(mut rows: [u64; SIDE]) -> [u64; SIDE] {
    for (step, mask) in [(4, 0xFFFF_FFFF), (2, 0xFFFF_0000_FFFF), (1, 0x00FF_00FF_00FF_00FF)] {
        for i in (0..SIDE).filter(|i| i & step == 0) {
            let exchanged = (rows[i] >> (8 * step) ^ rows[i + step]) & mask;
            rows[i + step] ^= exchanged;
            rows[i] ^= exchanged << (8 * step);
        }
    }
    rows
}

/// Copies the elements of the first dimension for each coordinate of the second, and these for each
/// of the others.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_runs(element: usize, from: *const u8, to: *mut u8, dims: &[Dim]) {
    let [inner, outer] = [0, 1].map(|i| dims.get(i).copied().unwrap_or(Dim::ONE));
    let in_one_piece = inner.input == 1 && inner.output == 1;
    let repeated = element == 1 && inner.input == 0 && inner.output == 1;
    let copy_run = match element {
        1 => elements::<1>,
        2 => elements::<2>,
        4 => elements::<4>,
        _ => elements::<8>,
    };
    let step = element as isize;
    let runs = Dim { input: outer.input * step, output: outer.output * step, ..outer };
    let (size, by, to_by) = (inner.size, inner.input * step, inner.output * step);
    all_steps(dims.get(2..).unwrap_or(&[]), &mut |input, output, _| {
        // SAFETY: coordinates of the other dimensions; the rest is as the caller vouches.
        unsafe {
            let (from, to) = (from.offset(input * step), to.offset(output * step));
            if in_one_piece {
                byte_runs(from, to, size * element, runs);
            } else if repeated {
                steps(runs, |input, output| {
                    to.offset(output).write_bytes(*from.offset(input), size);
                });
            } else {
                steps(runs, |input, output| {
                    copy_run(from.offset(input), to.offset(output), size, by, to_by);
                });
            }
        }
    });
}

/// Copies a run of `size` elements of `N` bytes. In the input they are `by` bytes apart, in the
/// output `to_by`. A round copies four, since a round costs more than a copy.
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
            // SAFETY: an element of the run, and its place. Arrays of bytes may have any address.
            unsafe { *to.cast::<[u8; N]>() = *from.cast::<[u8; N]>() };
            (from, to) = (from.wrapping_offset(by), to.wrapping_offset(to_by));
        }
    };
    for _ in 0..size / 4 {
        copy_next(4);
    }
    copy_next(size % 4);
}

/// Copies runs of `size` adjacent bytes.
///
/// # Safety
/// As [`copy`].
#[inline(never)]
unsafe fn byte_runs(from: *const u8, to: *mut u8, size: usize, runs: Dim) {
    // SAFETY: `size` is in the range of `pairs`; the rest is as the caller vouches.
    unsafe {
        match size {
            1..=2 => pairs::<1>(from, to, size, runs),
            3..=4 => pairs::<2>(from, to, size, runs),
            5..=8 => pairs::<4>(from, to, size, runs),
            9..=16 => pairs::<8>(from, to, size, runs),
            17..=32 => pairs::<16>(from, to, size, runs),
            33..=64 => pairs::<32>(from, to, size, runs),
            65..=128 => pairs::<64>(from, to, size, runs),
            _ => steps(runs, |input, output| {
                core::ptr::copy_nonoverlapping(from.offset(input), to.offset(output), size);
            }),
        }
    }
}

/// Copies runs of `N` to `2 * N` bytes: the first `N` and the last `N`, which may overlap.
///
/// # Safety
/// As [`copy`], with `size` in this range.
#[inline(always)]
unsafe fn pairs<const N: usize>(from: *const u8, to: *mut u8, size: usize, runs: Dim) {
    let last = size - N;
    steps(runs, |input, output| {
        // SAFETY: both pieces are in the run.
        unsafe {
            let (from, to) = (from.offset(input), to.offset(output));
            let (first, second) = (*from.cast::<[u8; N]>(), *from.add(last).cast::<[u8; N]>());
            *to.cast() = first;
            *to.add(last).cast() = second;
        }
    });
}
