//! Layers that explain each other: what is missing in one of them, and what has another shape.
//!
//! Layers are kin if they have tensors of the same names, and if the configuration says the same of
//! them. A layer of another kind has names that its neighbours lack, so hybrids, first dense
//! layers, encoders and decoders are compared with their own kin only.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use crate::lint::finding::{LAYERS, Severity};
use crate::lint::purpose::Purpose;
use crate::lint::sizes::Part;
use crate::lint::tensor_names::{is_stack, is_trained, last, layer};

/// The layers of a stack by number, and the tensors of each by the rest of the name.
type Layers<'a> = BTreeMap<usize, BTreeMap<&'a str, usize>>;

/// The stacks of layers, by the beginning of the names.
pub(super) type Stacks<'a> = BTreeMap<&'a str, Layers<'a>>;

/// Kin: what the configuration says of them, their names, and their numbers.
type Kin<'k> = ((&'k str, Vec<&'k str>), Vec<usize>);

/// The stacks of a model.
pub(super) fn stacks<'a>(found: &Findings<'a>) -> Stacks<'a> {
    let mut stacks = Stacks::new();
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        let name = tensor.name();
        // Only the first layer of T5 has a bias of positions.
        let is_of_all =
            Purpose::of(tensor) == Purpose::Weight && !name.contains("relative_attention_bias");
        // A number behind the first is that of a block in a stage, and stages differ.
        let is_layer = |rest: &str| {
            is_of_all && !rest[1.min(rest.len())..].starts_with(|char: char| char.is_ascii_digit())
        };
        if let Some((prefix, number, rest)) = layer(name).filter(|(_, _, rest)| is_layer(rest)) {
            stacks.entry(prefix).or_default().entry(number).or_default().insert(rest, index);
        }
    }
    stacks
}

/// All rules about layers.
pub(super) fn all(found: &mut Findings<'_>, stacks: &Stacks<'_>) {
    for (prefix, layers) in stacks.iter().filter(|(prefix, _)| is_stack(prefix)) {
        gaps(found, prefix, layers);
        lacking(found, prefix, layers);
    }
}

/// Layers between others that are not there.
fn gaps(found: &mut Findings<'_>, prefix: &str, layers: &Layers<'_>) {
    /// Modules without weights take numbers, too, but layers have more tensors than those beside.
    const LEAST: usize = 4;
    let Some((&last, of_last)) = layers.last_key_value() else { return };
    let missing = last + 1 - layers.len();
    let are_layers = layers.values().all(|layer| layer.len() >= LEAST);
    if missing == 0 || missing > last / 4 || !are_layers {
        return;
    }
    let first = (0..last).find(|number| !layers.contains_key(number)).unwrap_or(0);
    let message = format!(
        "there is no {prefix}{first}, although {prefix}{last} is there: {missing} of {} layers \
         are missing, and loaders fill them with random numbers, or refuse the model",
        last + 1
    );
    of_last.values().take(1).for_each(|&index| found.add(&LAYERS, index, None, message.clone()));
}

/// Layers that lack what others of their kind have, and those where it has another shape.
fn lacking(found: &mut Findings<'_>, prefix: &str, layers: &Layers<'_>) {
    /// So many kinds are compared with the others.
    const KINDS: usize = 8;
    let model = found.model;
    let is_main = Part::of(prefix) != Part::Other;
    let said = |number| if is_main { model.sizes().kind(number) } else { "" };
    let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (&number, layer) in layers {
        let names: Vec<&str> = layer.keys().copied().collect();
        kinds.entry((said(number), names)).or_default().push(number);
    }
    let mut kinds: Vec<Kin<'_>> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, numbers)| Reverse(numbers.len()));
    for kin in &kinds {
        let ((said, names), numbers) = kin;
        shapes(found, layers, kin);
        let has_more = |((of, more), all): &&Kin<'_>| {
            all.len() >= 2
                && all.len() >= 8 * (numbers.len() - 1)
                && of == said
                && more.len() > names.len()
                && names.iter().all(|name| more.binary_search(name).is_ok())
        };
        let more = kinds.iter().take(KINDS).filter(has_more);
        if let Some(((_, more), all)) = more.min_by_key(|((_, more), _)| more.len()) {
            let names: BTreeSet<&str> = names.iter().copied().collect();
            let missing: Vec<&str> =
                more.iter().copied().filter(|name| !names.contains(name)).collect();
            for number in numbers {
                missing_in(found, (prefix, *number), layers, &missing, all);
            }
        }
    }
}

/// A layer lacks these tensors, which `all` have.
fn missing_in(
    found: &mut Findings<'_>,
    (prefix, number): (&str, usize),
    layers: &Layers<'_>,
    missing: &[&str],
    all: &[usize],
) {
    // The first or the last layers of many models lack modules that others have.
    let is_end = |name: &str| {
        let mut before = layers.range(..=number);
        let mut behind = layers.range(number..);
        before.all(|(_, layer)| !layer.contains_key(name))
            || behind.all(|(_, layer)| !layer.contains_key(name))
    };
    let counts = |name: &&&str| is_needed(name) || !is_end(name) && !name.contains("shortcut");
    let Some(first) = missing.iter().find(counts) else { return };
    let name = format!("{prefix}{number}{first}");
    // A rule about its scales may have told what a matrix lacks.
    if found.tell(&name) {
        return;
    }
    let more = match missing.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more tensors"),
    };
    let message = format!(
        "there is no {name}{more}, which {} layers of this kind have: {}",
        all.len(),
        without(first)
    );
    let severity = if all.len() >= 3 { LAYERS.severity } else { Severity::Warning };
    let index = layers[&number].values().next().copied();
    index.into_iter().for_each(|index| found.push(&LAYERS, severity, index, None, message.clone()));
}

/// Whether every layer of a transformer has this tensor, if one has.
fn is_needed(name: &str) -> bool {
    const NEEDED: [&str; 6] =
        ["input_layernorm", "post_attention_layernorm", "ln_1", "ln_2", "ffn_norm", "gate"];
    let module = name.rsplit_once('.').map_or(name, |(module, _)| module);
    let is_needed = is_trained(module) || NEEDED.contains(&last(module));
    is_needed && name.ends_with("weight") && !name.contains("shared")
}

/// What loaders do without a tensor.
fn without(name: &str) -> &'static str {
    match name {
        _ if name.ends_with("_scale") || name.ends_with(".scale") => "engines multiply by 1",
        _ if name.ends_with("bias") => "engines add zeros, or what is in memory",
        _ => "loaders fill it with random numbers, or refuse the model",
    }
}

/// Tensors of a layer that are a part of those of its kin: one rank of tensor parallelism was
/// saved, and not all of them.
fn shapes(found: &mut Findings<'_>, layers: &Layers<'_>, ((_, names), numbers): &Kin<'_>) {
    let model = found.model;
    if numbers.len() < 4 || model.sizes().is_pruned {
        return;
    }
    // Ranks of adapters may differ.
    for name in names.iter().filter(|name| !name.contains("lora")) {
        let mut shapes: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        for index in numbers.iter().map(|number| layers[number][name]) {
            shapes.entry(model.tensors[index].shape()).or_default().push(index);
        }
        let most = shapes.iter().max_by_key(|(_, all)| all.len());
        let Some((&usual, count)) = most.map(|(shape, all)| (shape, all.len())) else { continue };
        // One layer, or one of eight.
        let are_few = numbers.len() - count <= 1.max(numbers.len() / 8);
        for (shape, odd) in shapes.iter().filter(|(shape, _)| are_few && **shape != usual) {
            if let Some((axis, ranks)) = part(shape, usual) {
                let message = format!(
                    "the shape {shape:?}, where {count} layers have {usual:?}: 1/{ranks} of axis \
                     {axis}, as one of {ranks} ranks of tensor parallelism has it"
                );
                found.add(&LAYERS, odd[0], None, message);
            }
        }
    }
}

/// The only axis along which `shape` is a part of `whole`, and how many such parts there are.
fn part(shape: &[usize], whole: &[usize]) -> Option<(usize, usize)> {
    let mut axes =
        (0..shape.len().max(whole.len())).filter(|&axis| shape.get(axis) != whole.get(axis));
    let axis = axes.next()?;
    let (&part, &all) = (shape.get(axis)?, whole.get(axis)?);
    let ranks = all.checked_div(part)?;
    let is_part = shape.len() == whole.len() && axes.next().is_none() && part * ranks == all;
    (is_part && ranks > 1).then_some((axis, ranks))
}
