//! Counts that the configuration says: layers, experts, tokens, and the rows of matrices.

use super::Findings;
use super::layers::{Stacks, last_of};
use crate::lint::finding::COUNT;
use crate::lint::model::ReportedTensor;
use crate::lint::sizes::{Part, Sizes};
use crate::lint::tensor_names::{expert_number, is_embedding, is_stack, last, module};

/// All rules about counts.
pub(super) fn all(found: &mut Findings<'_>, stacks: &Stacks<'_>) {
    // An adapter has what was trained only.
    if found.model.config.is_lora {
        return;
    }
    layers(found, stacks);
    experts(found, stacks);
    tokens(found);
    ranks(found, stacks);
}

/// The last layers are missing.
fn layers(found: &mut Findings<'_>, stacks: &Stacks<'_>) {
    let sizes = found.model.sizes();
    let of = |part: Part| {
        let mut of_part =
            stacks.iter().filter(|(prefix, _)| is_stack(prefix) && Part::of(prefix) == part);
        (of_part.next(), of_part.next())
    };
    let has_main = of(Part::Main).0.is_some();
    for part in
        [Part::Main, Part::Encoder, Part::Decoder].into_iter().filter(|&part| sizes.are_of(part))
    {
        let (Some((prefix, layers)), None) = of(part) else { continue };
        let said = match part {
            // The encoder of images beside a language model.
            Part::Encoder if has_main => continue,
            // Blocks of convolutions are counted in other ways.
            Part::Encoder if prefix.contains("block") && of(Part::Decoder).0.is_none() => continue,
            Part::Decoder if sizes.has_head && sizes.decoder_layers.is_some() => {
                sizes.decoder_layers
            }
            Part::Decoder if has_main || sizes.decoder_layers.is_some() => continue,
            Part::Encoder => sizes.encoder_layers.or(sizes.layers),
            _ => sizes.layers,
        };
        let (Some(said), Some((last, index))) = (said, last_of(layers)) else { continue };
        let last = last as u64;
        if last + 1 < said {
            let message = format!(
                "the last layer is {last}, although the configuration says {said} layers: loaders \
                 fill layers {} to {} with random numbers, or refuse the model",
                last + 1,
                said - 1
            );
            found.add(&COUNT, index, None, message);
        }
    }
}

/// Experts that no layer has.
fn experts(found: &mut Findings<'_>, stacks: &Stacks<'_>) {
    let Some(said) = found.model.sizes().experts else { return };
    let mut most: Option<(u64, usize)> = None;
    for (_, layers) in stacks.iter().filter(|(prefix, _)| Part::of(prefix) != Part::Other) {
        for (rest, &index) in layers.values().flatten() {
            let tensor = found.tensor(index);
            // The experts of a layer in one tensor, by the names of transformers and of GGUF.
            let last = last(module(rest));
            let is_fused =
                last.ends_with("_proj") && rest.contains("experts.") || last.ends_with("_exps");
            let fused = || match tensor.shape() {
                [experts, _, _] if is_fused => Some(*experts),
                _ => None,
            };
            if let Some(count) = expert_number(rest).map(|number| number + 1).or_else(fused) {
                most = most.max(Some((count, index)));
            }
        }
    }
    if let Some((count, index)) = most.filter(|(count, _)| *count < said) {
        let message = format!(
            "{count} experts, although the configuration says {said}: the router chooses experts \
             that are not there"
        );
        found.add(&COUNT, index, None, message);
    }
}

/// Tokens without a row in the embedding.
fn tokens(found: &mut Findings<'_>) {
    let sizes = found.model.sizes();
    let embeddings = found.model.tensors.iter().enumerate();
    let of = |part: Part| {
        let is = move |(_, tensor): &(usize, &ReportedTensor)| {
            is_embedding(tensor.name()) && Part::of(tensor.name()) == part
        };
        embeddings.clone().find(is)
    };
    let found_one = of(Part::Main).or_else(|| of(Part::Decoder));
    let (Some(said), Some((index, tensor))) = (sizes.tokens, found_one) else { return };
    if let (&[rows, _], true) = (tensor.shape(), tensor.has_true_shape())
        && rows < said
    {
        let message = format!(
            "{rows} rows, although the configuration says {said} tokens: tokens from {rows} on \
             have no row"
        );
        found.add(&COUNT, index, None, message);
    }
}

/// Every layer is one rank of tensor parallelism: its matrices have a part of the rows.
fn ranks(found: &mut Findings<'_>, stacks: &Stacks<'_>) {
    let sizes = found.model.sizes();
    for (_, layers) in stacks.iter().filter(|(prefix, _)| Part::of(prefix) == Part::Main) {
        for layer in layers.values() {
            let model = found.model;
            // How many times the rows are those that the configuration says.
            let times = layer.iter().filter_map(|(rest, &index)| {
                let tensor = &model.tensors[index];
                let said = rows_of(sizes, rest).filter(|_| tensor.has_true_shape())?;
                let rows = *tensor.shape().first().filter(|_| tensor.shape().len() == 2)?;
                Some((index, said.checked_div(rows).filter(|times| times * rows == said)))
            });
            let times: Vec<_> = times.collect();
            let Some((index, Some(count))) = times.first().copied() else { continue };
            let has_queries = layer
                .keys()
                .any(|rest| rest.ends_with("q_proj.weight") || rest.ends_with("attn_q.weight"));
            let is_rank = count > 1 && times.len() > 1 && has_queries;
            if is_rank && times.iter().all(|(_, times)| *times == Some(count)) {
                let message = format!(
                    "this matrix and others of its layer have 1/{count} of the rows that the \
                     configuration says: one of {count} ranks of tensor parallelism was saved"
                );
                return found.add(&COUNT, index, None, message);
            }
        }
    }
}

/// The rows of a projection by the configuration.
fn rows_of(sizes: &Sizes, rest: &str) -> Option<u64> {
    match last(rest.strip_suffix(".weight")?) {
        "q_proj" | "attn_q" => sizes.queries,
        "k_proj" | "v_proj" | "attn_k" | "attn_v" => sizes.keys,
        "gate_proj" | "up_proj" | "ffn_gate" | "ffn_up" if !rest.contains("expert") => {
            sizes.intermediate
        }
        _ => None,
    }
}
