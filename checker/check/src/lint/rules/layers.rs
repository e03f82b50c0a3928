//! Layers that explain each other: what is missing in one of them, and what has another shape.
//!
//! Layers are kin if they have tensors of the same names, and if the configuration says the same of
//! them. A layer of another kind has names that its neighbours lack, so hybrids, first dense
//! layers, encoders and decoders are compared with their own kin only.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Findings;
use crate::lint::finding::{LAYERS, Severity};
use crate::lint::purpose::Purpose;
use crate::lint::sizes::Part;
use crate::lint::tensor_names::{is_output, is_stack, last, layer};

/// The layers of a stack by number, and the tensors of each by the rest of the name.
type Layers<'a> = BTreeMap<usize, BTreeMap<&'a str, usize>>;

/// The stacks of layers, by the beginning of the names.
pub(super) type Stacks<'a> = BTreeMap<&'a str, Layers<'a>>;

/// Kin: what the configuration says of them, their names, and their numbers.
type Kin<'k> = ((u64, Vec<&'k str>), Vec<usize>);

/// The stacks of a model.
pub(super) fn stacks<'a>(found: &Findings<'a>) -> Stacks<'a> {
    let mut stacks = Stacks::new();
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        let name = tensor.name();
        // Only the first layer of T5 has a bias of positions. Adapters may be in some layers only.
        let is_of_all = Purpose::of(tensor) == Purpose::Weight
            && !name.contains("relative_attention_bias")
            && !name.contains("lora");
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

/// The last layer, and a tensor of it.
pub(super) fn last_of(layers: &Layers<'_>) -> Option<(usize, usize)> {
    let (&last, layer) = layers.last_key_value()?;
    Some((last, *layer.first_key_value()?.1))
}

/// Layers between others that are not there.
fn gaps(found: &mut Findings<'_>, prefix: &str, layers: &Layers<'_>) {
    /// `nn.Sequential` numbers modules without weights too. A layer has more tensors than the
    /// modules there.
    const LEAST: usize = 4;
    let Some((last, index)) = last_of(layers) else { return };
    // Without a configuration, the file may hold the last layers only.
    let start = match found.model.sizes().layers {
        Some(_) => 0,
        None => layers.keys().next().copied().unwrap_or(0),
    };
    let missing = last + 1 - start - layers.len();
    let are_layers = layers.values().all(|layer| layer.len() >= LEAST);
    if missing == 0 || missing > last / 4 || !are_layers {
        return;
    }
    let first = (start..last).find(|number| !layers.contains_key(number)).unwrap_or(0);
    let message = format!(
        "there is no {prefix}{first}, although {prefix}{last} is there: {missing} of {} layers \
         are missing, and loaders fill these with random numbers, or refuse the model",
        last + 1
    );
    found.add(&LAYERS, index, None, message);
}

/// Layers that lack what others of their kind have, and those where it has another shape.
fn lacking(found: &mut Findings<'_>, prefix: &str, layers: &Layers<'_>) {
    /// The kinds with the most layers, with which each is compared, and the most kinds of odd
    /// layers that are told: more would make the time quadratic.
    const KINDS: usize = 8;
    let model = found.model;
    if model.sizes().is_pruned {
        return;
    }
    let is_main = Part::of(prefix) != Part::Other;
    let said = |number| if is_main { model.sizes().kind(number) } else { 0 };
    let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (&number, layer) in layers {
        let names: Vec<&str> = layer.keys().copied().collect();
        kinds.entry((said(number), names)).or_default().push(number);
    }
    let mut kinds: Vec<Kin<'_>> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, numbers)| Reverse(numbers.len()));
    // The first and the last layer that has a name.
    let mut ends: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (&number, layer) in layers {
        layer.keys().for_each(|name| ends.entry(name).or_insert((number, number)).1 = number);
    }
    for kin in &kinds {
        shapes(found, layers, kin);
    }
    let mut odd = 0;
    for ((said, names), numbers) in &kinds {
        let has_more = |((of, more), all): &&Kin<'_>| {
            all.len() >= 2
                && all.len() >= 8 * (numbers.len() - 1)
                && of == said
                && more.len() > names.len()
                && names.iter().all(|name| more.binary_search(name).is_ok())
        };
        let more = kinds.iter().take(KINDS).filter(has_more);
        let Some(((_, more), all)) = more.min_by_key(|((_, more), _)| more.len()) else { continue };
        let lacks = |name: &&str| names.binary_search(name).is_err();
        let missing: Vec<&str> = more.iter().copied().filter(lacks).collect();
        for number in numbers {
            missing_in(found, (prefix, *number), layers, (&missing, &ends), all);
        }
        odd += 1;
        if odd == KINDS {
            break;
        }
    }
}

/// A layer lacks these tensors, which `all` have. `ends` are the first and the last layer with each
/// name.
fn missing_in(
    found: &mut Findings<'_>,
    (prefix, number): (&str, usize),
    layers: &Layers<'_>,
    (missing, ends): (&[&str], &BTreeMap<&str, (usize, usize)>),
    all: &[usize],
) {
    // The first or the last layers of many models lack modules that others have.
    let is_end =
        |name: &str| ends.get(name).is_none_or(|(first, last)| number < *first || *last < number);
    let is_first = layers.keys().next() == Some(&number);
    let counts =
        |name: &&&str| is_needed(name, is_first) || !is_end(name) && !name.contains("shortcut");
    let Some(first) = missing.iter().find(counts) else { return };
    let name = format!("{prefix}{number}{first}");
    // A rule about its scales may have told what a matrix lacks.
    if found.tell(&name) {
        return;
    }
    let more = match missing.len() - 1 {
        0 => String::new(),
        1 => " and 1 more tensor".to_owned(),
        more => format!(" and {more} more tensors"),
    };
    let message = format!(
        "there is no {name}{more}, which {} layers of this kind have: {}",
        all.len(),
        without(first)
    );
    found.told.extend(missing.iter().map(|name| format!("{prefix}{number}{name}")));
    let severity = if all.len() >= 3 { LAYERS.severity } else { Severity::Warning };
    if let Some(&index) = layers[&number].values().next() {
        found.push(&LAYERS, severity, index, None, message);
    }
}

/// Whether every layer of a transformer has this tensor, if one has. `is_first`: the first layer.
fn is_needed(name: &str, is_first: bool) -> bool {
    #[rustfmt::skip]
    const NEEDED: [&str; 25] = [
        "input_layernorm", "post_attention_layernorm", "ln_1", "ln_2", "ffn_norm", "gate",
        "q_proj", "gate_proj", "up_proj", "c_attn", "c_fc", "query", "dense", "fc1", "wq", "w1",
        "q", "attn_q", "wi", "wi_0", "wi_1", "q_a_proj", "kv_b_proj", "kv_a_proj_with_mqa",
        "ffn_up",
    ];
    // The last layers may share the keys and values of others.
    const KEYS: [&str; 10] =
        ["k_proj", "v_proj", "k", "v", "key", "value", "attn_k", "attn_v", "wk", "wv"];
    let module = name.rsplit_once('.').map_or(name, |(module, _)| module);
    let last = last(module);
    let is_needed = is_output(name) || NEEDED.contains(&last) || is_first && KEYS.contains(&last);
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
    if numbers.len() < 4 {
        return;
    }
    for name in names {
        let mut shapes: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
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
fn part(shape: &[u64], whole: &[u64]) -> Option<(usize, u64)> {
    let mut axes =
        (0..shape.len().max(whole.len())).filter(|&axis| shape.get(axis) != whole.get(axis));
    let axis = axes.next()?;
    let (&part, &all) = (shape.get(axis)?, whole.get(axis)?);
    let ranks = all.checked_div(part)?;
    let is_part = shape.len() == whole.len() && axes.next().is_none() && part * ranks == all;
    (is_part && ranks > 1).then_some((axis, ranks))
}
