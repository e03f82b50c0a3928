//! Rules about the values of scales.

use nonfinite::Format;

use super::Findings;
use super::blocks::first_nonzero;
use crate::lint::finding::{
    FUSED_GLOBAL_MISMATCH, GLOBAL_DIRECTION, INVERSE_OVERFLOW, KV_SCALE, SCALE_NEGATIVE,
    SCALE_NONFINITE, SCALE_ZERO, Severity, UE8M0_MANTISSA,
};
use crate::lint::layouts::{CACHE, Legal, Matrix, Role};
use crate::lint::model::ReportedTensor;
use crate::lint::tensor_names::last;
use crate::model::rounded;

/// Rules about the scales of a matrix.
pub(super) fn of_matrix(found: &mut Findings<'_>, matrix: &Matrix) {
    for &(role, index) in matrix.parts.values() {
        let tensor = found.tensor(index);
        // The weights are computed with these numbers.
        if role == Role::Map && tensor.is_all_zero() {
            let message = "all numbers are zero, and so are the weights".to_owned();
            found.add(&SCALE_ZERO, index, None, message);
        }
        if !role.is_global() && !matches!(role, Role::Scale | Role::Input) {
            continue;
        }
        nonfinite(found, index, tensor);
        zero(found, matrix, role, index, tensor);
        negative(found, matrix, index, tensor);
        if role != Role::Scale {
            inverse(found, index, tensor);
        }
        if matrix.layout.has_global && role.is_global() {
            direction(found, role, index, tensor);
        }
        if role == Role::Scale && found.model.config.is_ue8m0 {
            mantissa(found, index, tensor);
        }
    }
    fused(found, matrix);
}

/// `2 of 6144 scales are`, or `the scale is`.
fn counted(count: u64, tensor: &ReportedTensor) -> String {
    match (count, tensor.report.elements) {
        (1, 1) => "the scale is".to_owned(),
        (1, all) => format!("1 of {all} scales is"),
        (count, all) => format!("{count} of {all} scales are"),
    }
}

fn nonfinite(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor) {
    let Some((kind, first)) = tensor.report.first() else { return };
    let count = tensor.report.found.as_ref().into_array().iter().map(|it| it.count).sum();
    let (code, format) = (first.hex(), first.format.name());
    let becomes = if kind == "NaN" { "NaN" } else { "infinite or NaN" };
    let message = format!(
        "{} not finite: {code} is {kind} in {format}, and every weight that it scales becomes \
         {becomes}",
        counted(count, tensor),
    );
    found.first(&SCALE_NONFINITE, index, first, message);
}

fn zero(
    found: &mut Findings<'_>,
    matrix: &Matrix,
    role: Role,
    index: usize,
    tensor: &ReportedTensor,
) {
    let zeros = tensor.report.stats.as_ref().map_or(0, |stats| stats.zeros);
    let legal = if role == Role::Scale { matrix.layout.zero } else { Legal::No };
    if legal == Legal::Yes && tensor.is_all_zero() && zeros > 1 {
        let message = format!("all {zeros} scales are zero, and so are the weights");
        return found.add(&SCALE_ZERO, index, None, message);
    }
    if zeros == 0 || legal == Legal::Yes {
        return;
    }
    let Some((first, _)) = tensor.those(|value| value == 0.0) else { return };
    let count = format!("{} zero", counted(zeros, tensor));
    if role != Role::Scale {
        let message = format!("{count}: engines divide by it");
        return found.add(&SCALE_ZERO, index, Some(first), message);
    }
    match first_nonzero(found, matrix, |value| value == 0.0) {
        Some(Some(block)) => {
            let message = format!("{count}, although weights below this one are not");
            found.add(&SCALE_ZERO, index, Some(block), message);
        }
        Some(None) => {
            let message = format!(
                "{count}, over weights that are zero too: engines that divide by scales fail"
            );
            found.push(&SCALE_ZERO, Severity::Warning, index, Some(first), message);
        }
        None => {
            let severity = if legal == Legal::No { SCALE_ZERO.severity } else { Severity::Note };
            let message = format!("{count}: the weights below become zero");
            found.push(&SCALE_ZERO, severity, index, Some(first), message);
        }
    }
}

fn negative(found: &mut Findings<'_>, matrix: &Matrix, index: usize, tensor: &ReportedTensor) {
    let is_negative = tensor.min().is_some_and(|min| min.value < 0.0);
    if !is_negative || matrix.layout.negative == Legal::Yes {
        return;
    }
    let severity = match matrix.layout.negative {
        // The quantiser of onnxruntime writes negative scales for blocks of int4.
        Legal::Doubtful => Severity::Note,
        Legal::Yes | Legal::No => Severity::Error,
    };
    if let Some((first, count)) = tensor.those(|value| value < 0.0) {
        let least = rounded(tensor.min().map_or(0.0, |min| min.value));
        let count = counted(count, tensor);
        let message = format!("{count} negative, down to {least}: the weights change their sign");
        found.push(&SCALE_NEGATIVE, severity, index, Some(first), message);
    }
}

/// Engines divide by scales of matrices and of activations.
fn inverse(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor) {
    if tensor.format() != Some(Format::F32) {
        return;
    }
    let is_infinite = |value: f64| value != 0.0 && (1.0 / value).abs() > f64::from(f32::MAX);
    let is_subnormal = |value: f64| value != 0.0 && value.abs() < f64::from(f32::MIN_POSITIVE);
    if let Some((first, count)) = tensor.those(is_infinite) {
        let value = rounded(tensor.min().map_or(0.0, |min| min.value));
        let count = counted(count, tensor);
        let message = format!("{count} so small ({value}) that its inverse is infinite in f32");
        found.add(&INVERSE_OVERFLOW, index, Some(first), message);
    } else if let Some((first, count)) = tensor.those(is_subnormal) {
        let count = counted(count, tensor);
        let message = format!("{count} subnormal: engines that flush such numbers divide by 0");
        found.push(&INVERSE_OVERFLOW, Severity::Warning, index, Some(first), message);
    }
}

/// A global scale is the largest magnitude over 2688, and its inverse where weights are divided.
fn direction(found: &mut Findings<'_>, role: Role, index: usize, tensor: &ReportedTensor) {
    let (is_odd, other): (fn(f64) -> bool, _) = if role == Role::Divisor {
        (|value| value > 0.0 && value < 1.0, "the weights are divided by it")
    } else {
        (|value| value >= 1.0, "the weights are multiplied by it")
    };
    let Some((first, _)) = tensor.those(is_odd) else { return };
    let value = rounded(tensor.max().map_or(0.0, |max| max.value));
    let message = format!("{value} looks like the inverse of this scale: {other}");
    found.add(&GLOBAL_DIRECTION, index, Some(first), message);
}

fn mantissa(found: &mut Findings<'_>, index: usize, tensor: &ReportedTensor) {
    if tensor.format() != Some(Format::F32) {
        return;
    }
    let is_power = |value: f64| value.to_bits() & ((1 << 52) - 1) == 0;
    if let Some((first, count)) = tensor.those(|value| value.is_finite() && !is_power(value)) {
        let message = format!("{} no power of two", counted(count, tensor));
        found.add(&UE8M0_MANTISSA, index, Some(first), message);
    }
}

/// Matrices that engines fuse have the scale of one of them, or of both: which one differs.
fn fused(found: &mut Findings<'_>, matrix: &Matrix) {
    let name = last(&matrix.module);
    let (others, is_gate): (&[&str], _) = match name {
        "gate_proj" => (&["up_proj"], true),
        "w1" => (&["w3"], true),
        "q_proj" => (&["k_proj", "v_proj"], false),
        _ => return,
    };
    let scale = |matrix: &Matrix| {
        let (_, index) = matrix.global()?;
        let value = found.model.tensors[index].only()?;
        // Other rules name the scales that are of no use at all.
        (value.is_finite() && value > 0.0).then_some((index, value))
    };
    let Some((index, own)) = scale(matrix) else { return };
    let parent = &matrix.module[..matrix.module.len() - name.len()];
    let mut differing = Vec::new();
    for other in others {
        let module = format!("{parent}{other}");
        let all = found.matrices();
        let at = all.binary_search_by(|matrix| matrix.module.as_str().cmp(&module));
        let Some((_, value)) = at.ok().and_then(|at| scale(&all[at])) else { continue };
        if (own - value).abs() > 1e-5 * own.abs().max(value.abs()) {
            differing.push((*other, value));
        }
    }
    for (other, value) in differing {
        let ratio = (own / value).abs().max((value / own).abs());
        let severity = if is_gate && ratio >= 2.0 { Severity::Error } else { Severity::Warning };
        let message = format!(
            "the scale of {name} is {}, that of {other} {}: engines that fuse the two use one of \
             them for both",
            rounded(own),
            rounded(value),
        );
        found.push(&FUSED_GLOBAL_MISMATCH, severity, index, None, message);
    }
}

/// Scales of the KV cache: `k_scale` and `v_scale` of an attention, or of its projections.
pub(super) fn of_cache(found: &mut Findings<'_>) {
    let tensors = &found.model.tensors;
    let names: std::collections::BTreeSet<_> = tensors.iter().map(ReportedTensor::name).collect();
    for (index, tensor) in tensors.iter().enumerate() {
        let name = tensor.name();
        let [of_key, of_value] = CACHE.map(|ending| name.ends_with(ending));
        if !of_key && !of_value {
            continue;
        }
        let elements = tensor.report.elements;
        // The scale of a norm of the keys: a vector that the model has learned.
        let is_learned = elements > 1 && !found.model.config.is_quantised();
        if let Some((kind, first)) = tensor.report.first() {
            let message = format!("a scale of the KV cache is {kind}");
            found.first(&KV_SCALE, index, first, message);
        } else if let Some((first, _)) = tensor.those(|value| value <= 0.0).filter(|_| !is_learned)
        {
            let least = rounded(tensor.min().map_or(0.0, |min| min.value));
            let message = format!("a scale of the KV cache is {least}");
            found.add(&KV_SCALE, index, Some(first), message);
        }
        // compressed-tensors has one for each head.
        if is_learned {
            continue;
        }
        if elements > 1 && found.model.config.method != "compressed-tensors" {
            let message = format!("{elements} scales of the KV cache: engines read one");
            found.push(&KV_SCALE, Severity::Warning, index, None, message);
        }
        // With a dot before, so that the parts of the name are whole: qkv_proj is none of them.
        let dotted = format!(".{name}");
        let swap =
            |from: [&str; 2], to: [&str; 2]| dotted.replace(from[0], to[0]).replace(from[1], to[1]);
        let (k, v) = ([".k_proj.", CACHE[0]], [".v_proj.", CACHE[1]]);
        let other = if of_key { swap(k, v) } else { swap(v, k) };
        let other = &other[1..];
        if !names.contains(other) && !found.model.is_partial {
            let message = format!("there is no {other}");
            found.push(&KV_SCALE, Severity::Warning, index, None, message);
        }
    }
}
