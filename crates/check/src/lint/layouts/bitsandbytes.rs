//! bitsandbytes: codes of 4 bits in `weight` `[n/2, 1]` with the largest magnitude of each block in
//! `absmax`, or codes of 8 bits with one a row in `SCB`. A magnitude of zero is that of a block of
//! zeros.

use super::{Grid, Layout, Legal, Misfit, Part, Tensors, is_integer};
use crate::lint::model::Matrix;

/// The JSON of a block size and a shape. `fp4` ends so, too.
const STATE: &str = ".weight.quant_state.bitsandbytes__nf4";

pub(super) static LAYOUT: Layout = Layout {
    endings: &[
        (".weight", Part::Codes),
        (".weight.absmax", Part::Scale),
        (".SCB", Part::Scale),
        (".weight.nested_absmax", Part::Other),
        (".weight.quant_map", Part::Other),
        (".weight.nested_quant_map", Part::Other),
        (".weight.quant_state.bitsandbytes__nf4", Part::Other),
        (".weight.quant_state.bitsandbytes__fp4", Part::Other),
        (".weight_format", Part::Other),
    ],
    is: |parts, tensors, config| {
        let codes = parts.get(".weight").is_some_and(|&(_, index)| is_integer(tensors[index], 1));
        codes && (parts.len() > 1 || config.method == "bitsandbytes")
    },
    grid,
    byte_scales: |_, _, _| None,
    needs: |parts, _| {
        let is_nested = parts.contains_key(".weight.nested_absmax")
            || parts.contains_key(".weight.nested_quant_map");
        match () {
            () if parts.contains_key(".SCB") => &[],
            () if is_nested => {
                &[".weight.quant_map", ".weight.nested_absmax", ".weight.nested_quant_map", STATE]
            }
            () => &[".weight.quant_map", STATE],
        }
    },
    has_global: false,
    reach: Some(|_| 1.0),
    zero: Legal::Yes,
    negative: Legal::No,
};

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let (Some(codes), Some(scale)) = (matrix.one(Part::Codes), matrix.one(Part::Scale)) else {
        return Ok(None);
    };
    // A number for each code.
    for (ending, numbers) in [(".weight.quant_map", 16), (".weight.nested_quant_map", 256)] {
        let map = matrix.parts.get(ending).map(|part| (part.1, tensors[part.1].elements()));
        if let Some((index, found)) = map.filter(|&(_, found)| found != 0 && found != numbers) {
            return Err((index, format!("{found} numbers, where codes need {numbers}")));
        }
    }
    let (codes, scales) = (tensors[codes], tensors[scale].elements());
    let weights = codes.elements();
    let fits = if matrix.parts.contains_key(".SCB") {
        codes.shape.first() == Some(&scales)
    } else {
        // The block size is in the JSON of the quant_state: a power of two.
        (5..=12).any(|power| weights.saturating_mul(2).div_ceil(1 << power) == scales)
    };
    if !fits {
        let why = format!("{scales} scales do not fit codes {:?}", codes.shape);
        return Err((scale, why));
    }
    Ok(None)
}
