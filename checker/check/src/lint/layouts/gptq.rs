//! GPTQ and AWQ: codes in words of 32 bits, with scales of groups of g inputs.
//!
//! | | `qweight` | `scales` | `qzeros` | `g_idx` |
//! |---|---|---|---|---|
//! | GPTQ | `[K·b/32, N]` | `[K/g, N]` | `[K/g, N·b/32]` | `[K]` |
//! | AWQ | `[K, N·b/32]` | `[K/g, N]` | `[K/g, N·b/32]` | |

use super::{Grid, Layout, Matrix, Misfit, NONE, Parts, Role, Tensors, is_integer, of_bits};

pub(super) static GPTQ: Layout = Layout {
    endings: &[
        (".qweight", Role::Codes),
        (".scales", Role::Scale),
        (".qzeros", Role::Zeros),
        (".g_idx", Role::Index),
    ],
    is: |parts, tensors, config| {
        let is_awq = config.method == "awq" || is_awq(parts, tensors);
        parts.contains_key(".qweight") && !is_awq
    },
    grid: |matrix, tensors| {
        grid(matrix, tensors, |[rows, columns], bits| [rows.saturating_mul(32) / bits, columns])
    },
    needs: |_, _| vec![".qzeros"],
    is_gptq: true,
    reach: Some(of_bits),
    ..NONE
};

pub(super) static AWQ: Layout = Layout {
    endings: &[(".qweight", Role::Codes), (".scales", Role::Scale), (".qzeros", Role::Zeros)],
    is: |parts, _, _| parts.contains_key(".qweight"),
    grid: |matrix, tensors| {
        grid(matrix, tensors, |[rows, columns], bits| [rows, columns.saturating_mul(32) / bits])
    },
    is_gptq: false,
    ..GPTQ
};

/// Whether codes of 4 bits lie along the columns, as those of AWQ do.
fn is_awq(parts: &Parts, tensors: &Tensors<'_>) -> bool {
    let shape = |name| parts.get(name).map(|&(_, index)| tensors[index].shape.as_slice());
    match (shape(".qweight"), shape(".scales")) {
        (Some([_, packed]), Some([_, columns])) => {
            packed != columns
                && packed.checked_mul(8) == Some(*columns)
                && !parts.contains_key(".g_idx")
        }
        _ => false,
    }
}

/// `unpacked` are the inputs and outputs of codes of a shape, by their bits.
fn grid(
    matrix: &Matrix,
    tensors: &Tensors<'_>,
    unpacked: fn([u64; 2], u64) -> [u64; 2],
) -> Result<Option<Grid>, Misfit> {
    let shape = |ending| matrix.shape(ending, tensors);
    let Some((index, qweight)) = shape(".qweight") else { return Ok(None) };
    let Some((scales_at, scales)) = shape(".scales") else { return Ok(None) };
    if !is_integer(tensors[index], 4) {
        return Ok(None);
    }
    let bits = matrix.scheme.bits.filter(|bits| (1..=8).contains(bits)).unwrap_or(4);
    let (&[rows, columns], &[groups, of]) = (qweight, scales) else {
        return Err((scales_at, format!("scales {scales:?} do not fit codes {qweight:?}")));
    };
    let [inputs, outputs] = unpacked([rows, columns], bits);
    let group = matrix.scheme.group.filter(|&group| group > 0);
    let wanted = [group.map_or(groups, |group| inputs.div_ceil(group)), outputs];
    if scales != wanted {
        let why = format!(
            "scales {scales:?} do not fit weights of {inputs} x {outputs}: {wanted:?} is needed"
        );
        return Err((scales_at, why));
    }
    let zeros = [groups, of.saturating_mul(bits).div_ceil(32)];
    for (ending, wanted) in [(".qzeros", &zeros[..]), (".g_idx", &[inputs])] {
        if let Some((at, found)) = shape(ending).filter(|(_, found)| *found != wanted) {
            let why = format!("{found:?} does not fit scales {scales:?}: {wanted:?} is needed");
            return Err((at, why));
        }
    }
    let block = (inputs.div_ceil(groups.max(1)), 1);
    Ok(Some(Grid { matrices: 1, rows: inputs, columns: outputs, block, float_bits: None }))
}
