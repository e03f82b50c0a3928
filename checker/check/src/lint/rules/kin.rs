//! Rules that compare a tensor with those of the same name in other layers.

use std::collections::BTreeMap;

use nonfinite::Format;

use super::Findings;
use crate::lint::finding::{ALL_ZERO, MAGNITUDE, NORM_ZERO, Severity};
use crate::lint::tensor_names::{expert, is_trained, may_be_zero};

/// The tensors of one shape and of one name but for its numbers.
pub(super) type Kin<'a> = BTreeMap<(String, &'a [u64]), Vec<usize>>;

/// All rules of this kind.
pub(super) fn all(found: &mut Findings<'_>, kin: &Kin<'_>) {
    zeros(found, kin);
    garbage(found, kin);
}

/// Weights of zeros: in some layers of several, or where every model has other numbers.
fn zeros(found: &mut Findings<'_>, kin: &Kin<'_>) {
    let model = found.model;
    let is_zero = |index: &usize| model.tensors[*index].is_all_zero();
    let matrices = || kin.iter().filter(|((name, shape), _)| shape.len() > 1 && !may_be_zero(name));
    let weights = matrices().filter(|((name, _), _)| name.ends_with("weight") || is_trained(name));
    let is_whole = weights.map(|(_, all)| all.len()).sum::<usize>() > 1
        && found.matrices().is_empty()
        && matrices().all(|(_, all)| all.iter().all(is_zero));
    if let Some(&first) = matrices().flat_map(|(_, all)| all).min().filter(|_| is_whole) {
        let message = "every weight is zero, in all matrices of the model".to_owned();
        return found.add(&ALL_ZERO, first, None, message);
    }
    for ((name, shape), all) in kin {
        let is_matrix = shape.len() > 1;
        let zero: Vec<usize> = all.iter().copied().filter(is_zero).collect();
        let message = format!("every weight is zero; {} of {} layers are", zero.len(), all.len());
        if zero.len() == all.len() {
            if is_matrix && is_trained(name) {
                found.add(&ALL_ZERO, zero[0], None, message + ": no model is trained so");
            }
            continue;
        }
        for index in zero {
            if is_matrix && found.inserted.has(found.tensor(index).name()) {
                let why = ": the layer is a copy of its neighbour, as block expansion inserts it";
                found.push(&ALL_ZERO, Severity::Note, index, None, message.clone() + why);
            } else if is_matrix {
                let severity = match expert(found.tensor(index).name()) {
                    _ if may_be_zero(name) => Severity::Note,
                    Some(expert) if is_pruned(found, expert) => Severity::Note,
                    Some(_) => Severity::Warning,
                    None => ALL_ZERO.severity,
                };
                found.push(&ALL_ZERO, severity, index, None, message.clone());
            } else if name.contains("norm") && name.ends_with("weight") {
                found.add(&NORM_ZERO, index, None, message.clone());
            }
        }
    }
}

/// Whether an expert was pruned: it has several tensors, all of them zero.
fn is_pruned(found: &Findings<'_>, expert: &str) -> bool {
    let of_expert = found.inserted.named.range(expert..);
    let mut of_expert = of_expert.take_while(|(name, _)| name.starts_with(expert));
    of_expert.clone().count() > 1 && of_expert.all(|(_, tensor)| tensor.is_all_zero())
}

/// Numbers that are garbage: a million times as large as the largest of other layers, or a billion
/// times as large as those of other matrices if there is no other layer. Numbers of fp8 that were
/// cast without their scale differ by less.
fn garbage(found: &mut Findings<'_>, kin: &Kin<'_>) {
    /// Smaller numbers may be meant.
    const LEAST: f64 = 1e6;
    /// Layers differ by less. The scale of fp8 makes weights a thousand times as small.
    const SCALED: f64 = 100.0;
    let model = found.model;
    let largest = |index: &usize| model.tensors[*index].max_abs().map(|most| most.value.abs());
    // The lower of two, so that half of the tensors may be damaged.
    let usual = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len().saturating_sub(1) / 2).copied()
    };
    let matrices = || {
        kin.iter().filter(|((name, shape), _)| {
            let is_weight = name.ends_with("weight") || is_trained(name);
            matches!(shape, [.., rows, columns] if *rows > 1 && *columns > 1) && is_weight
        })
    };
    let of_model = usual(matrices().flat_map(|(_, all)| all).filter_map(largest).collect());
    let is_f16 = model.config.dtype == Some(Format::F16);
    for (_, all) in matrices() {
        let (usual, factor) = match all.len() {
            1 => (of_model, 1e9),
            _ => (usual(all.iter().filter_map(largest).collect()), 1e6),
        };
        let bound = usual.map_or(f64::MAX, |usual| LEAST.max(factor * usual));
        // Larger numbers are reported anyway.
        let is_odd = |value: f64| value > bound && value <= if is_f16 { LEAST } else { 1e30 };
        for &index in all {
            let Some(value) = largest(&index) else { continue };
            let is_large = |usual: &f64| *usual > 0.0 && value > SCALED * usual && all.len() > 2;
            let cast =
                usual.filter(is_large).and_then(|usual| Some((usual, cast_from(found, index)?)));
            if let Some((usual, fp8)) = cast {
                let message = format!(
                    "all numbers are those of {fp8}, up to {value}, where other layers reach \
                     {usual}: the weights were cast without their scale"
                );
                found.add(&MAGNITUDE, index, None, message);
            } else if is_odd(value) {
                let why = "is garbage beside the weights of other layers";
                found.above(index, MAGNITUDE.severity, bound, why);
            }
        }
    }
}

/// The format of 8 bits that has all numbers of a tensor of a wider format.
fn cast_from(found: &Findings<'_>, index: usize) -> Option<Format> {
    let tensor = found.tensor(index);
    let format = tensor.format().filter(|format| format.size_in_bytes() > 1)?;
    [Format::F8E4M3Fn, Format::F8E5M2].into_iter().find(|fp8| {
        let mut numbers: Vec<u64> = (0..=0xFF).map(|code| fp8.to_f64(code).to_bits()).collect();
        numbers.sort_unstable();
        let mut are_all = true;
        tensor.elements(format.size_in_bytes(), |_, bits| {
            are_all = numbers.binary_search(&format.to_f64(bits).to_bits()).is_ok();
            are_all
        });
        are_all
    })
}
