//! AWQ: `qweight` `[K, N·b/32]`, `scales` `[K/g, N]`, `qzeros` `[K/g, N·b/32]`.

use super::{Grid, Layout, Legal, Misfit, Part, Tensors, is_integer, of_bits};
use crate::lint::model::Matrix;

pub(super) static LAYOUT: Layout = Layout {
    endings: &[(".qweight", Part::Codes), (".scales", Part::Scale), (".qzeros", Part::Zeros)],
    is: |parts, _, _| parts.contains_key(".qweight"),
    grid,
    byte_scales: |_, _, _| None,
    needs: |_, _| &[".qzeros"],
    has_global: false,
    reach: Some(of_bits),
    zero: Legal::No,
    negative: Legal::No,
};

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let shape = |ending| matrix.shape(ending, tensors);
    let Some((index, qweight)) = shape(".qweight") else { return Ok(None) };
    let Some((scales_at, scales)) = shape(".scales") else { return Ok(None) };
    let (&[inputs, packed], &[groups, columns]) = (qweight, scales) else {
        return Err((scales_at, format!("scales {scales:?} do not fit codes {qweight:?}")));
    };
    if !is_integer(tensors[index], 4) {
        return Ok(None);
    }
    let bits = matrix.scheme.bits.filter(|bits| (1..=8).contains(bits)).unwrap_or(4);
    let outputs = packed.saturating_mul(32) / bits;
    let group = matrix.scheme.group.filter(|&group| group > 0);
    if columns != outputs || group.is_some_and(|group| groups != inputs.div_ceil(group)) {
        let why = format!("scales {scales:?} do not fit weights of {inputs} x {outputs}");
        return Err((scales_at, why));
    }
    if let Some((at, qzeros)) = shape(".qzeros")
        && qzeros != [groups, packed]
    {
        return Err((at, format!("zero points {qzeros:?} do not fit scales {scales:?}")));
    }
    let block = (inputs.div_ceil(groups.max(1)), 1);
    Ok(Some(Grid { matrices: 1, rows: inputs, columns: outputs, block, float_bits: None }))
}
