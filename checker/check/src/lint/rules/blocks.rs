//! The blocks of a matrix: each scale with the largest magnitude of its codes.

use nonfinite::Format;

use super::Findings;
use crate::lint::layouts::{Grid, Matrix, Role};
use crate::lint::model::Window;
use crate::model::Extreme;

/// The blocks whose scales fulfil a condition, each with the largest magnitude of its codes. Passes
/// at most `most` of them to `see`, until `see` returns false. Without `most`, passes all of them,
/// and any magnitude that is not zero. None if the codes cannot be read.
pub(super) fn blocks(
    found: &Findings<'_>,
    matrix: &Matrix,
    most: Option<usize>,
    is: impl Fn(f64) -> bool,
    mut see: impl FnMut(u64, f64, f64) -> bool,
) -> Option<()> {
    let grid = matrix.grid.as_ref()?;
    let codes = found.tensor(matrix.one(Role::Codes)?);
    let scales = found.tensor(matrix.one(Role::Scale)?);
    let (format, bits) = (scales.format()?, grid.float_bits?);
    let (mut left, mut are_read) = (most.unwrap_or(usize::MAX), true);
    // A row of blocks: rows of different blocks lie in turns.
    let rows = grid.block.0.min(grid.rows);
    let mut window = codes.window(rows.saturating_mul(grid.columns) / (8 / bits));
    scales.elements(format.size_in_bytes(), |index, code| {
        let scale = format.to_f64(code);
        if !is(scale) {
            return true;
        }
        left -= 1;
        let largest = largest(&mut window, grid, bits, index, most.is_none());
        are_read = largest.is_some();
        largest.is_some_and(|largest| see(index, scale, largest)) && left > 0
    });
    are_read.then_some(())
}

/// The first block with such a scale that has weights other than zero. None if the codes cannot be
/// read.
pub(super) fn first_nonzero(
    found: &Findings<'_>,
    matrix: &Matrix,
    is: impl Fn(f64) -> bool,
) -> Option<Option<u64>> {
    let mut first = None;
    blocks(found, matrix, None, is, |index, _, largest| {
        first = (largest > 0.0).then_some(index);
        first.is_none()
    })?;
    Some(first)
}

/// The largest magnitude of the codes of a block, or any that is not zero.
fn largest(
    codes: &mut Window<'_>,
    grid: &Grid,
    bits: u64,
    scale: u64,
    is_any: bool,
) -> Option<f64> {
    let &Grid { rows, columns, block: (high, wide), .. } = grid;
    let across = columns.div_ceil(wide);
    let down = rows.div_ceil(high);
    let (matrix, row, column) =
        (scale / across / down, scale / across % down * high, scale % across * wide);
    // Words of MLX hold codes of E4M3.
    let of_8 = codes.tensor.format().unwrap_or(Format::F8E4M3Fn);
    let mut largest: f64 = 0.0;
    for row in row..(row + high).min(rows) {
        let start = (matrix * rows + row) * columns + column;
        let end = start + wide.min(columns - column);
        let bytes = codes.get(start * bits / 8..(end * bits).div_ceil(8))?;
        largest = largest.max(if bits == 4 {
            largest_of_4_bits(bytes)
        } else {
            // Without their signs, codes are in the order of their values.
            let finite = bytes.iter().map(|byte| byte & 0x7F).filter(|code| *code < 0x7F);
            of_8.to_f64(finite.fold(0, u8::max).into())
        });
        if is_any && largest > 0.0 {
            break;
        }
    }
    Some(largest)
}

/// The largest magnitude among codes of FP4, two in a byte.
pub(super) fn largest_of_4_bits(bytes: &[u8]) -> f64 {
    let code = bytes.iter().fold(0, |most: u8, byte| most.max(byte & 7).max(byte >> 4 & 7));
    Format::F4E2M1Fn.to_f64(code.into())
}

/// The largest of the global scales by which weights are multiplied. 1 without such a scale.
pub(super) fn global(found: &Findings<'_>, matrix: &Matrix) -> f64 {
    let Some((role, index)) = matrix.global() else { return 1.0 };
    let tensor = found.tensor(index);
    let value = |extreme: Option<&Extreme>| extreme.map_or(1.0, |extreme| extreme.value);
    if role == Role::Divisor { 1.0 / value(tensor.min()) } else { value(tensor.max()) }
}
