//! Tensors that go together: the output matrix with the embedding, and the two matrices of LoRA.

use std::collections::BTreeSet;

use super::Findings;
use crate::lint::finding::PAIRS;
use crate::lint::model::ReportedTensor;
use crate::lint::sizes::Part;
use crate::lint::tensor_names::{is_embedding, is_head, module};

/// All rules about pairs.
pub(super) fn all(found: &mut Findings<'_>) {
    tied(found);
    adapters(found);
}

/// The output matrix is the embedding if the configuration says so, and is there otherwise.
fn tied(found: &mut Findings<'_>) {
    let model = found.model;
    let sizes = model.sizes();
    let Some(is_tied) = sizes.is_tied.filter(|_| !model.config.is_lora) else { return };
    let find = |is: fn(&str) -> bool| {
        let is =
            |tensor: &&ReportedTensor| is(tensor.name()) && Part::of(tensor.name()) != Part::Other;
        let mut all = model.tensors.iter().enumerate().filter(|(_, tensor)| is(tensor));
        (all.next(), all.next())
    };
    // Several embeddings are of several vocabularies.
    let (Some((index, embedding)), None) = find(is_embedding) else { return };
    match find(is_head) {
        (Some((at, head)), None)
            if is_tied
                && embedding.format().is_some()
                && embedding.format() == head.format()
                && embedding.is_equal_to(head) == Some(false) =>
        {
            let message = format!(
                "other numbers than {}, although the configuration says tie_word_embeddings: \
                 loaders take one of the two",
                embedding.name()
            );
            found.add(&PAIRS, at, None, message);
        }
        // Heads of drafts and models of embeddings have no `model.` before their names.
        (None, _) if !is_tied && sizes.has_head && module(embedding.name()).contains('.') => {
            let rows = embedding.shape().first();
            let others =
                model.tensors.iter().filter(|other| other.shape().contains(rows.unwrap_or(&0)));
            let mut tensors = model.tensors.iter();
            let has_other =
                others.count() > 1 || tensors.any(|other| other.name().contains("head"));
            if embedding.shape().len() == 2 && !has_other {
                let message = "there is no lm_head.weight, although the configuration says \
                               tie_word_embeddings false: loaders fill it with random numbers, or \
                               refuse the model"
                    .to_owned();
                found.add(&PAIRS, index, None, message);
            }
        }
        _ => {}
    }
}

/// The names of the two matrices of LoRA.
const ADAPTERS: [[&str; 2]; 5] = [
    ["lora_A", "lora_B"],
    ["lora_a", "lora_b"],
    ["lora_embedding_A", "lora_embedding_B"],
    ["lora_down", "lora_up"],
    ["lora.down", "lora.up"],
];

/// The name of the other matrix, and the rank by the configuration if this is the first.
fn pair(found: &Findings<'_>, name: &str) -> Option<(String, Option<u64>)> {
    let mut roles = ADAPTERS.iter().flat_map(|[a, b]| [(*a, *b, true), (*b, *a, false)]);
    let (own, other, is_first) = roles.find(|(own, _, _)| name.contains(own))?;
    let module = name.split(own).next().unwrap_or_default().trim_end_matches('.');
    let rank = found.model.config.rank(module).filter(|_| is_first);
    Some((name.replacen(own, other, 1), rank))
}

/// Both matrices of LoRA are there, and have the rank of the configuration.
fn adapters(found: &mut Findings<'_>) {
    let model = found.model;
    let named = model.tensors.iter().enumerate();
    let pairs = named.filter_map(|(index, tensor)| Some((index, pair(found, tensor.name())?)));
    let pairs: Vec<_> = pairs.collect();
    let names: BTreeSet<&str> =
        pairs.iter().map(|(index, _)| model.tensors[*index].name()).collect();
    // Files with one matrix of all pairs are something else, unless a configuration says LoRA.
    let are_pairs =
        model.config.is_lora || pairs.iter().any(|(_, (other, _))| names.contains(other.as_str()));
    for (index, (other, said)) in pairs.iter().filter(|_| are_pairs) {
        let rank = model.tensors[*index].shape().first();
        let message = match (said, rank) {
            _ if !names.contains(other.as_str()) => {
                format!("there is no {other}: loaders leave the adapter out, or refuse it")
            }
            (Some(said), Some(rank)) if rank != said => format!(
                "the rank {rank}, where adapter_config.json says {said}: loaders refuse it, or \
                 scale it by the wrong rank"
            ),
            _ => continue,
        };
        found.add(&PAIRS, *index, None, message);
    }
}
