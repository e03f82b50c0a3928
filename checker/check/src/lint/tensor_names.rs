//! Names of tensors: the module, what the tensor is to the module, and the same module elsewhere.

/// A name in which every part that is a number is `*`: the name of the same tensor in all layers
/// and experts.
pub(super) fn of_all_layers(name: &str) -> String {
    starred(name, |_| true)
}

/// A name in which the number of the expert is `*`. None for a tensor of no single expert.
pub(super) fn of_all_experts(name: &str) -> Option<String> {
    let starred = starred(name, |before| before.ends_with("experts"));
    (starred != name).then_some(starred)
}

/// The beginning of the names of an expert's tensors: `layers.0.experts.3.`.
pub(super) fn expert(name: &str) -> Option<&str> {
    let at = of_all_experts(name)?.find('*')?;
    name[at..].find('.').map(|end| &name[..=at + end])
}

/// Replaces the parts that are numbers, if `replaces` holds for the part before.
fn starred(name: &str, replaces: impl Fn(&str) -> bool) -> String {
    let mut before = "";
    let parts = name.split('.').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let star = is_number && replaces(before);
        before = part;
        if star { "*" } else { part }
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Modules that every model trains: projections, embeddings of tokens, and the output matrix. Names
/// that end in `_proj` are projections, too.
#[rustfmt::skip]
const TRAINED: [&str; 45] = [
    "embed_tokens", "tok_embeddings", "word_embeddings", "token_embd", "wte", "shared",
    "embed_in", "lm_head", "embed_out", "output", "dense", "fc1", "fc2", "c_attn", "c_fc",
    "query", "key", "value", "query_key_value", "dense_h_to_4h", "dense_4h_to_h", "wq", "wk",
    "wv", "wo", "w1", "w2", "w3", "wi", "wi_0", "wi_1", "gate_up", "qkv", "attn_q", "attn_k",
    "attn_v", "attn_qkv", "attn_output", "ffn_up", "ffn_gate", "ffn_down", "q", "k", "v", "o",
];

/// The projections by which a block adds to what goes past it.
#[rustfmt::skip]
const OUTPUTS: [&str; 10] = [
    "o_proj", "out_proj", "down_proj", "c_proj", "wo", "w2", "dense_4h_to_h", "fc2",
    "attn_output", "ffn_down",
];

/// Parts of the names of modules that begin as zeros, or are zero until they are used.
#[rustfmt::skip]
const MAY_BE_ZERO: [&str; 10] = [
    "lora", "adapter", "control", "zero", "oft_", "hada", "lokr", "codebook", "quantize", "vq",
];

/// Parts of the names of adapters that begin as random numbers.
const RANDOM: [&str; 3] = [".lora_a", "lora_down", "lora.down"];

/// How the names in files of peft begin. They hold adapters, and whole weights of some modules.
const PEFT: &str = "base_model.";

/// Whether every model trains the weight of this name.
pub(super) fn is_trained(name: &str) -> bool {
    let last = last(module(name));
    (last.ends_with("_proj") || TRAINED.contains(&last)) && !has_part(name, &MAY_BE_ZERO)
}

/// Whether the weight of this name may be zero in all layers.
pub(super) fn may_be_zero(name: &str) -> bool {
    let is_peft = name.starts_with(PEFT) && !is_trained(name);
    (is_peft || has_part(name, &MAY_BE_ZERO)) && !has_part(name, &RANDOM)
}

fn has_part(name: &str, parts: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    parts.iter().any(|part| name.contains(part))
}

/// Whether the weight of this name is a projection by which a block adds to what goes past it.
pub(super) fn is_output(name: &str) -> bool {
    OUTPUTS.contains(&last(module(name)))
}

/// The beginning of the names of a layer, its number, and the rest of the name.
pub(super) fn layer(name: &str) -> Option<(&str, usize, &str)> {
    let mut start = 0;
    for part in name.split('.') {
        // A hostile number would overflow where layers are counted.
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = part.parse::<u16>().ok().filter(|_| is_number) {
            return Some((&name[..start], number.into(), &name[start + part.len()..]));
        }
        start += part.len() + 1;
    }
    None
}

/// Whether the names of the layers of a model begin so.
pub(super) fn is_stack(prefix: &str) -> bool {
    #[rustfmt::skip]
    const STACKS: [&str; 11] = [
        "layers", "layer", "h", "block", "blocks", "blk", "resblocks", "transformer_blocks",
        "single_transformer_blocks", "double_blocks", "single_blocks",
    ];
    STACKS.contains(&last(prefix.trim_end_matches('.')))
}

/// The number of an expert, whose tensors have it in their names.
pub(super) fn expert_number(name: &str) -> Option<u64> {
    last(expert(name)?.trim_end_matches('.')).parse::<u16>().ok().map(u64::from)
}

/// Whether the weight of this name is the embedding of tokens.
pub(super) fn is_embedding(name: &str) -> bool {
    #[rustfmt::skip]
    const EMBEDDINGS: [&str; 7] = [
        "embed_tokens", "tok_embeddings", "word_embeddings", "token_embd", "wte", "embed_in",
        "shared",
    ];
    name.ends_with(".weight") && EMBEDDINGS.contains(&last(module(name))) && layer(name).is_none()
}

/// Whether the weight of this name is the matrix that turns the output into tokens.
pub(super) fn is_head(name: &str) -> bool {
    let is_named = matches!(last(module(name)), "lm_head" | "embed_out");
    name == "output.weight" || name.ends_with(".weight") && is_named && layer(name).is_none()
}

/// The module of a weight. The experts of a layer in one tensor have no `.weight`.
pub(super) fn module(name: &str) -> &str {
    name.strip_suffix(".weight").unwrap_or(name)
}

/// The last part of the name of a module: `down_proj` of `model.layers.0.mlp.down_proj`.
pub(super) fn last(module: &str) -> &str {
    module.rsplit('.').next().unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_starred() {
        let name = "model.layers.10.mlp.experts.3.w1.weight";
        assert_eq!(of_all_layers(name), "model.layers.*.mlp.experts.*.w1.weight");
        let experts = of_all_experts(name);
        assert_eq!(experts.as_deref(), Some("model.layers.10.mlp.experts.*.w1.weight"));
        assert_eq!(of_all_experts("model.layers.10.mlp.w1.weight"), None);
        assert_eq!(of_all_layers("conv1.weight"), "conv1.weight");
        assert_eq!(last("model.layers.0.mlp.down_proj"), "down_proj");
        assert_eq!(layer(name), Some(("model.layers.", 10, ".mlp.experts.3.w1.weight")));
        assert_eq!(layer("lm_head.weight"), None);
    }
}
