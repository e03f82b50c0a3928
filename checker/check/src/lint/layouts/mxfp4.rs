//! gpt-oss: blocks of 16 bytes, which hold 32 codes of 4 bits, and a scale of E8M0 for each.

use nonfinite::Format;

use super::{Grid, Layout, Matrix, Misfit, NONE, Parts, Role, Tensors, is_integer, one};

pub(super) static LAYOUT: Layout = Layout {
    endings: &[
        ("_blocks", Role::Codes),
        (".blocks", Role::Codes),
        ("_scales", Role::Scale),
        (".scales", Role::Scale),
    ],
    is: |parts, tensors, _| {
        one(parts, Role::Codes).is_some_and(|codes| is_integer(tensors[codes], 1))
    },
    grid,
    byte_scales: |_: &Parts, _, _| Some(Format::F8E8M0Fnu),
    ..NONE
};

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let (Some(codes), Some(scale)) = (matrix.one(Role::Codes), matrix.one(Role::Scale)) else {
        return Ok(None);
    };
    let (codes, shape) = (&tensors[codes].shape, &tensors[scale].shape);
    match codes.as_slice() {
        [batch @ .., rows, blocks, 16] if shape[..] == codes[..codes.len() - 1] => Ok(Some(Grid {
            matrices: batch.iter().fold(1, |all: u64, &length| all.saturating_mul(length)),
            rows: *rows,
            columns: blocks.saturating_mul(32),
            block: (1, 32),
            float_bits: Some(4),
        })),
        _ => Err((scale, format!("scales {shape:?} do not fit blocks {codes:?} of 16 bytes"))),
    }
}
