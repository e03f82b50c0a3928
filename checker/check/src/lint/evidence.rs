//! Links to the evidence of a rule.

use super::finding::Rule;

/// The owners of the repositories whose issues are evidence, on GitHub.
const OWNERS: [(&str, &str); 21] = [
    ("aprender", "paiml"),
    ("auto-round", "intel"),
    ("BitNet", "microsoft"),
    ("compressed-tensors", "vllm-project"),
    ("GPTQModel", "ModelCloud"),
    ("llama.cpp", "ggml-org"),
    ("llm-compressor", "vllm-project"),
    ("LTX-2", "Lightricks"),
    ("metaseq", "facebookresearch"),
    ("Model-Optimizer", "NVIDIA"),
    ("modular", "modular"),
    ("mlx", "ml-explore"),
    ("onnxruntime-genai", "microsoft"),
    ("peft", "huggingface"),
    ("Qwen3-VL-Embedding", "QwenLM"),
    ("sglang", "sgl-project"),
    ("TensorRT", "NVIDIA"),
    ("TensorRT-LLM", "NVIDIA"),
    ("transformers", "huggingface"),
    ("trl", "huggingface"),
    ("vllm", "vllm-project"),
];

impl Rule {
    /// The pieces of [`Rule::source`]: an issue such as `vllm#42601` has a URL, other text has
    /// none.
    pub fn evidence(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        const ENDS: [char; 4] = [' ', ',', ';', ':'];
        self.source.split_inclusive(ENDS).flat_map(|piece| {
            let word = piece.trim_end_matches(ENDS);
            let pieces = [(word, url(word)), (&piece[word.len()..], None)];
            pieces.into_iter().filter(|(text, _)| !text.is_empty())
        })
    }
}

/// GitHub leads from an issue to the pull request of this number.
fn url(word: &str) -> Option<String> {
    let (name, number) = word.split_once('#')?;
    let owner = OWNERS.iter().find_map(|(of, owner)| (*of == name).then_some(owner))?;
    Some(format!("https://github.com/{owner}/{name}/issues/{number}"))
}

#[cfg(test)]
mod tests {
    use super::super::RULES;

    /// The pieces make up the source, and each issue has a URL.
    #[test]
    fn pieces() {
        for rule in RULES {
            let pieces: Vec<_> = rule.evidence().collect();
            assert_eq!(pieces.iter().map(|(text, _)| *text).collect::<String>(), rule.source);
            for (text, url) in pieces {
                assert_eq!(text.contains('#'), url.is_some(), "{}: {text}", rule.id);
            }
        }
        let first = super::super::rule("inverse-overflow").and_then(|rule| rule.evidence().next());
        let url = "https://github.com/vllm-project/vllm/issues/42601".to_owned();
        assert_eq!(first, Some(("vllm#42601", Some(url))));
    }
}
