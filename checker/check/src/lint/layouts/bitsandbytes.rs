//! bitsandbytes: codes of 4 bits in `weight` `[n/2, 1]` with the largest magnitude of each block in
//! `absmax`, or codes of 8 bits with one a row in `SCB`. A magnitude of zero is that of a block of
//! zeros.

use super::{Grid, Layout, Legal, Matrix, Misfit, NONE, Role, Tensors, is_integer};

/// The JSON of a block size and a shape, of codes of nf4 and of fp4.
const STATES: [&str; 2] =
    [".weight.quant_state.bitsandbytes__nf4", ".weight.quant_state.bitsandbytes__fp4"];

pub(super) static LAYOUT: Layout = Layout {
    endings: &[
        (".weight", Role::Codes),
        (".weight.absmax", Role::Scale),
        (".SCB", Role::Scale),
        (".weight.nested_absmax", Role::Map),
        (".weight.quant_map", Role::Map),
        (".weight.nested_quant_map", Role::Map),
        (STATES[0], Role::State),
        (STATES[1], Role::State),
        (".weight_format", Role::Other),
    ],
    is: |parts, tensors, config| {
        let codes = parts.get(".weight").is_some_and(|&(_, index)| is_integer(tensors[index], 1));
        codes && (parts.len() > 1 || config.method == "bitsandbytes")
    },
    grid,
    needs: |parts, _| {
        if parts.contains_key(".SCB") {
            return Vec::new();
        }
        let nested = [".weight.nested_absmax", ".weight.nested_quant_map"];
        let is_nested = nested.iter().any(|ending| parts.contains_key(ending));
        let state = STATES[usize::from(parts.contains_key(STATES[1]))];
        let nested = nested.into_iter().filter(|_| is_nested);
        [".weight.quant_map"].into_iter().chain(nested).chain([state]).collect()
    },
    reach: Some(|_| 1.0),
    zero: Legal::Yes,
    ..NONE
};

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let (Some(codes), Some(scale)) = (matrix.one(Role::Codes), matrix.one(Role::Scale)) else {
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
