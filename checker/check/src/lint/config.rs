//! The configuration of a model: what its files say about quantisation.

use regex_lite::{Captures, Regex};
use serde_json::{Map, Value};

use nonfinite::Format;

use super::module_names::Named;
use super::sizes::Sizes;

/// What the configuration files of a folder say.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// Whether there was a file.
    pub(super) was_read: bool,
    /// The dtype in which the model computes.
    pub(super) dtype: Option<Format>,
    /// The method, such as `compressed-tensors`, in lower case. Empty if there is none.
    pub(super) method: String,
    /// Schemes, each with the modules that it is for.
    schemes: Vec<(Named, Scheme)>,
    /// Modules that are not quantised.
    ignored: Named,
    /// How many expressions there are.
    expressions: usize,
    /// Whether the scales of blocks are powers of two, stored as f32.
    pub(super) is_ue8m0: bool,
    /// Whether the zero points of GPTQ are stored as they are. Version 1 stores them minus 1.
    pub(super) is_gptq_v2: bool,
    /// Whether the KV cache has scales that do not change.
    pub(super) has_static_cache: bool,
    /// The sizes of the model.
    pub(super) sizes: Sizes,
    /// Whether the configuration is that of a LoRA adapter.
    pub(super) is_lora: bool,
    /// The rank of the adapter, if all ranks are known, and those of modules with another rank.
    rank: Option<u64>,
    ranks: Vec<(Named, u64)>,
}

/// How a module is quantised. What the configuration leaves out is None.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scheme {
    /// Bits of a code.
    pub(super) bits: Option<u64>,
    /// Weights in a row that share a scale.
    pub(super) group: Option<u64>,
    /// Rows and columns of the weights that share a scale.
    pub(super) block: Option<(u64, u64)>,
    /// Whether activations have scales that do not change.
    pub(super) has_static_input: bool,
    /// Whether the zero point is the middle of the codes.
    pub(super) is_symmetric: Option<bool>,
    /// The mode of MLX, such as `mxfp4`.
    pub(super) mode: Option<String>,
}

impl Config {
    /// Adds a file: `config.json`, `hf_quant_config.json` or `quantize_config.json`.
    ///
    /// # Errors
    /// The error of JSON.
    pub(super) fn add(&mut self, text: &[u8]) -> Result<(), serde_json::Error> {
        let whole = json(text)?;
        if whole.contains_key("peft_type") {
            self.adapter(&whole);
            return Ok(());
        }
        self.was_read = true;
        // Those of transformers and diffusers.
        if whole.contains_key("model_type") || whole.contains_key("_class_name") {
            self.sizes = Sizes::new(&whole);
        }
        let text_config = whole.get("text_config").and_then(Value::as_object);
        let places = [Some(&whole), text_config];
        for place in places.into_iter().flatten() {
            let dtype = ["torch_dtype", "dtype"].iter().find_map(|key| place.get(*key));
            let dtype = dtype.and_then(Value::as_str).and_then(dtype_of);
            self.dtype = self.dtype.or(dtype);
            let nested = ["quantization_config", "compression_config", "quantization"];
            let nested = nested.iter().find_map(|key| place.get(*key)?.as_object());
            if let Some(quantization) = nested {
                self.quantization(quantization);
            }
        }
        // The files of GPTQ and of AWQ have the fields at their top.
        let has = |keys: [&str; 2]| keys.iter().any(|key| whole.contains_key(*key));
        if has(["bits", "w_bit"]) && has(["group_size", "q_group_size"]) {
            self.quantization(&whole);
        }
        Ok(())
    }

    /// The ranks of a LoRA adapter by `adapter_config.json`.
    fn adapter(&mut self, config: &Map<String, Value>) {
        /// With more patterns, the time would be that of patterns times tensors.
        const MOST: usize = 64;
        let number = Value::as_u64;
        // Adapters of parameters have the ranks of all experts in one matrix.
        let parameters = config.get("target_parameters").and_then(Value::as_array);
        let has_parameters = parameters.is_some_and(|all| !all.is_empty());
        if config["peft_type"] != "LORA" || has_parameters {
            return;
        }
        let own = config.get("rank_pattern").and_then(Value::as_object).into_iter().flatten();
        let mut named = |name| Named::new([&*format!("re:(?:{name})$")], &mut self.expressions);
        let own = own.filter_map(|(name, rank)| Some((named(name), number(rank)?)));
        let own: Vec<_> = own.take(MOST + 1).collect();
        let are_known = own.len() <= MOST && own.iter().all(|(named, _)| !named.is_uncertain);
        self.is_lora = true;
        if are_known {
            (self.rank, self.ranks) = (config.get("r").and_then(number), own);
        }
    }

    /// The rank of the adapter of a module.
    pub(super) fn rank(&self, module: &str) -> Option<u64> {
        let own = self.ranks.iter().find(|(named, _)| named.matches(module));
        own.map(|(_, rank)| *rank).or(self.rank)
    }

    fn quantization(&mut self, config: &Map<String, Value>) {
        let text = |key: &str| config.get(key).and_then(Value::as_str);
        let method = text("quant_method")
            .or_else(|| config.contains_key("quant_algo").then_some("modelopt"));
        // A second file may repeat the first.
        if let Some(method) = method {
            self.method = method.to_ascii_lowercase();
        }
        self.has_static_cache |= config.get("kv_cache_scheme").is_some_and(is_static);
        self.is_ue8m0 |= text("scale_fmt") == Some("ue8m0");
        self.is_gptq_v2 |= text("checkpoint_format") == Some("gptq_v2");
        let ignored = [
            "ignore",
            "exclude_modules",
            "modules_to_not_convert",
            "llm_int8_skip_modules",
            "ignored_layers",
            // Quark.
            "exclude",
        ];
        let ignored = ignored.iter().filter_map(|key| config.get(*key)?.as_array()).flatten();
        for text in ignored.filter_map(Value::as_str) {
            self.ignored.add(text, &mut self.expressions);
        }
        let groups = config.get("config_groups").and_then(Value::as_object);
        for group in groups.into_iter().flat_map(Map::values) {
            let targets = group.get("targets").and_then(Value::as_array).into_iter().flatten();
            let targets = Named::new(targets.filter_map(Value::as_str), &mut self.expressions);
            if let Some(weights) = group.get("weights").and_then(Value::as_object) {
                let has_static_input = group.get("input_activations").is_some_and(is_static);
                self.schemes.push((targets, Scheme { has_static_input, ..Scheme::new(weights) }));
            }
        }
        // MLX gives some modules a scheme of their own, under their names.
        for (name, own) in config {
            if let Some(own) = own.as_object().filter(|own| own.contains_key("bits")) {
                self.give(name, Scheme::new(own));
            }
        }
        let scheme = Scheme::new(config);
        let objects = |key: &str| {
            let entries = config.get(key).and_then(Value::as_object).into_iter().flatten();
            entries.filter_map(|(name, own)| Some((name.as_str(), own.as_object()?)))
        };
        // GPTQModel gives expressions. After `-:` stands what is not quantised.
        for (name, own) in objects("dynamic") {
            let own = Scheme::new(own).over(&scheme);
            match name.strip_prefix("-:") {
                Some(name) => self.give(&format!("re:{name}"), Scheme { bits: Some(16), ..own }),
                None => self.give(&format!("re:{}", name.trim_start_matches("+:")), own),
            }
        }
        // ModelOpt gives names, if layers differ.
        for (name, own) in objects("quantized_layers") {
            self.give(name, Scheme::new(own));
        }
        // AutoRound gives names and expressions.
        for (name, own) in objects("extra_config") {
            let is_expression = name.contains(['*', '\\', '^', '$', '[', '(', '+', '?', '|']);
            let prefix = if is_expression { "re:" } else { "" };
            self.give(&format!("{prefix}{name}"), Scheme::new(own).over(&scheme));
        }
        if scheme != Scheme::default() {
            self.schemes.push((Named::new(["Linear"], &mut self.expressions), scheme));
        }
    }

    /// Gives the modules of this name or expression a scheme of their own.
    fn give(&mut self, name: &str, scheme: Scheme) {
        if scheme.bits.is_some_and(|bits| bits >= 16) {
            return self.ignored.add(name, &mut self.expressions);
        }
        let mut schemes = self.schemes.iter_mut();
        if let Some((named, _)) = schemes.find(|(of, own)| !of.has_class && *own == scheme) {
            return named.add(name, &mut self.expressions);
        }
        self.schemes.push((Named::new([name], &mut self.expressions), scheme));
    }

    /// Whether the modules that are not quantised are not all known.
    pub(super) fn is_uncertain(&self) -> bool {
        self.ignored.is_uncertain || self.schemes.iter().any(|(named, _)| named.is_uncertain)
    }

    /// Whether a configuration of quantisation was found.
    pub(super) fn is_quantised(&self) -> bool {
        !self.method.is_empty() || !self.schemes.is_empty()
    }

    /// Whether a list says which modules are not quantised, and all others of a class are.
    pub(super) fn lists_exceptions(&self) -> bool {
        let has_list = ["compressed-tensors", "modelopt"].contains(&&*self.method);
        has_list && self.schemes.iter().any(|(named, _)| named.has_class) && !self.is_uncertain()
    }

    /// Whether the configuration says that the module is not quantised.
    pub(super) fn ignores(&self, module: &str) -> bool {
        self.ignored.matches(module)
    }

    /// How the module is quantised: a scheme for its name counts more than one for a class.
    pub(super) fn scheme(&self, module: &str) -> Scheme {
        let named = self.schemes.iter().find(|(named, _)| named.matches(module));
        let found = named.or_else(|| self.schemes.iter().find(|(named, _)| named.has_class));
        found.map(|(_, scheme)| scheme.clone()).unwrap_or_default()
    }
}

/// Whether a scheme of compressed-tensors has scales that do not change.
fn is_static(scheme: &Value) -> bool {
    scheme.is_object() && !matches!(scheme.get("dynamic"), Some(Value::Bool(true)))
}

/// A JSON object. Python writes numbers that JSON does not have: they count as null.
fn json(text: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| {
        let token = Regex::new(r#""(?:[^"\\]|\\.)*"|-?Infinity|NaN"#);
        let (Ok(token), Ok(text)) = (token, str::from_utf8(text)) else { return Err(error) };
        let plain = token.replace_all(text, |found: &Captures<'_>| {
            if found[0].starts_with('"') { found[0].to_owned() } else { "null".to_owned() }
        });
        serde_json::from_str(&plain).map_err(|_| error)
    })
}

impl Scheme {
    /// The scheme, with what it leaves out from another.
    fn over(self, other: &Self) -> Self {
        Self {
            bits: self.bits.or(other.bits),
            group: self.group.or(other.group),
            block: self.block.or(other.block),
            has_static_input: self.has_static_input || other.has_static_input,
            is_symmetric: self.is_symmetric.or(other.is_symmetric),
            mode: self.mode.or_else(|| other.mode.clone()),
        }
    }

    fn new(config: &Map<String, Value>) -> Self {
        let number = |key: &str| config.get(key)?.as_u64();
        let pair = |key: &str| match config.get(key)?.as_array()?.as_slice() {
            [rows, columns] => Some((rows.as_u64()?, columns.as_u64()?)),
            _ => None,
        };
        let symmetric = ["sym", "symmetric"].iter().find_map(|key| config.get(*key)?.as_bool());
        let asymmetric = config.get("zero_point").and_then(Value::as_bool);
        // These formats have one size of groups.
        let mut names = ["quant_algo", "mode", "format"]
            .iter()
            .filter_map(|key| config.get(*key)?.as_str().map(str::to_ascii_lowercase));
        let named = names.find_map(|name| match name {
            name if name.contains("mxfp") || name == "w4a8_nvfp4_fp8" => Some(32),
            name if name.contains("nvfp4") => Some(16),
            _ => None,
        });
        Self {
            bits: ["bits", "num_bits", "w_bit"].iter().find_map(|key| number(key)),
            group: ["group_size", "q_group_size"].iter().find_map(|key| number(key)).or(named),
            block: ["weight_block_size", "block_structure"].iter().find_map(|key| pair(key)),
            has_static_input: config.get("activation_scheme").is_some_and(|it| it == "static"),
            is_symmetric: symmetric.or(asymmetric.map(|it| !it)),
            mode: config.get("mode").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

/// The dtype in which a model computes. That of fp8 weights is another.
fn dtype_of(name: &str) -> Option<Format> {
    let format: Format = name.trim_start_matches("torch.").parse().ok()?;
    (format.size_in_bytes() > 1).then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        let mut config = Config::default();
        config.add(text.as_bytes()).expect("JSON");
        config
    }

    /// Names, patterns and expressions, with and without the first parts of a name.
    #[test]
    fn ignored_modules() {
        let config = config(
            r#"{"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "modelopt",
                "ignore": ["lm_head", "re:.*mlp.gate$", "*.self_attn*", "Router", "vision",
                "layers.1.*.fc"]}}"#,
        );
        assert_eq!((config.dtype, &*config.method), (Some(Format::Bf16), "modelopt"));
        for (module, is_ignored) in [
            ("lm_head", true),
            ("model.lm_head", true),
            ("model.layers.3.mlp.gate", true),
            ("model.layers.3.mlp.gate_proj", false),
            ("model.layers.3.self_attn.q_proj", true),
            ("model.layers.3.mlp.down_proj", false),
            ("vision.blocks.1.fc", true),
            ("model.layers.10.fc", false),
            ("model.layers.1.experts.fc", true),
        ] {
            assert_eq!(config.ignores(module), is_ignored, "{module}");
        }
    }

    /// A scheme for a name counts more than one for a class.
    #[test]
    fn schemes_of_modules() {
        let config = config(
            r#"{"compression_config": {"config_groups": {
                "a": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 16}},
                "b": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8,
                      "block_structure": [128, 128]}}}}}"#,
        );
        assert!(config.is_quantised());
        let scheme = config.scheme("model.layers.0.mlp.down_proj");
        assert_eq!((scheme.bits, scheme.block), (Some(8), Some((128, 128))));
        assert_eq!(config.scheme("model.layers.0.mlp.up_proj").group, Some(16));
        // Names of formats say the size of groups.
        for (text, groups) in [
            (r#"{"quant_algo": "W4A16_NVFP4"}"#, [Some(16); 2]),
            (r#"{"mode": "mxfp8", "bits": 8}"#, [Some(32); 2]),
            (r#"{"format": "pack-quantized"}"#, [None; 2]),
            (
                r#"{"quant_algo": "MIXED_PRECISION",
                    "quantized_layers": {"a": {"quant_algo": "NVFP4"}}}"#,
                [Some(16), None],
            ),
        ] {
            let config = self::config(&format!(r#"{{"quantization_config": {text}}}"#));
            assert_eq!(["a", "b"].map(|module| config.scheme(module).group), groups, "{text}");
        }
    }

    /// GPTQModel and AutoRound give some modules another scheme, or none.
    #[test]
    fn overridden_modules() {
        let base = r#""bits": 4, "group_size": 64, "sym": true"#;
        for overrides in [
            r#""dynamic": {"+:.*down_proj": {"bits": 8}, "-:.*q_proj": {}, ".*up": {"bits": 4}}"#,
            r#""extra_config": {"layers.0.mlp.down_proj": {"bits": 8}, ".*q_proj": {"bits": 16}}"#,
        ] {
            let config = config(&format!(r#"{{"quantization_config": {{{base}, {overrides}}}}}"#));
            let scheme = |bits| Scheme {
                bits: Some(bits),
                group: Some(64),
                is_symmetric: Some(true),
                ..Scheme::default()
            };
            assert_eq!(config.scheme("model.layers.0.mlp.down_proj"), scheme(8), "{overrides}");
            assert_eq!(config.scheme("model.layers.0.mlp.up_proj"), scheme(4), "{overrides}");
            assert!(config.ignores("model.layers.0.q_proj"), "{overrides}");
            assert!(!config.ignores("model.layers.0.up_proj"), "{overrides}");
        }
    }

    #[test]
    fn broken_files() {
        let python = r#"{"a": [0.0, Infinity, -Infinity, NaN, "NaN, \" Infinity"], "bits": 4,
            "group_size": 32}"#;
        assert_eq!(config(python).scheme("").group, Some(32));
        for text in ["", "[]", "{", "3", "{\"a\": }", "{\"a\": Infinit}"] {
            assert!(Config::default().add(text.as_bytes()).is_err(), "{text}");
        }
        for text in [
            "{}",
            r#"{"quantization_config": 3}"#,
            r#"{"quantization_config":
            {"ignore": [3, "re:("], "config_groups": {"a": 1}, "weight_block_size": [-1, 2]}}"#,
        ] {
            assert!(!config(text).ignores("lm_head"));
        }
        // Names of more parts than those of the configuration take no time.
        let ignoring =
            |list: &str| config(&format!(r#"{{"quantization": {{"ignore": [{list}]}}}}"#));
        assert!(!ignoring(r#""lm_head""#).ignores(&"a.".repeat(100_000)));
        // Expressions take little memory, and without some of them not all is known.
        let many = [r#""re:a""#; 1025].join(",");
        for (list, is_uncertain) in [
            (r#""re:a{9}""#, false),
            (&many[..1024 * 7 - 1], false),
            (&many, true),
            (r#""re:a{20000}""#, true),
            (r#""re:(?!a)b""#, true),
        ] {
            assert_eq!(ignoring(list).is_uncertain(), is_uncertain, "{list:.20}");
        }
    }
}
