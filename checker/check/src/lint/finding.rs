//! What lint finds, and the table of its rules.

use std::path::Path;
use std::sync::Arc;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing. Not printed by default.
    Note,
    /// Probably wrong, or wrong for some loaders.
    Warning,
    /// A program that loads the model computes garbage, or cannot load it.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A rule.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The name, such as `scale-zero`.
    pub id: &'static str,
    /// The severity of most of its findings. A finding has its own.
    pub severity: Severity,
    /// What the rule finds.
    pub finds: &'static str,
    /// The evidence: reports of the fault, or the code that relies on the rule.
    pub source: &'static str,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad the finding is.
    pub severity: Severity,
    /// The file or URL of the tensor, or of the configuration.
    pub file: Arc<Path>,
    /// The name of the tensor. None if the finding is about no tensor that is there.
    pub tensor: Option<Arc<str>>,
    /// The coordinate of the first element, if the finding is about elements.
    pub coordinate: Option<Vec<u64>>,
    /// The numbers, and what they lead to.
    pub message: String,
}

/// Declares the rules and their table.
macro_rules! rules {
    ($($name:ident $severity:ident $id:literal $finds:literal $source:literal)*) => {
        $(pub(super) static $name: Rule = Rule {
            id: $id,
            severity: Severity::$severity,
            finds: $finds,
            source: $source,
        };)*

        /// All rules, in the order of the documentation.
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    NONFINITE Error "nonfinite"
        "a weight that is NaN or infinite: what `check` calls bad"
        "IEEE 754; OCP OFP8 1.0"
    SCALE_NONFINITE Error "scale-nonfinite"
        "a scale that is NaN or infinite: its whole block becomes NaN or infinite"
        "Model-Optimizer#1633, Model-Optimizer#1397, compressed-tensors#595"
    SCALE_ZERO Error "scale-zero"
        "a scale of zero over weights that are not zero"
        "auto-round#207, Model-Optimizer#1353, TensorRT-LLM#16447"
    SCALE_NEGATIVE Error "scale-negative"
        "a negative scale in a layout that has none"
        "vLLM initialises missing scales to -3.4e38 or -1; onnxruntime-genai#1051"
    INVERSE_OVERFLOW Error "inverse-overflow"
        "a global or input scale whose inverse is infinite"
        "vllm#42601"
    GLOBAL_DIRECTION Warning "global-direction"
        "a global scale that looks like its own inverse"
        "modular#6600"
    SIBLING_MISSING Error "sibling-missing"
        "quantised weights without the scales that they need"
        "vllm#54444, vllm#57108, DeepSeek-V3 fp8_cast_bf16.py"
    EXPERT_SIBLING_MISSING Error "expert-sibling-missing"
        "a tensor that some experts of a layer have and others lack"
        "vllm#45212"
    SCALE_SHAPE Error "scale-shape"
        "scales, or other parts, whose shape does not fit their weights"
        "Model-Optimizer#2038"
    ORPHAN_SCALE Warning "orphan-scale"
        "a scale without weights, or what a quantiser left behind"
        "Model-Optimizer#2038"
    FUSED_GLOBAL_MISMATCH Error "fused-global-mismatch"
        "different global scales of matrices that engines fuse: gate and up, or q, k and v"
        "Model-Optimizer#1411, vllm#54974"
    LAYERS Error "layers"
        "a missing layer, and a tensor of a layer that is missing, or has a part of the rows, \
         where other layers have it whole"
        "llama.cpp#6490, llama.cpp#7157"
    COUNT Error "count"
        "fewer layers, experts, tokens or rows than the configuration says, or names that an ONNX \
         graph reads and nothing makes"
        "llama.cpp#6490, llama.cpp#7157"
    PAIRS Error "pairs"
        "an output matrix that is missing, or differs from the embedding that it is tied to, and a \
         matrix of LoRA without the other, or of another rank"
        "Qwen3-VL-Embedding#89, vllm#6758, transformers#45079"
    ASKED_FOR Error "asked-for"
        "against the configuration of the quantisation: missing scales, routers that it does not \
         list, codes that are never used"
        "vllm#54189, vllm#54623, Model-Optimizer#1858, auto-round#2273"
    CONFIG_DISAGREES Warning "config-disagrees"
        "a layer that is quantised against the configuration, or not quantised against it"
        "vllm#52501"
    CONFIG_UNREADABLE Error "config-unreadable"
        "a configuration that is not JSON"
        "transformers: config.json"
    E8M0_IMPLAUSIBLE Warning "e8m0-implausible"
        "scales of powers of two whose median is far from 1"
        "sglang#26701"
    UE8M0_MANTISSA Warning "ue8m0-mantissa"
        "a scale that is no power of two, although the configuration says ue8m0"
        "sglang#35491"
    DEQUANT_OVERFLOW Warning "dequant-overflow"
        "weights that are infinite in the model's own dtype once they are multiplied by the scale"
        "arithmetic: the largest code times the scale"
    GPTQ_ZERO_FORMAT Warning "gptq-zero-format"
        "zero points of the other version of GPTQ"
        "vllm#38966"
    G_IDX Error "g-idx"
        "a group index outside of the groups, or the same for all rows"
        "compressed-tensors initialize.py: -1 stands for not filled"
    KV_SCALE Error "kv-scale"
        "a scale of the KV cache that is zero, negative, not finite, or alone"
        "llm-compressor#1928, sglang#40243"
    CODES_ALL_ZERO Error "codes-all-zero"
        "packed weights that are all zero"
        "BitNet#608"
    SATURATION Warning "saturation"
        "many block scales at their largest value"
        "NVFP4: the scale of one block in a tensor is at 448"
    ALL_ZERO Error "all-zero"
        "a matrix of zeros, where that of other layers is not zero, or where every model has one"
        "BitNet#608, peft#2049"
    ZERO_RUN Warning "zero-run"
        "pages of zeros that begin in the middle of a row: a download or a copy with a hole"
        "peft#2049"
    OUTLIER_RUN Warning "outlier-run"
        "a few neighbouring values that are a thousand times as large as the others"
        "metaseq#122"
    MAGNITUDE Error "magnitude"
        "a finite weight that the model's own dtype cannot hold, above 1e30, or unlike other layers"
        "TensorRT#3101, sglang#26772, LTX-2#172"
    NORM_ZERO Warning "norm-zero"
        "a norm weight of zeros, where that of other layers is not zero"
        "transformers#40796: zeros are legal in all layers together"
    EMPTY_TENSOR Error "empty-tensor"
        "a weight without elements: it was saved from a shard or a placeholder"
        "trl#4416, transformers#20082"
    DEAD_ROWS Note "dead-rows"
        "rows of zeros in an embedding or an output matrix"
        "aprender#2183; reserved tokens of Llama 3 are zero"
    LORA_B_ZERO Note "lora-b-zero"
        "an adapter whose B matrices are zero, all (not trained) or some (a warning)"
        "peft: B begins as zeros"
    DUPLICATE_SET Note "duplicate-set"
        "two tensors of one name in a folder"
        "vllm default_loader.py: one file and its shards together break the model"
}

/// The rule of an identifier.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
