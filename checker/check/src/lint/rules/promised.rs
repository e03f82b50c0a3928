//! What the configuration of the quantisation promises: scales of activations and of the KV cache,
//! a list of the modules that are not quantised, and codes of all values.

use std::collections::BTreeSet;

use super::Findings;
use crate::lint::finding::ASKED_FOR;
use crate::lint::layouts::{CACHE, Matrix, Role};
use crate::lint::model::ReportedTensor;
use crate::lint::sizes::Part;
use crate::lint::tensor_names::{expert_number, last, module};
use crate::model::Content;

/// All rules about promises.
pub(super) fn all(found: &mut Findings<'_>) {
    inputs(found);
    cache(found);
    routers(found);
    halved(found);
}

/// Activations whose scales do not change need them.
fn inputs(found: &mut Findings<'_>) {
    let of_static = found.matrices().iter().filter(|matrix| matrix.scheme.has_static_input);
    let codes = of_static.filter_map(|matrix| Some((matrix, matrix.one(Role::Codes)?)));
    let codes: Vec<_> = codes.collect();
    let is_lacking = |matrix: &Matrix| {
        let module = &matrix.module;
        matrix.one(Role::Input).is_none() && !found.tell(&format!("{module}.input_scale"))
    };
    let lacking = || codes.iter().filter(|(matrix, _)| is_lacking(matrix));
    if let Some((_, index)) = lacking().next() {
        let message = format!(
            "{} of {} matrices have no input scale, although the configuration says that \
             activations have static scales: engines multiply by 1",
            lacking().count(),
            codes.len()
        );
        found.add(&ASKED_FOR, *index, None, message);
    }
}

/// A KV cache of fp8 whose scales do not change needs them.
fn cache(found: &mut Findings<'_>) {
    let model = found.model;
    let mut names = model.tensors.iter().map(ReportedTensor::name);
    if !model.config.has_static_cache
        || names.any(|name| CACHE.iter().any(|ending| name.ends_with(ending)))
    {
        return;
    }
    let is_key = |name: &str| name.contains("k_proj") && Part::of(name) != Part::Other;
    let mut keys = model.tensors.iter().enumerate();
    if let Some((index, _)) = keys.find(|(_, tensor)| is_key(tensor.name())) {
        let message = "there are no k_scale and v_scale, although the configuration says that the \
                       KV cache has static scales: engines multiply by 1"
            .to_owned();
        found.add(&ASKED_FOR, index, None, message);
    }
}

/// A router is small and stays as it is. Engines quantise what the list does not name.
fn routers(found: &mut Findings<'_>) {
    let config = &found.model.config;
    if !config.lists_exceptions() {
        return;
    }
    // Routers of quantised experts, by the module around both.
    let around = |module: &str| module.rfind('.').map_or(0, |end| end + 1);
    let quantised: BTreeSet<&str> = found
        .matrices()
        .iter()
        .filter(|matrix| expert_number(&matrix.module).is_some())
        .filter_map(|matrix| matrix.module.split("experts.").next())
        .collect();
    for (index, tensor) in found.model.tensors.iter().enumerate() {
        let module = module(tensor.name());
        let is_router = matches!(last(module), "gate" | "router" | "wg");
        if is_router
            && tensor.shape().len() == 2
            && tensor.format().is_some_and(|format| format.size_in_bytes() > 1)
            && quantised.contains(&module[..around(module)])
            && !config.ignores(module)
        {
            let message = format!(
                "a router of {}, which the configuration does not list among the modules that are \
                 not quantised: engines take its bytes for codes, or refuse the model",
                tensor.described.dtype
            );
            return found.add(&ASKED_FOR, index, None, message);
        }
    }
}

/// Codes of 4 bits with a zero point use all values: the zero point moves the least number of a
/// group to 0, and the scale the largest to 15.
fn halved(found: &mut Findings<'_>) {
    /// With fewer codes, none above 7 may be chance.
    const MANY: u64 = 1 << 12;
    for matrix in found.matrices() {
        let scheme = &matrix.scheme;
        let is_asymmetric = scheme.is_symmetric == Some(false) && scheme.bits == Some(4);
        let (Some(index), Some(_)) = (matrix.one(Role::Codes), matrix.one(Role::Zeros)) else {
            continue;
        };
        let tensor = found.tensor(index);
        let bytes = tensor.described.data.length();
        if !is_asymmetric
            || bytes < MANY / 2
            || !matches!(tensor.described.content, Content::NotFloat)
        {
            continue;
        }
        let mut seen = 0;
        tensor.elements(1, |_, byte| {
            seen |= byte;
            seen & 0x88 == 0
        });
        if seen & 0x88 == 0 && seen != 0 {
            let message = "no code is above 7, although codes with zero points reach 15: half of \
                           the range is lost, as by a cast to signed codes"
                .to_owned();
            found.add(&ASKED_FOR, index, None, message);
        }
    }
}
