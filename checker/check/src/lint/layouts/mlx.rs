//! MLX: codes in `weight` `[N, K·b/32]` of U32, `scales` `[N, K/g]`, and `biases` of the affine
//! mode. Scales of the affine mode may be negative: they are those of the largest magnitude.

use nonfinite::Format;

use super::{
    Grid, Layout, Legal, Matrix, Misfit, NONE, Role, Tensors, extents, is_integer, of_bits,
};

pub(super) static LAYOUT: Layout = Layout {
    endings: &[(".weight", Role::Codes), (".scales", Role::Scale), (".biases", Role::Other)],
    is: |parts, tensors, config| {
        let codes = parts.get(".weight").map(|&(_, index)| tensors[index]);
        let is_mlx = parts.contains_key(".scales") || config.is_quantised();
        codes.is_some_and(|codes| is_integer(codes, 4)) && is_mlx
    },
    grid,
    // Blocks of 16 have scales of E4M3, blocks of 32 of E8M0.
    byte_scales: |_, _, scheme| {
        let is_nvfp4 = scheme.mode.as_deref() == Some("nvfp4") || scheme.group == Some(16);
        Some(if is_nvfp4 { Format::F8E4M3Fn } else { Format::F8E8M0Fnu })
    },
    needs: |_, scheme| match scheme.mode.as_deref() {
        None | Some("affine") => vec![".biases"],
        Some(_) => Vec::new(),
    },
    reach: Some(of_bits),
    zero: Legal::Yes,
    negative: Legal::Yes,
    ..NONE
};

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let (Some(codes), Some(scale)) = (matrix.one(Role::Codes), matrix.one(Role::Scale)) else {
        return Ok(None);
    };
    let shape = &tensors[scale].shape;
    let wrong = |index: usize, why: String| Err((index, why));
    let (Some((count, rows, packed)), Some((batch, scale_rows, groups))) =
        (extents(&tensors[codes].shape), extents(shape))
    else {
        return Ok(None);
    };
    let (bits, group) = (matrix.scheme.bits, matrix.scheme.group);
    let columns =
        packed.saturating_mul(32) / bits.filter(|bits| (1..=8).contains(bits)).unwrap_or(4);
    let fits = match (bits, group.filter(|&group| group > 0)) {
        (Some(_), Some(group)) => groups == columns.div_ceil(group),
        _ => groups > 0,
    };
    if !fits || (batch, scale_rows) != (count, rows) {
        let codes = &tensors[codes].shape;
        return wrong(scale, format!("scales {shape:?} do not fit codes {codes:?}"));
    }
    if let Some(biases) = matrix.one(Role::Other) {
        let biases_shape = &tensors[biases].shape;
        if biases_shape != shape {
            return wrong(biases, format!("biases {biases_shape:?} do not fit scales {shape:?}"));
        }
    }
    let block = (1, columns.div_ceil(groups));
    // Codes of 4 and 8 bits lie in the words one after another.
    let float_bits = match matrix.scheme.mode.as_deref() {
        Some("mxfp4" | "nvfp4") => Some(4),
        Some("mxfp8") => Some(8),
        _ => None,
    };
    Ok(Some(Grid { matrices: count, rows, columns, block, float_bits }))
}
