//! Rules that read codes, and only codes below scales that ask for it. Healthy matrices are
//! told by their scales alone.

use nonfinite::Format;

use super::Findings;
use super::blocks::{blocks, global, largest_of_4_bits};
use crate::lint::finding::{
    CODES_ALL_ZERO, DEQUANT_OVERFLOW, E8M0_IMPLAUSIBLE, G_IDX, GPTQ_ZERO_FORMAT, SATURATION,
    Severity,
};
use crate::lint::layouts::{Matrix, Role};
use crate::lint::model::STEP;
use crate::lint::tensor_names::of_all_experts;
use crate::model::{Content, rounded};
use crate::scan::PAGE;

/// The most blocks that a rule samples of a matrix.
const MOST: usize = 1 << 14;

/// Rules about the codes of a matrix.
pub(super) fn of_matrix(found: &mut Findings<'_>, matrix: &Matrix) {
    all_zero(found, matrix);
    implausible(found, matrix);
    saturation(found, matrix);
    overflow(found, matrix);
    indexes(found, matrix);
    zero_points(found, matrix);
}

fn all_zero(found: &mut Findings<'_>, matrix: &Matrix) {
    let Some(index) = matrix.one(Role::Codes) else { return };
    let tensor = found.tensor(index);
    // The code 8 of FP4 is minus zero: so are all of them, if those of the first page are.
    let is_fp4 = matrix.grid.as_ref().is_some_and(|grid| grid.float_bits == Some(4));
    let length = tensor.described.data.length();
    let is_zero = |range| tensor.bytes(range).is_some_and(|bytes| largest_of_4_bits(&bytes) == 0.0);
    let is_minus_zero = || {
        let mut steps = (PAGE..length).step_by(STEP as usize);
        is_fp4
            && is_zero(0..PAGE.min(length))
            && steps.all(|start| is_zero(start..(start + STEP).min(length)))
    };
    if length == 0 || !tensor.is_all_zero() && !is_minus_zero() {
        return;
    }
    // Pruned experts exist: one alone is less certain.
    let is_expert = of_all_experts(tensor.name()).is_some();
    let severity = if found.inserted.has(tensor.name()) {
        Severity::Note
    } else if is_expert {
        Severity::Warning
    } else {
        Severity::Error
    };
    let message = format!("all {length} bytes of the weights are zero");
    found.push(&CODES_ALL_ZERO, severity, index, None, message);
}

fn implausible(found: &mut Findings<'_>, matrix: &Matrix) {
    let Some(index) = matrix.one(Role::Scale) else { return };
    let tensor = found.tensor(index);
    let counts = &tensor.byte_tally.bytes;
    if tensor.format() != Some(Format::F8E8M0Fnu) {
        return;
    }
    let median = |counts: &[u64]| {
        let half = counts.iter().sum::<u64>() / 2;
        let mut sum = 0;
        counts.iter().position(|count| {
            sum += count;
            sum > half
        })
    };
    let is_odd = |code: usize| !(64..=160).contains(&code);
    if !median(counts).is_some_and(is_odd) {
        return;
    }
    // The scales of blocks of zeros are anything. Take their share from a sample.
    let mut of_nonzero = [0; 256];
    let sampled = blocks(
        found,
        matrix,
        Some(MOST),
        |_| true,
        |_, scale, largest| {
            let code = (scale.log2() + 127.0) as usize;
            of_nonzero[code.min(255)] += u64::from(largest > 0.0);
            true
        },
    );
    if let (Some(()), Some(code)) = (sampled, median(&of_nonzero))
        && is_odd(code)
    {
        let message = format!(
            "the median of the scales is 2^{}: exponents of another bias, or a cast",
            code as i32 - 127
        );
        found.add(&E8M0_IMPLAUSIBLE, index, None, message);
    }
}

fn saturation(found: &mut Findings<'_>, matrix: &Matrix) {
    /// The code of 448.
    const LARGEST: usize = 0x7E;
    let Some(index) = matrix.one(Role::Scale) else { return };
    let tensor = found.tensor(index);
    let counts = &tensor.byte_tally.bytes;
    let Some(&most) = counts.get(LARGEST) else { return };
    let all = counts.iter().sum::<u64>();
    // Without a global scale, as in MLX, the largest scale is that of all large blocks.
    let is_nvfp4 = matrix.layout.has_global && tensor.format() == Some(Format::F8E4M3Fn);
    if !is_nvfp4 || all < 200 || most * 20 <= all {
        return;
    }
    // Some exporters give blocks of zeros the largest scale.
    let (mut nonzero, mut checked) = (0, 0);
    let sampled = blocks(
        found,
        matrix,
        Some(MOST),
        |scale| scale == 448.0,
        |_, _, largest| {
            checked += 1;
            nonzero += u64::from(largest > 0.0);
            true
        },
    );
    let of_nonzero = most as f64 * nonzero as f64 / f64::max(checked.into(), 1.0);
    if sampled.is_some() && of_nonzero * 20.0 > all as f64 {
        let percent = 100.0 * of_nonzero / all as f64;
        let message = format!(
            "{percent:.0} % of the scales are 448, the largest: the global scale is too small"
        );
        found.add(&SATURATION, index, None, message);
    }
}

fn overflow(found: &mut Findings<'_>, matrix: &Matrix) {
    let (Some(dtype), Some(index)) = (found.model.config.dtype, matrix.one(Role::Scale)) else {
        return;
    };
    let tensor = found.tensor(index);
    let limit = dtype.to_f64(dtype.max_bits());
    let severity = if dtype == Format::F16 { Severity::Error } else { Severity::Warning };
    let Some(bits) = matrix.grid.as_ref().and_then(|grid| grid.float_bits) else {
        let Some(reach) = matrix.layout.reach else { return };
        let reach = reach(&matrix.scheme);
        if let Some((first, _)) = tensor.those(|scale| scale.is_finite() && scale * reach > limit) {
            let largest = tensor.max().map_or(0.0, |max| max.value * reach);
            let message = overflows(largest, dtype);
            found.push(&DEQUANT_OVERFLOW, severity, index, Some(first), message);
        }
        return;
    };
    let most = if bits == 4 { 6.0 } else { 448.0 };
    let global = global(found, matrix);
    if !global.is_finite() {
        return;
    }
    let is_large = |scale: f64| scale * global * most > limit;
    if !tensor.max().is_some_and(|max| is_large(max.value)) {
        return;
    }
    let mut first = None;
    let _ = blocks(found, matrix, Some(MOST), is_large, |index, scale, largest| {
        let weight = largest * scale * global;
        first = (weight > limit).then_some((index, weight));
        first.is_none()
    });
    if let Some((element, weight)) = first {
        let message = overflows(weight, dtype);
        found.push(&DEQUANT_OVERFLOW, severity, index, Some(element), message);
    }
}

fn overflows(weight: f64, dtype: Format) -> String {
    let (weight, limit) = (rounded(weight), rounded(dtype.to_f64(dtype.max_bits())));
    format!("a weight below this scale is {weight}, and {} ends at {limit}", dtype.name())
}

/// Blocks of MXFP4 in GGUF have their scale in front of 16 bytes of codes. Engines compute in f32.
/// The type of the tensor says so, whatever its name is.
pub(super) fn overflow_of_blocks(found: &mut Findings<'_>, index: usize) {
    let tensor = found.tensor(index);
    let Content::Blocks { blocks, .. } = tensor.described.content else { return };
    let is_large = |weight: f64| weight > f64::from(f32::MAX);
    if blocks.format != Format::F8E8M0Fnu
        || !tensor.max().is_some_and(|max| is_large(6.0 * max.value))
    {
        return;
    }
    let mut window = tensor.window(0);
    let starts = (0..tensor.described.data.length()).step_by(blocks.bytes);
    let first = starts.enumerate().find_map(|(block, start)| {
        let (scale, codes) = window.get(start..start + blocks.bytes as u64)?.split_first()?;
        let weight = blocks.format.to_f64(u64::from(*scale)) * largest_of_4_bits(codes);
        is_large(weight).then_some((block as u64 * blocks.elements, weight))
    });
    if let Some((element, weight)) = first {
        let message = overflows(weight, Format::F32);
        found.push(&DEQUANT_OVERFLOW, Severity::Error, index, Some(element), message);
    }
}

fn indexes(found: &mut Findings<'_>, matrix: &Matrix) {
    let (Some(index), Some(scale)) = (matrix.one(Role::Index), matrix.one(Role::Scale)) else {
        return;
    };
    let (tensor, scales) = (found.tensor(index), found.tensor(scale));
    let groups = if matrix.layout.is_gptq { scales.shape().first() } else { scales.shape().last() };
    let Some(&groups) =
        groups.filter(|_| tensor.described.data.length() == 4 * tensor.described.elements())
    else {
        return;
    };
    let (mut bad, mut is_zero) = (None, true);
    tensor.elements(4, |element, bits| {
        is_zero &= bits == 0;
        let group = bits as u32 as i32;
        let fits = u64::try_from(group).is_ok_and(|group| group < groups);
        bad = (!fits).then_some((element, group));
        fits
    });
    if let Some((element, group)) = bad {
        let why = if group == -1 { ", which stands for not filled" } else { "" };
        let message = format!("group {group}{why}: there are groups 0 to {}", groups.max(1) - 1);
        found.add(&G_IDX, index, Some(element), message);
    } else if is_zero && groups > 1 {
        // Some engines take such an index for none.
        let message = format!("every row is in group 0 of {groups}");
        found.push(&G_IDX, Severity::Warning, index, None, message);
    }
}

/// Symmetric codes of 4 bits have the zero point 8, which version 1 of GPTQ stores as 7.
fn zero_points(found: &mut Findings<'_>, matrix: &Matrix) {
    let is_4_bits = matrix.scheme.bits.is_none_or(|bits| bits == 4);
    let is_symmetric = matrix.scheme.is_symmetric == Some(true);
    let Some(index) = matrix.one(Role::Zeros).filter(|_| matrix.layout.is_gptq) else { return };
    // Without an index of groups this could be another layout.
    if !is_4_bits || !is_symmetric || matrix.one(Role::Index).is_none() {
        return;
    }
    let is_v2 = found.model.config.is_gptq_v2;
    let wrong = if is_v2 { 0x77 } else { 0x88 };
    let tensor = found.tensor(index);
    let mut all = tensor.described.elements() > 0;
    tensor.elements(1, |_, byte| {
        all &= byte == wrong;
        all
    });
    if all {
        let (version, stored) = if is_v2 { ("2", "8") } else { ("1", "7") };
        let message = format!(
            "all zero points are {}: version {version} of GPTQ, which the configuration names, \
             stores {stored}",
            wrong & 15
        );
        found.add(&GPTQ_ZERO_FORMAT, index, None, message);
    }
}
