//! Rules about weights, quantised or not.

use std::collections::BTreeSet;

use nonfinite::Format;

use super::Findings;
use super::kin::{self, Kin};
use crate::lint::finding::{
    DEAD_ROWS, EMPTY_TENSOR, LORA_B_ZERO, MAGNITUDE, NONFINITE, OUTLIER_RUN, Severity, ZERO_RUN,
};
use crate::lint::layouts::{CACHE, Role};
use crate::lint::model::ReportedTensor;
use crate::lint::purpose::Purpose;
use crate::lint::tensor_names::of_all_layers;
use crate::model::{Content, rounded};
use crate::scan::{PAGE, end_of_zeros, is_zero, start_of_zeros};

/// All rules about weights.
pub(super) fn all(found: &mut Findings<'_>) {
    let scales: BTreeSet<usize> = {
        let parts = found.matrices().iter().flat_map(|matrix| matrix.parts.values());
        let scales = parts.filter(|(role, _)| {
            role.is_global() || matches!(role, Role::Scale | Role::Input | Role::Cache)
        });
        scales.map(|(_, index)| *index).collect()
    };
    let codes: BTreeSet<usize> =
        found.matrices().iter().filter_map(|matrix| matrix.one(Role::Codes)).collect();
    let mut kin = Kin::new();
    let mut lora_b = (0, Vec::new());
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        if scales.contains(&index) {
            magnitude(found, index, tensor, None);
            empty(found, index, tensor, true);
            continue;
        }
        let name = tensor.name();
        let purpose = Purpose::of(tensor);
        let is_cache = CACHE.iter().any(|ending| name.ends_with(ending));
        if let Some((kind, first)) = tensor.report.first().filter(|_| !is_cache) {
            let all = tensor.report.found.as_ref().into_array();
            let count: u64 = all.iter().map(|finding| finding.count).sum();
            let message = match count {
                1 => format!("one number is not finite: {kind}"),
                _ => format!("{count} numbers are not finite; the first is {kind}"),
            };
            // A constant of ONNX is infinite where a maximum begins, and so is a bound.
            let is_start =
                tensor.report.elements == 1 && (tensor.is_of_onnx || purpose == Purpose::Bound);
            let is_open = kind != "NaN" && is_start || kind == "-Inf" && purpose == Purpose::Mask;
            let severity = if is_open { Severity::Note } else { NONFINITE.severity };
            found.at(&NONFINITE, severity, index, Some(first.coordinate.clone()), message);
        }
        empty(found, index, tensor, codes.contains(&index));
        magnitude(found, index, tensor, Some(purpose));
        if purpose != Purpose::Weight {
            continue;
        }
        zero_run(found, index, tensor);
        outliers(found, index, tensor);
        dead_rows(found, index, tensor);
        // Other adapters have names such as `glora_B`.
        let before_b = name.split_once("lora_B").or(name.split_once("lora_b"));
        if before_b.is_some_and(|(before, _)| !before.ends_with(char::is_alphanumeric)) {
            lora_b.0 += 1;
            lora_b.1.extend(tensor.is_all_zero().then_some(index));
        } else if matches!(tensor.described.content, Content::Floats { .. })
            && name.contains(char::is_alphabetic)
        {
            kin.entry((of_all_layers(name), tensor.shape())).or_default().push(index);
        }
    }
    if let (count, zero @ [first, ..]) = (lora_b.0, lora_b.1.as_slice()) {
        let (all, zero) = (count == zero.len(), zero.len());
        let (severity, message) = if all {
            let why = "the adapter changes nothing";
            (Severity::Note, format!("all {count} matrices B are zero: {why}"))
        } else {
            let why = "they were not trained, or were lost";
            (Severity::Warning, format!("{zero} of {count} matrices B are zero: {why}"))
        };
        found.push(&LORA_B_ZERO, severity, *first, None, message);
    }
    kin::all(found, &kin);
}

/// `is_part` is whether the tensor belongs to a quantised matrix.
fn empty(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor, is_part: bool) {
    if tensor.shape().contains(&0) && (is_part || tensor.name().ends_with(".weight")) {
        let message = format!("a tensor of the shape {:?}, without elements", tensor.shape());
        found.add(&EMPTY_TENSOR, index, None, message);
    }
}

/// `purpose` is None for a scale.
fn magnitude(
    found: &mut Findings<'_>,
    index: usize,
    tensor: &ReportedTensor,
    purpose: Option<Purpose>,
) {
    let (Some(format), Some(most)) = (tensor.format(), tensor.max_abs()) else { return };
    if purpose == Some(Purpose::Mask) || format.size_in_bytes() == 1 {
        return;
    }
    let largest = |format: Format| format.to_f64(format.max_bits());
    let (value, f16) = (most.value.abs(), largest(Format::F16));
    let is_cast_to_f16 =
        purpose.is_some() && found.model.config.dtype == Some(Format::F16) && format != Format::F16;
    let (bound, why) = if is_cast_to_f16 && value > f16 {
        (f16, "is infinite in f16, the dtype of the model")
    } else {
        (1e30, "is too large: its products are infinite")
    };
    // Constants of ONNX have the largest number of a format in place of infinity. A single number
    // that f16 cannot hold may be a count.
    let is_single = tensor.report.elements == 1 && !tensor.name().ends_with("weight");
    let is_open = purpose.is_some_and(|purpose| purpose != Purpose::Weight)
        || purpose.is_some() && is_single && (tensor.is_of_onnx || bound == f16);
    let severity = if is_open { Severity::Note } else { MAGNITUDE.severity };
    if value > bound {
        found.above(index, severity, bound, why);
    }
}

/// A hole in a file has whole pages. Weights that are zero on purpose are whole rows, or spread.
fn zero_run(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor) {
    let Some(page) = tensor.byte_tally.first_zero_page else { return };
    let length = tensor.described.data.length();
    let (pages, unit) = (tensor.byte_tally.zero_pages, tensor.described.unit() as u64);
    if tensor.is_all_zero() {
        return;
    }
    let in_pages = pages * PAGE / unit;
    let zeros = tensor.report.stats.as_ref().map_or(0, |stats| stats.zeros);
    if zeros.saturating_sub(in_pages + 2 * (PAGE / unit)) * 100 > length / unit {
        return;
    }
    let Some(start) = start_of_zeros(page, |range| tensor.bytes(range)) else { return };
    let last = tensor.shape().last().copied().unwrap_or(1);
    let row = length / (tensor.described.elements() / last.max(1)).max(1);
    // A number before the page may end with bytes that are zero.
    let begins_at_page = start + unit > page && start <= page;
    if start % row.max(1) == 0 || !begins_at_page {
        return;
    }
    let Some(end) = end_of_zeros(page, length, |range| tensor.bytes(range)) else { return };
    // Pruned columns and blocks on a diagonal are zero in the row before or behind, too. A few
    // zeros are there by chance.
    let columns = (end - start).min(row - start % row);
    let is_zero_from = |start: u64| {
        let bytes = tensor.bytes(start..start + columns);
        columns >= 64 && bytes.is_some_and(|bytes| is_zero(&bytes))
    };
    if start.checked_sub(row).is_some_and(is_zero_from)
        || start + row >= end && is_zero_from(start + row)
    {
        return;
    }
    // The rows of several matrices in one are not known.
    let severity = if tensor.shape().len() > 1 { ZERO_RUN.severity } else { Severity::Note };
    let message = format!(
        "{} zero bytes begin in the middle of a row, where a page of the file begins; {pages} of \
         its pages hold zeros only",
        end - start
    );
    let of_unit = match tensor.described.content {
        Content::Blocks { blocks, .. } => blocks.elements,
        _ => 1,
    };
    let element = page.div_ceil(unit) * of_unit;
    found.push(&ZERO_RUN, severity, index, Some(element), message);
}

/// A few neighbours that are a thousand times as large as nearly all others.
fn outliers(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor) {
    /// The most values of a run.
    const FEW: u64 = 64;
    let (Some(usual), Some(most)) = (tensor.byte_tally.most_are_below(), tensor.max_abs()) else {
        return;
    };
    let bound = 1000.0 * usual;
    if most.value.abs() <= bound {
        return;
    }
    let Some(format) = tensor.format() else { return };
    let (mut first, mut last, mut count) = (None, 0, 0);
    tensor.elements(format.size_in_bytes(), |element, bits| {
        let value = format.to_f64(bits).abs();
        if value > bound && value.is_finite() {
            first = first.or(Some(element));
            last = element;
            count += 1;
        }
        count <= FEW
    });
    let Some(first) = first.filter(|first| count > 1 && count <= FEW && last - first < 2 * count)
    else {
        return;
    };
    let message = format!(
        "{count} neighbouring values up to {}, where nearly all are below {}",
        rounded(most.value.abs()),
        rounded(usual),
    );
    found.add(&OUTLIER_RUN, index, Some(first), message);
}

fn dead_rows(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor) {
    let name = tensor.name();
    let is_embedding = name.contains("embed") || name.contains("lm_head") || name.contains("wte");
    let (&[rows, columns], Some(format)) = (tensor.shape(), tensor.format()) else { return };
    let zeros = tensor.report.stats.as_ref().map_or(0, |stats| stats.zeros);
    if !is_embedding || columns == 0 || zeros < columns || tensor.is_all_zero() {
        return;
    }
    let (mut dead, mut first, mut run) = (0, None, 0);
    tensor.elements(format.size_in_bytes(), |element, bits| {
        run = if element % columns == 0 { 0 } else { run };
        run += u64::from(bits << 1 & format_mask(format) == 0);
        if element % columns == columns - 1 && run == columns {
            dead += 1;
            first = first.or(Some(element / columns * columns));
        }
        true
    });
    if dead > 0 {
        let message = format!("{dead} of {rows} rows are zero");
        found.add(&DEAD_ROWS, index, first, message);
    }
}

/// The bits of a number of this format that are left if its sign is shifted out.
fn format_mask(format: Format) -> u64 {
    let bits = 8 * format.size_in_bytes() as u32;
    u64::MAX >> (64 - bits)
}
