//! Weights with scales beside them: compressed-tensors, ModelOpt, FP8 in blocks, ComfyUI.
//!
//! | scales | of weights `[N, K]` |
//! |---|---|
//! | `[]`, `[1]` | all |
//! | `[N]`, `[N, 1]` | a row |
//! | `[N, K/g]` | g weights in a row |
//! | `[N/b, K/b]`, `[N/b, 1, K/b, 1]` | a block of b x b |
//!
//! Codes of int4 with scales of floats are packed along the rows, `[N/2, K]`: W4A16 of ModelOpt.
//!
//! Several matrices in one tensor (experts) have one axis more. ModelOpt stores those of Llama 4
//! and gpt-oss transposed: codes `[E, K/2, N]`, scales `[E, K/16, N]`.

use nonfinite::Format;

use super::{
    CACHE, Grid, Layout, Matrix, Misfit, NONE, Parts, Role, Tensors, extents, is_f8, is_integer,
    of_bits, one,
};
use crate::lint::config::{Config, Scheme};
use crate::model::Content;

pub(super) static LAYOUT: Layout = Layout {
    endings: &[
        (".weight_packed", Role::Codes),
        (".weight", Role::Codes),
        // Experts of ModelOpt: a parameter without `.weight`.
        ("", Role::Codes),
        (".weight_scale", Role::Scale),
        (".weight_scale_inv", Role::Scale),
        (".scale", Role::Scale),
        (".scale_weight", Role::Scale),
        // Mistral's own names.
        (".qscale_weight", Role::Scale),
        ("_weight_scale", Role::Scale),
        ("_scale_inv", Role::Scale),
        (".weight_scale_2", Role::Global),
        ("_weight_scale_2", Role::Global),
        (".weight_global_scale", Role::Divisor),
        (".input_scale", Role::Input),
        ("_input_scale", Role::Input),
        (".input_global_scale", Role::Input),
        (".scale_input", Role::Input),
        (".qscale_act", Role::Input),
        (".activation_scale", Role::Input),
        (CACHE[0], Role::Cache),
        (CACHE[1], Role::Cache),
        (".weight_zero_point", Role::Zeros),
        (".weight_g_idx", Role::Index),
        (".weight_shape", Role::Shape),
    ],
    is,
    grid,
    byte_scales,
    has_global: true,
    reach: Some(of_bits),
    ..NONE
};

fn is(parts: &Parts, tensors: &Tensors<'_>, config: &Config) -> bool {
    let Some(codes) = codes(parts) else { return false };
    let tensor = tensors[codes];
    let has_scale = parts.values().any(|(role, _)| *role == Role::Scale || role.is_global());
    let is_packed = is_integer(tensor, 1) || is_integer(tensor, 4);
    if parts.contains_key(".weight_packed") {
        return is_packed || is_f8(tensor);
    }
    let is_weight = parts.contains_key(".weight");
    // A scale beside floats belongs to something else, such as a norm.
    (has_scale && (is_packed || is_f8(tensor)))
        || (is_weight && is_f8(tensor))
        || (is_weight && is_integer(tensor, 1) && has_method(config))
        || (!is_weight && is_f8(tensor))
}

/// Whether weights of bytes are quantised by a method of this layout.
fn has_method(config: &Config) -> bool {
    ["modelopt", "compressed-tensors", "fp8"].contains(&config.method.as_str())
}

/// The codes: a weight, or the parameter that has the name of the module.
fn codes(parts: &Parts) -> Option<usize> {
    let found = [".weight_packed", ".weight", ""].iter().find_map(|name| parts.get(name));
    found.map(|(_, index)| *index)
}

fn byte_scales(parts: &Parts, tensors: &Tensors<'_>, scheme: &Scheme) -> Option<Format> {
    let (codes, scale) = (codes(parts)?, one(parts, Role::Scale)?);
    let (_, _, columns) = extents(&tensors[codes].shape)?;
    let scales = *tensors[scale].shape.last()?;
    // A byte holds two codes of 4 bits. Blocks of 16 have scales of E4M3, blocks of 32 of E8M0.
    let is_fp4 = is_integer(tensors[codes], 1);
    let is_16 = scheme.group == Some(16) || columns / 8 == scales;
    Some(if is_fp4 && is_16 { Format::F8E4M3Fn } else { Format::F8E8M0Fnu })
}

fn grid(matrix: &Matrix, tensors: &Tensors<'_>) -> Result<Option<Grid>, Misfit> {
    let Some(codes) = codes(&matrix.parts).map(|index| tensors[index]) else { return Ok(None) };
    let Some(scale) = matrix.one(Role::Scale) else { return Ok(None) };
    let Some((count, rows, stored)) = extents(&codes.shape) else { return Ok(None) };
    let scheme = &matrix.scheme;
    let is_bytes = is_integer(codes, 1)
        && (codes.dtype.eq_ignore_ascii_case("u8") || codes.dtype.contains("uint8"));
    let has_byte_scales = tensors[scale].content.unit() == 1;
    let is_fp4 = is_bytes && has_byte_scales;
    let rows = if is_bytes && !has_byte_scales { rows.saturating_mul(2) } else { rows };
    let float_bits = if is_fp4 { Some(4) } else { is_f8(codes).then_some(8) };
    let columns = match scheme.bits {
        _ if is_fp4 => stored.saturating_mul(2),
        bits if is_integer(codes, 4) => {
            // The true number of columns may be a little smaller: codes are padded to 32 bits.
            stored.saturating_mul(32) / bits.filter(|bits| (1..=32).contains(bits)).unwrap_or(4)
        }
        _ => stored,
    };
    let shape = &tensors[scale].shape;
    let grid =
        |block, float_bits| Ok(Some(Grid { matrices: count, rows, columns, block, float_bits }));
    let elements = tensors[scale].elements();
    if elements == 1 || (elements == count && shape.first() == Some(&count) && shape.len() > 1) {
        return grid((rows, columns), float_bits);
    }
    if elements == count && codes.shape.len() > 2 {
        return grid((rows, columns), float_bits);
    }
    // Axes of one element do not matter, except that of a single row or column.
    let lengths: Vec<u64> = shape.iter().copied().filter(|&length| length != 1).collect();
    let several: &[u64] = if count > 1 { &[count] } else { &[] };
    let is = |wanted: &[u64]| {
        let wanted = several.iter().chain(wanted).copied().filter(|&length| length != 1);
        wanted.eq(lengths.iter().copied())
    };
    if is(&[rows]) && !is_fp4 {
        return grid((1, columns), float_bits);
    }
    // The format of the scales tells the size of groups, if the configuration does not.
    let of_format = match tensors[scale].content {
        Content::Floats { format: Format::F8E8M0Fnu, .. } => Some(32),
        Content::Floats { format: Format::F8E4M3Fn, .. } if is_fp4 => Some(16),
        _ => None,
    };
    let own = scheme.group.filter(|&group| group > 0).or(of_format);
    let groups: &[u64] = match own {
        Some(group) => &[group],
        None => &[16, 32, 64, 128, 256, 512],
    };
    for &group in groups {
        if is(&[rows, columns.div_ceil(group)]) {
            return grid((1, group), float_bits);
        }
        // Transposed: the columns of the tensor are the rows of the weights.
        let (inner, outer) = if is_fp4 { (rows.saturating_mul(2), stored) } else { (rows, stored) };
        if count > 1 && is(&[inner.div_ceil(group), outer]) {
            return grid((group, 1), None);
        }
    }
    if count > 1 && is(&[columns]) {
        return grid((rows, 1), float_bits);
    }
    let blocks = scheme.block.into_iter().chain([(128, 128), (64, 64), (32, 32), (256, 256)]);
    let blocks = blocks.filter(|&(high, wide)| high > 0 && wide > 0 && !is_fp4);
    for (high, wide) in blocks.take(if scheme.block.is_some() { 1 } else { 4 }) {
        if is(&[rows.div_ceil(high), columns.div_ceil(wide)]) {
            return grid((high, wide), float_bits);
        }
    }
    let wanted = match (scheme.block, own) {
        (Some((high, wide)), _) if high > 0 && wide > 0 => {
            format!(
                "blocks of {high} x {wide} need {:?}",
                [rows.div_ceil(high), columns.div_ceil(wide)]
            )
        }
        (_, Some(group)) => {
            format!("groups of {group} need {:?}", [rows, columns.div_ceil(group)])
        }
        _ => "neither one scale, nor one a row, a group or a block".to_owned(),
    };
    let why = format!("scales {shape:?} do not fit weights of {rows} x {columns}: {wanted}");
    Err((scale, why))
}
