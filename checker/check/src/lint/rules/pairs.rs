//! Tensors that go together: the output matrix with the embedding, and the two matrices of LoRA.

use super::Findings;
use crate::lint::finding::PAIRS;
use crate::lint::model::ReportedTensor;
use crate::lint::sizes::Part;
use crate::lint::tensor_names::{is_embedding, is_head};

/// All rules about pairs.
pub(super) fn all(found: &mut Findings<'_>) {
    tied(found);
    adapters(found);
}

/// The output matrix is the embedding if the configuration says so, and is there otherwise.
fn tied(found: &mut Findings<'_>) {
    let model = found.model;
    let sizes = &model.config.sizes;
    let Some(is_tied) = sizes.is_tied else { return };
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
            if is_tied && embedding.format().is_some() && embedding.format() == head.format() =>
        {
            if embedding.is_equal_to(head) == Some(false) {
                let message = format!(
                    "other numbers than {}, although the configuration says tie_word_embeddings: \
                     loaders take one of the two",
                    embedding.name()
                );
                found.add(&PAIRS, at, None, message);
            }
        }
        (None, _) if !is_tied && sizes.has_head => {
            let rows = embedding.shape().first();
            let others =
                model.tensors.iter().filter(|other| other.shape().contains(rows.unwrap_or(&0)));
            let mut names = model.names.iter();
            let has_other = others.count() > 1 || names.any(|name| name.contains("head"));
            if embedding.shape().len() == 2 && !has_other {
                let message = "there is no lm_head.weight, although the configuration says \
                               tie_word_embeddings false: loaders fill it with random numbers"
                    .to_owned();
                found.add(&PAIRS, index, None, message);
            }
        }
        _ => {}
    }
}

/// The names of the two matrices of LoRA.
const ADAPTERS: [[&str; 2]; 4] = [
    ["lora_A", "lora_B"],
    ["lora_embedding_A", "lora_embedding_B"],
    ["lora_down", "lora_up"],
    ["lora.down", "lora.up"],
];

/// Both matrices of LoRA are there, and have the rank of the configuration.
fn adapters(found: &mut Findings<'_>) {
    let model = found.model;
    for (index, tensor) in model.tensors.iter().enumerate() {
        let name = tensor.name();
        let mut roles = ADAPTERS.iter().flat_map(|[a, b]| [(*a, *b, true), (*b, *a, false)]);
        let Some((own, other, is_a)) = roles.find(|(own, _, _)| name.contains(own)) else {
            continue;
        };
        let other = name.replacen(own, other, 1);
        if !model.names.contains(&*other) {
            let message =
                format!("there is no {other}: loaders leave the adapter out, or refuse it");
            found.add(&PAIRS, index, None, message);
            continue;
        }
        let module = &name[..name.find(own).unwrap_or(0)].trim_end_matches('.');
        let (Some(said), Some(&rank)) = (model.config.rank(module), tensor.shape().first()) else {
            continue;
        };
        if is_a && rank != said {
            let message = format!(
                "the rank {rank}, where adapter_config.json says {said}: loaders refuse it, or scale it by {said}"
            );
            found.add(&PAIRS, index, None, message);
        }
    }
}
