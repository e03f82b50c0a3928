//! The sizes of a model by its configuration: layers, experts, vocabulary, matrices.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

/// A part of a model: the text model, the vision tower, the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Encoder,
    Decoder,
    /// Anything that is not text, or a head that predicts further tokens.
    Other,
}

impl Part {
    /// The part that a key of a configuration or the name of a tensor is about.
    pub(super) fn of(name: &str) -> Self {
        #[rustfmt::skip]
        const OTHER: [&str; 18] = [
            "vis", "image", "img", "patch", "pixel", "video", "audio", "speech", "mel", "codec",
            "talker", "mtp", "nextn", "draft", "assistant", "qformer", "perceiver", "predictor",
        ];
        let has = |part: &str| name.contains(part);
        match name {
            _ if OTHER.iter().any(|part| has(part)) => Self::Other,
            _ if has("decoder") => Self::Decoder,
            _ if has("encoder") => Self::Encoder,
            _ => Self::Main,
        }
    }
}

/// What a configuration says of one part.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// The layers of the main part, and of the encoder if it has no number of its own.
    pub(super) layers: Option<u64>,
    pub(super) encoder_layers: Option<u64>,
    pub(super) decoder_layers: Option<u64>,
    pub(super) experts: Option<u64>,
    /// The tokens of the vocabulary.
    pub(super) tokens: Option<u64>,
    /// The rows of a projection to queries, and to keys and values.
    pub(super) queries: Option<u64>,
    pub(super) keys: Option<u64>,
    /// The rows of a projection inside of an MLP.
    pub(super) intermediate: Option<u64>,
    /// Whether the output matrix is the embedding.
    pub(super) is_tied: Option<bool>,
    /// Whether the model has an output matrix, tied or not.
    pub(super) has_head: bool,
    /// Whether the model has other parts, with configurations of their own.
    are_nested: bool,
    /// Whether layers have numbers of heads or rows of their own.
    pub(super) is_pruned: bool,
    /// For each layer, a hash of what lists say of it: those with one entry a layer, and those of
    /// layers.
    kinds: Vec<u64>,
}

impl Sizes {
    /// The sizes in a configuration of transformers. The part for text has them, if there is one.
    pub(super) fn new(whole: &Map<String, Value>) -> Self {
        const TEXT: [&str; 5] =
            ["text_config", "llm_config", "language_config", "thinker_config", "text_model_config"];
        let nested = TEXT.iter().find_map(|key| whole.get(*key)?.as_object());
        let mut sizes = nested.map(Self::new).unwrap_or_default();
        let number = |keys: &[&str]| keys.iter().find_map(|key| whole.get(*key)?.as_u64());
        let keep = |size: &mut Option<u64>, keys: &[&str]| *size = size.or(number(keys));
        keep(&mut sizes.layers, &["num_hidden_layers", "n_layer", "n_layers", "num_layers"]);
        keep(&mut sizes.encoder_layers, &["encoder_layers"]);
        keep(&mut sizes.decoder_layers, &["decoder_layers", "num_decoder_layers"]);
        keep(
            &mut sizes.experts,
            &["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"],
        );
        keep(&mut sizes.tokens, &["vocab_size"]);
        keep(&mut sizes.intermediate, &["intermediate_size", "n_inner", "ffn_dim", "d_ff"]);
        let heads = number(&["num_attention_heads", "n_head", "num_heads"]);
        let hidden = number(&["hidden_size", "n_embd", "d_model"]);
        let of_head = || hidden?.checked_div(heads?);
        if let (Some(heads), Some(length)) = (heads, number(&["head_dim", "d_kv"]).or_else(of_head))
        {
            let keys = number(&["num_key_value_heads", "n_head_kv"]).unwrap_or(heads);
            sizes.queries = sizes.queries.or(heads.checked_mul(length));
            sizes.keys = sizes.keys.or(keys.checked_mul(length));
        }
        // The whole model has the last word.
        let tied = whole.get("tie_word_embeddings").and_then(Value::as_bool);
        sizes.is_tied = tied.or(sizes.is_tied);
        sizes.are_nested |= nested.is_some();
        let names = whole.get("architectures").and_then(Value::as_array).into_iter().flatten();
        let mut names = names.filter_map(Value::as_str);
        sizes.has_head |= names.any(|name| {
            let ends = ["ForCausalLM", "LMHeadModel", "ForConditionalGeneration"];
            ends.iter().any(|end| name.ends_with(end))
        });
        let pruned = whole.get("pruned_heads").and_then(Value::as_object);
        sizes.is_pruned |= pruned.is_some_and(|heads| !heads.is_empty());
        // The MLP of a layer may have an entry of its own, so layers are not known.
        let of_layers = whole.get("layer_types").and_then(Value::as_array);
        if of_layers.is_some_and(|kinds| kinds.iter().any(|kind| kind == "mlp")) {
            sizes.layers = None;
        }
        if sizes.kinds.is_empty() {
            sizes.kinds =
                kinds(whole, sizes.layers.and_then(|all| usize::try_from(all).ok()).unwrap_or(0));
        }
        sizes
    }

    /// The sizes in the metadata of GGUF: whole numbers by key, and lengths of arrays by key and
    /// `[]`.
    pub(super) fn of_gguf(counts: &BTreeMap<String, u64>) -> Self {
        let number = |end: &str| {
            let mut ending = counts.iter().filter(|(key, _)| key.ends_with(end));
            let main = ending.find(|(key, _)| Part::of(key) == Part::Main);
            main.map(|(_, number)| *number)
        };
        let (heads, hidden) = (number(".attention.head_count"), number(".embedding_length"));
        let of_head = || hidden?.checked_div(heads?);
        let length = number(".attention.key_length").or_else(of_head);
        let rows = |heads: Option<u64>| heads?.checked_mul(length?);
        Self {
            layers: number(".block_count"),
            experts: number(".expert_count").filter(|experts| *experts > 0),
            tokens: number("tokenizer.ggml.tokens[]"),
            queries: rows(heads),
            keys: rows(number(".attention.head_count_kv")),
            intermediate: number(".feed_forward_length"),
            // Layers have numbers of heads or rows of their own.
            is_pruned: [".attention.head_count[]", ".head_count_kv[]", ".feed_forward_length[]"]
                .iter()
                .any(|key| number(key).is_some()),
            ..Self::default()
        }
    }

    /// Whether the sizes are those of a part.
    pub(super) fn are_of(&self, part: Part) -> bool {
        match part {
            Part::Main | Part::Decoder => true,
            Part::Encoder => !self.are_nested,
            Part::Other => false,
        }
    }

    /// What the configuration says of a layer alone: layers of one kind have the same number.
    pub(super) fn kind(&self, layer: usize) -> u64 {
        self.kinds.get(layer).copied().unwrap_or(0)
    }
}

/// What a configuration says of each layer alone.
fn kinds(whole: &Map<String, Value>, layers: usize) -> Vec<u64> {
    /// Models have fewer layers.
    const MOST: usize = 1 << 12;
    let mut kinds = vec![0; if layers <= MOST { layers } else { 0 }];
    for (place, (key, value)) in whole.iter().enumerate() {
        let add = |kind: &mut u64, said: &str| {
            let mut hasher = DefaultHasher::new();
            (*kind, place, said).hash(&mut hasher);
            *kind = hasher.finish();
        };
        match value {
            Value::Array(entries) if entries.len() == layers => {
                let entries = entries.iter().map(Value::to_string);
                kinds.iter_mut().zip(entries).for_each(|(kind, entry)| add(kind, &entry));
            }
            // Numbers of layers.
            Value::Array(entries)
                if ["layer", "idx", "attn", "mlp"].iter().any(|part| key.contains(part)) =>
            {
                for entry in entries.iter().filter_map(Value::as_u64) {
                    kinds.get_mut(entry as usize).into_iter().for_each(|kind| add(kind, ""));
                }
            }
            Value::String(text) if key.contains("pattern") && text.len() == layers => {
                let letters = text.split("").skip(1);
                kinds.iter_mut().zip(letters).for_each(|(kind, letter)| add(kind, letter));
            }
            // The last layers use the keys and values of others.
            Value::Number(last) if key == "num_kv_shared_layers" => {
                let last = last.as_u64().unwrap_or(0) as usize;
                kinds.iter_mut().rev().take(last).for_each(|kind| add(kind, ""));
            }
            _ => {}
        }
    }
    kinds
}
