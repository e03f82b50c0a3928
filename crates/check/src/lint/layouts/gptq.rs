//! GPTQ: `qweight` `[K·b/32, N]`, `scales` `[K/g, N]`, `qzeros` `[K/g, N·b/32]`, `g_idx` `[K]`.

use super::{Grid, Layout, Legal, Misfit, Part, Parts, Tensors, is_integer, of_bits};
use crate::lint::model::Matrix;

pub(super) static LAYOUT: Layout = Layout {
    endings: &[
        (".qweight", Part::Codes),
        (".scales", Part::Scale),
        (".qzeros", Part::Zeros),
        (".g_idx", Part::Index),
    ],
    is: |parts, tensors, config| {
        let is_awq = config.method == "awq" || is_awq(parts, tensors);
        parts.contains_key(".qweight") && !is_awq
    },
    grid,
    byte_scales: |_, _, _| None,
    needs: |_, _| &[".qzeros"],
    has_global: false,
    reach: Some(of_bits),
    zero: Legal::No,
    negative: Legal::No,
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

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let shape = |ending| matrix.shape(ending, tensors);
    let Some((index, qweight)) = shape(".qweight") else { return Ok(None) };
    if !is_integer(tensors[index], 4) {
        return Ok(None);
    }
    let Some((scales_at, scales)) = shape(".scales") else { return Ok(None) };
    let bits = matrix.scheme.bits.filter(|bits| (1..=8).contains(bits)).unwrap_or(4);
    let (&[packed, outputs], &[groups, columns]) = (qweight, scales) else {
        return Err((scales_at, format!("scales {scales:?} do not fit codes {qweight:?}")));
    };
    let inputs = packed.saturating_mul(32) / bits;
    let group = matrix.scheme.group.filter(|&group| group > 0);
    if columns != outputs || group.is_some_and(|group| groups != inputs.div_ceil(group)) {
        let wanted = group.map_or_else(
            || format!("[groups, {outputs}]"),
            |group| format!("{:?}", [inputs.div_ceil(group), outputs]),
        );
        let why = format!(
            "scales {scales:?} do not fit weights of {inputs} x {outputs}: {wanted} is needed"
        );
        return Err((scales_at, why));
    }
    if let Some((at, qzeros)) = shape(".qzeros") {
        let wanted = [groups, outputs.saturating_mul(bits).div_ceil(32)];
        if qzeros != wanted {
            let why = format!("zero points {qzeros:?} do not fit scales {scales:?}: {wanted:?}");
            return Err((at, why + " is needed"));
        }
    }
    if let Some((at, g_idx)) = shape(".g_idx")
        && g_idx != [inputs]
    {
        return Err((at, format!("g_idx {g_idx:?} does not fit {inputs} inputs")));
    }
    let block = (inputs.div_ceil(groups.max(1)), 1);
    Ok(Some(Grid { matrices: 1, rows: inputs, columns: outputs, block, float_bits: None }))
}
