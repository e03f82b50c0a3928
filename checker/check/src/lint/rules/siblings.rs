//! Rules about tensors that belong together: what is missing, and what is left over.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use crate::lint::finding::{
    CONFIG_DISAGREES, CONFIG_UNREADABLE, DUPLICATE_SET, EXPERT_SIBLING_MISSING, ORPHAN_SCALE,
    SCALE_SHAPE, SIBLING_MISSING, Severity,
};
use crate::lint::layouts::{self, Matrix, Role, is_f8, is_integer};
use crate::lint::model::{Model, ReportedTensor};
use crate::lint::purpose::Purpose;
use crate::lint::tensor_names::{of_all_experts, of_all_layers};
use crate::model::Content;
use nonfinite::Format;
use serde_json::Value;

/// All rules about siblings. A shard alone has some siblings in other shards.
pub(super) fn all<'a>(found: &mut Findings<'a>, names: &mut BTreeSet<&'a str>) {
    duplicates(found, names);
    if !found.model.is_partial {
        missing(found);
        of_experts(found);
        orphans(found);
    }
    disagreeing(found);
}

/// `seen` are the names in the models before.
fn duplicates<'a>(found: &mut Findings<'a>, seen: &mut BTreeSet<&'a str>) {
    let tensors = found.model.tensors.iter().enumerate();
    let named =
        tensors.filter_map(|(index, tensor)| Some((index, tensor.described.name.as_deref()?)));
    let mut again = named.filter(|(_, name)| !seen.insert(*name));
    if let Some((index, _)) = again.next() {
        let message = format!(
            "{} tensors are in two files of this folder: some loaders read both",
            again.count() + 1
        );
        found.add(&DUPLICATE_SET, index, None, message);
    }
}

fn missing(found: &mut Findings<'_>) {
    let has_scales = found.matrices().iter().any(|matrix| matrix.one(Role::Scale).is_some());
    // Models with fp8 weights and no scales at all exist.
    let mut bare = Vec::new();
    for matrix in found.matrices() {
        let Some(codes) = matrix.one(Role::Codes) else { continue };
        let tensor = found.tensor(codes);
        packed_shape(found, matrix, &tensor.described.shape);
        state(found, matrix, codes);
        if matches!(tensor.described.content, Content::Blocks { .. }) {
            continue;
        }
        let scale = matrix.one(Role::Scale);
        let is_nvfp4 = scale.is_some_and(|scale| {
            let is_fp4 = matrix.grid.as_ref().is_some_and(|grid| grid.float_bits == Some(4));
            is_fp4 && found.tensor(scale).format() == Some(Format::F8E4M3Fn)
        });
        if let Some(scale) = scale.filter(|&scale| is_integer(&found.tensor(scale).described, 4)) {
            let dtype = &found.tensor(scale).described.dtype;
            let message = format!("scales of {dtype}, where floating-point numbers are needed");
            found.add(&SCALE_SHAPE, scale, None, message);
        }
        let needs_global = matrix.layout.has_global && is_nvfp4;
        let needed = (matrix.layout.needs)(&matrix.parts, &matrix.scheme).into_iter();
        let model = found.model;
        for ending in needed.filter(|ending| !has(model, matrix, ending)) {
            let message = format!("there is no {}{ending}", matrix.module);
            found.told.insert(format!("{}{ending}", matrix.module));
            found.add(&SIBLING_MISSING, codes, None, message);
        }
        if scale.is_none() {
            if is_f8(&tensor.described) && !has_scales && !found.model.config.is_quantised() {
                bare.push(codes);
                continue;
            }
            let dtype = &tensor.described.dtype;
            let wanted = wanted(found, matrix);
            let message = format!("weights of {dtype} have no scales: there is no {wanted}");
            found.told.insert(wanted);
            found.add(&SIBLING_MISSING, codes, None, message);
        } else if needs_global && matrix.global().is_none() {
            let message = "NVFP4 weights have no global scale: loaders take 1.0, or what is in \
                           memory"
                .to_owned();
            found.add(&SIBLING_MISSING, codes, None, message);
        }
    }
    if let [first, ..] = bare[..] {
        let message = format!(
            "{} tensors of fp8 have no scales, and there is no configuration: engines multiply \
             by 1",
            bare.len()
        );
        found.push(&SIBLING_MISSING, Severity::Warning, first, None, message);
    }
}

/// `weight_shape` of compressed-tensors has the rows and columns of codes in words of 32 bits.
fn packed_shape(found: &mut Findings<'_>, matrix: &Matrix, packed: &[u64]) {
    let Some(index) = matrix.one(Role::Shape) else { return };
    let (tensor, bits) = (found.tensor(index), matrix.scheme.bits.unwrap_or(4));
    let Some(&bytes) = [4, 8].iter().find(|&&bytes| is_integer(&tensor.described, bytes)) else {
        return;
    };
    let mut shape = Vec::new();
    tensor.elements(bytes as usize, |_, length| {
        shape.push(length);
        shape.len() < 2
    });
    let (&[.., rows, words], &[of_rows, columns]) = (packed, shape.as_slice()) else { return };
    if rows != of_rows || columns.saturating_mul(bits).div_ceil(32) != words {
        let message = format!("{shape:?} are not the rows and columns of codes {packed:?}");
        found.add(&SCALE_SHAPE, index, None, message);
    }
}

/// bitsandbytes has the shape of the weights and the size of blocks as JSON in a tensor of bytes.
fn state(found: &mut Findings<'_>, matrix: &Matrix, codes: usize) {
    const LONGEST: u64 = 1 << 16;
    let Some(index) = matrix.one(Role::State) else { return };
    let tensor = found.tensor(index);
    let Some(text) = tensor.bytes(0..tensor.described.data.length().min(LONGEST)) else { return };
    let state: Value = match serde_json::from_slice(&text) {
        Ok(state) => state,
        Err(error) => {
            let message = format!("the state of the quantiser is no JSON: {error}");
            return found.add(&CONFIG_UNREADABLE, index, None, message);
        }
    };
    let mut shape = state["shape"].as_array().into_iter().flatten().map(Value::as_u64);
    let weights = shape.try_fold(1u64, |all, length| all.checked_mul(length?));
    let block = state["blocksize"].as_u64().filter(|&block| block > 0);
    let (Some(weights), Some(block), Some(scale)) = (weights, block, matrix.one(Role::Scale))
    else {
        return;
    };
    let [codes_of, scales_of] =
        [codes, scale].map(|index| found.tensor(index).described.elements());
    if weights.div_ceil(2) != codes_of || weights.div_ceil(block) != scales_of {
        let message = format!(
            "{weights} weights in blocks of {block} do not fit {codes_of} bytes of codes and \
             {scales_of} scales"
        );
        found.add(&SCALE_SHAPE, index, None, message);
    }
}

/// Whether a matrix has a tensor of this ending, with elements.
fn has(model: &Model, matrix: &Matrix, ending: &str) -> bool {
    let part = matrix.parts.get(ending);
    part.is_some_and(|(_, index)| model.tensors[*index].described.elements() > 0)
}

/// The name of the scale that a matrix should have: that of other matrices whose codes have the
/// same ending, or the first of the layout.
fn wanted(found: &Findings<'_>, matrix: &Matrix) -> String {
    let of = |role: Role| {
        move |parts: &Matrix| {
            let mut parts = parts.parts.iter();
            parts.find_map(|(ending, (of, _))| (*of == role).then_some(*ending))
        }
    };
    let codes = of(Role::Codes)(matrix);
    let alike = found.matrices().iter().filter(|other| of(Role::Codes)(other) == codes);
    let mut endings = matrix.layout.endings.iter().filter(|(ending, role)| {
        *role == Role::Scale && (codes == Some("") || ending.starts_with('.'))
    });
    let ending = alike.filter_map(of(Role::Scale)).next();
    let ending = ending.or_else(|| endings.next().map(|(ending, _)| *ending));
    format!("{}{}", matrix.module, ending.unwrap_or_default())
}

/// Experts of a layer have the same tensors.
fn of_experts(found: &mut Findings<'_>) {
    // By the name with a star for the expert: the tensors, by the number of the expert.
    let mut tensors: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        let name = tensor.name();
        let Some(starred) = of_all_experts(name) else { continue };
        let star = starred.find('*').unwrap_or(0);
        let expert = name[star..].split('.').next().unwrap_or_default();
        tensors.entry(starred).or_default().insert(expert, index);
    }
    // By the name of the module: its tensors, and all experts that have one of them.
    let mut modules: BTreeMap<&str, (Vec<_>, BTreeSet<&str>)> = BTreeMap::new();
    let module = |name: &str| name.rfind('.').unwrap_or(0);
    for (name, of) in &tensors {
        let (named, experts) = modules.entry(&name[..module(name)]).or_default();
        named.push((name, of));
        experts.extend(of.keys());
    }
    modules.retain(|_, (named, experts)| named.iter().any(|(_, of)| of.len() < experts.len()));
    let model = found.model;
    let is_plain = |index: usize| {
        let (tensor, name) = (&model.tensors[index], model.tensors[index].name());
        is_plain_weight(tensor) || model.config.ignores(&name[..module(name)])
    };
    for (named, mut experts) in modules.into_values() {
        // Some experts may have been left as they were.
        let all = named.iter().flat_map(|(_, of)| of.iter());
        let plain = all.filter(|(_, index)| is_plain(**index)).map(|(expert, _)| *expert);
        let plain: BTreeSet<&str> = plain.collect();
        if plain.len() < experts.len() {
            experts.retain(|expert| !plain.contains(expert));
        }
        for (name, of) in named {
            let mut having = of.iter().filter(|(expert, _)| experts.contains(*expert));
            let Some((_, &index)) = having.next() else { continue };
            let lacking = experts.len() - 1 - having.count();
            let first = experts.iter().find(|expert| !of.contains_key(*expert));
            let Some(first) = first else { continue };
            let absent = name.replacen('*', first, 1);
            found.told.insert(absent.clone());
            let message = format!(
                "{lacking} of {} experts lack this tensor: the first that is missing is {absent}",
                experts.len()
            );
            found.add(&EXPERT_SIBLING_MISSING, index, None, message);
        }
    }
}

/// Whether this is a weight of floating-point numbers that are no codes.
fn is_plain_weight(tensor: &ReportedTensor) -> bool {
    tensor.name().ends_with(".weight")
        && tensor.format().is_some_and(|format| format.size_in_bytes() > 1)
}

fn orphans(found: &mut Findings<'_>) {
    let owned = found.matrices().iter().flat_map(|matrix| matrix.parts.values());
    let owned: BTreeSet<usize> = owned.map(|(_, index)| *index).collect();
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        let name = tensor.name();
        let is_scale = layouts::is_scale(name).unwrap_or_else(|| {
            found.model.config.is_quantised() || is_integer(&tensor.described, 1)
        });
        let message = if layouts::is_left_over(name) {
            "the state of a quantiser, which no loader reads"
        } else if is_scale && !owned.contains(&index) {
            "a scale without quantised weights beside it"
        } else {
            continue;
        };
        // Optimizers quantise their states, too.
        if Purpose::of(tensor) != Purpose::State {
            found.add(&ORPHAN_SCALE, index, None, message.to_owned());
        }
    }
}

/// Layers that are quantised although the configuration leaves them out, and the other way round.
fn disagreeing(found: &mut Findings<'_>) {
    let config = &found.model.config;
    if config.is_uncertain() {
        return;
    }
    if !config.is_quantised() {
        let codes = found.matrices().iter().filter(|matrix| !matrix.layout.endings.is_empty());
        let mut codes = codes.filter_map(|matrix| matrix.one(Role::Codes));
        let is_block =
            |index: usize| matches!(found.tensor(index).described.content, Content::Blocks { .. });
        let first = codes.find(|&index| !is_block(index));
        if let Some(first) = first.filter(|_| config.was_read) {
            let message = "quantised, and config.json says nothing of it: loaders take the codes \
                           for weights";
            found.add(&CONFIG_DISAGREES, first, None, message.to_owned());
        }
        return;
    }
    let mut names = BTreeSet::new();
    let mut modules = BTreeSet::new();
    for matrix in found.matrices() {
        names.insert(of_all_layers(&matrix.module));
        modules.insert(matrix.module.as_str());
        if let Some(codes) = matrix.one(Role::Codes).filter(|_| config.ignores(&matrix.module)) {
            let message = "quantised, but the configuration says that this layer is not";
            found.add(&CONFIG_DISAGREES, codes, None, message.to_owned());
        }
    }
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        let Some(module) = tensor.name().strip_suffix(".weight") else { continue };
        let is_like_others = || names.contains(&of_all_layers(module)) && !modules.contains(module);
        // Engines leave out towers of images, whatever the configuration says.
        let is_left_out = || {
            module.split('.').any(|part| part.starts_with("vision") || part == "visual")
                || config.ignores(module)
        };
        if is_plain_weight(tensor) && tensor.shape().len() > 1 && is_like_others() && !is_left_out()
        {
            let dtype = &tensor.described.dtype;
            let message = format!(
                "{dtype}, although other layers of this name are quantised and the configuration \
                 does not leave out this one"
            );
            found.add(&CONFIG_DISAGREES, index, None, message);
        }
    }
}
