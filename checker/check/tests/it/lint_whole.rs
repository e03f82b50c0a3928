//! Lint of models in which something is missing: faults that people reported, and the mended twin
//! of each, in which nothing is found.

use crate::lint_model::{Tensor, assert_lines, change, file, lint_files, tensors};
use crate::write::{Entry, gguf, string, u32_in, u64_in};

/// The tensors of a layer of llama, of 4 queries and 2 keys for each of 8 columns.
const LAYER: &str = "input_layernorm.weight 8
    self_attn.q_proj.weight 8,8
    self_attn.k_proj.weight 4,8
    self_attn.v_proj.weight 4,8
    self_attn.o_proj.weight 8,8
    post_attention_layernorm.weight 8
    mlp.gate_proj.weight 16,8
    mlp.up_proj.weight 16,8
    mlp.down_proj.weight 8,16";

const EXPERTS: &str = "input_layernorm.weight 8
    self_attn.q_proj.weight 8,8
    self_attn.k_proj.weight 4,8
    mlp.gate.weight 3,8
    mlp.experts.0.up_proj.weight 16,8
    mlp.experts.1.up_proj.weight 16,8
    mlp.experts.2.up_proj.weight 16,8";

/// Layers of these tensors, each with other numbers.
fn layers(prefix: &str, layer: &str, count: usize) -> String {
    let of = |number: usize| {
        let line = move |line: &str| {
            let (name, shape) = line.trim().split_once(' ').expect(line);
            format!("{prefix}{number}.{name} BF16 {shape} 0.{}\n", number + 1)
        };
        layer.lines().map(line).collect::<String>()
    };
    (0..count).map(of).collect()
}

fn llama(count: usize) -> String {
    format!(
        "model.embed_tokens.weight BF16 32,8 0.5\n{}model.norm.weight BF16 8 1\n\
         lm_head.weight BF16 32,8 0.25",
        layers("model.layers.", LAYER, count)
    )
}

/// A configuration of llama with these keys, too.
fn config(more: &str) -> String {
    format!(
        r#"{{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 16,
        "tie_word_embeddings": false{more}}}"#
    )
}

/// Asserts that a fault is found, and nothing in the sound model. A line is a fault and what is
/// found, with `; ` between two changes.
#[track_caller]
fn assert_faults(name: &'static str, config: &str, sound: &str, faults: &str) {
    let sound = tensors(sound);
    let lint = |model: &[Tensor]| {
        let config = (!config.is_empty()).then(|| (name, config.into()));
        lint_files(&config.into_iter().chain([("x.safetensors", file(model))]).collect())
    };
    assert_lines(&lint(&sound), "");
    for line in faults.lines() {
        let (fault, found) = line.split_once(" => ").expect(line);
        let mut bad = sound.clone();
        change(&mut bad, &fault.replace("; ", "\n"));
        assert_lines(&lint(&bad), found);
    }
}

/// Every tensor of a layer is removed.
fn without(model: &str, part: &str) -> String {
    let names = model.lines().filter_map(|line| line.trim().split(' ').next());
    let names = names.filter(|name| name.contains(part)).map(|name| format!("- {name}"));
    names.collect::<Vec<_>>().join("; ")
}

#[test]
fn layers_explain_each_other() {
    let model = llama(8);
    let gone = without(&model, "layers.3.");
    let faults = format!(
        "{gone} => error[layers] model.layers.7.input_layernorm.weight: there is no model.layers.3
        - model.layers.0.self_attn.q_proj.weight => error[layers] \
            model.layers.0.input_layernorm.weight: there is no model.layers.0.self_attn.q_proj
        - model.layers.5.mlp.up_proj.weight => error[layers] \
            model.layers.5.input_layernorm.weight: which 7 layers of this kind have
        + model.layers.5.mlp.up_proj.weight BF16 8,8 0.6 => error[layers] \
            model.layers.5.mlp.up_proj.weight: 1/2 of axis 0"
    );
    // An unknown architecture has no configuration: the layers are compared alone.
    assert_faults("config.json", "", &model, &faults);
    let blocks = model.replace("model.layers.", "blk.").replace("self_attn.q_proj", "attn_q");
    let fault = "- blk.3.attn_q.weight => error[layers] blk.3.input_layernorm.weight: attn_q";
    assert_faults("config.json", "", &blocks, fault);
    // Two kin are too few to be sure.
    let fault = "- model.layers.1.mlp.up_proj.weight => \
                 warning[layers] model.layers.1.input_layernorm.weight";
    assert_faults("config.json", "", &llama(3), fault);
}

/// Layers of other kinds: an attention in every fourth layer, a dense first layer, shared keys.
#[test]
fn layers_of_several_kinds() {
    let mut hybrid = llama(8);
    for layer in [0, 1, 2, 4, 5, 6] {
        let at = format!("model.layers.{layer}.");
        hybrid = hybrid.replace(&format!("{at}self_attn"), &format!("{at}linear_attn"));
    }
    assert_faults("config.json", "", &hybrid, "");
    let experts = layers("model.layers.", EXPERTS, 6);
    let later = experts.lines().filter(|line| !line.contains("layers.0."));
    let dense = llama(1) + "\n" + &later.collect::<Vec<_>>().join("\n");
    assert_faults("config.json", "", &dense, "");
    let keys = ["self_attn.k_proj", "self_attn.v_proj"];
    let shares = |line: &&str| !keys.iter().any(|key| line.contains(&format!("layers.5.{key}")));
    let shared = llama(6);
    let shared: Vec<_> = shared.lines().filter(shares).collect();
    let said = config(r#", "num_hidden_layers": 6, "num_kv_shared_layers": 1"#);
    assert_faults("config.json", &said, &shared.join("\n"), "");
    let types = config(r#", "n_layer": 6, "layer_types": ["a", "a", "a", "a", "a", "b"]"#);
    assert_faults("config.json", &types, &shared.join("\n"), "");
}

/// Models that lack nothing, although it seems so.
#[test]
fn nothing_is_missing() {
    let language = layers("llm.model.layers.", LAYER, 6);
    let images = layers("vpm.encoder.layers.", LAYER, 4);
    let residual = "model.layers.1.value_residual_proj.weight BF16 8,8 0.5";
    let number = usize::MAX;
    for (said, model) in [
        // The encoder of images has layers of its own.
        (r#", "num_hidden_layers": 6"#, format!("{language}{images}").trim().to_owned()),
        // A draft takes the output matrix of its target.
        ("", format!("embed_tokens.weight BF16 32,8 0.5\n{}", layers("layers.", LAYER, 1).trim())),
        // An adapter of some layers.
        ("", {
            let at = |layer| format!("model.layers.{layer}.q_proj.lora");
            let of = |layer| format!("{}_A BF16 2,8 0.5\n{}_B BF16 8,2 0.5", at(layer), at(layer));
            [0, 1, 2, 3, 5, 6].map(of).join("\n")
        }),
        // The first layer has no layer before.
        ("", {
            let all =
                [2, 3, 4].map(|layer| residual.replace("layers.1", &format!("layers.{layer}")));
            format!("{}\n{residual}\n{}", llama(5), all.join("\n"))
        }),
        // A hostile number.
        (r#", "num_experts": 4"#, format!("layers.{number}.experts.{number}.weight BF16 2,2 0.5")),
    ] {
        assert_faults("config.json", &config(said), &model, "");
    }
}

#[test]
fn counts_of_the_configuration() {
    let model = llama(6);
    let said = config(r#", "num_hidden_layers": 6, "vocab_size": 32"#);
    let faults = format!(
        "{} => error[count] model.layers.4.input_layernorm.weight: the last layer is 4
        + model.embed_tokens.weight BF16 24,8 0.5 => \
            error[count] model.embed_tokens.weight: tokens from 24 on",
        without(&model, "layers.5.")
    );
    assert_faults("config.json", &said, &model, &faults);

    let experts = layers("model.layers.", EXPERTS, 5);
    let said = config(r#", "num_hidden_layers": 5, "num_experts": 3"#);
    let faults = format!(
        "{} => error[count] model.layers.4.mlp.experts.1.up_proj.weight: 2 experts
        - model.layers.2.mlp.experts.2.up_proj.weight => error[layers] \
            model.layers.2.input_layernorm.weight: no model.layers.2.mlp.experts.2.up_proj.weight",
        without(&experts, "experts.2.")
    );
    assert_faults("config.json", &said, &experts, &faults);

    // One of two ranks of tensor parallelism.
    let rank = model.replace("proj.weight BF16 8,8", "proj.weight BF16 4,8");
    let rank = rank.replace("proj.weight BF16 16,8", "proj.weight BF16 8,8");
    let rank = rank.replace("k_proj.weight BF16 4,8", "k_proj.weight BF16 2,8");
    let rank = tensors(&rank.replace("v_proj.weight BF16 4,8", "v_proj.weight BF16 2,8"));
    let files = vec![("config.json", config("").into()), ("x.safetensors", file(&rank))];
    let found = "error[count] model.layers.0.mlp.gate_proj.weight: one of 2 ranks";
    assert_lines(&lint_files(&files), found);
}

/// GGUF says its counts itself.
#[test]
fn counts_of_gguf() {
    let block = "attn_norm.weight 8\nattn_q.weight 8,8\nattn_k.weight 4,8\nffn_up.weight 16,8\n\
                 ffn_gate_exps.weight 2,16,8";
    let sound = format!("token_embd.weight F32 3,8 0.5\n{}", layers("blk.", block, 4));
    let lint = |counts: [(&str, usize); 2], fault: &str| {
        let mut model = tensors(&sound.replace("BF16", "F32"));
        change(&mut model, fault);
        let entries = model.iter().map(|tensor| Entry {
            name: &tensor.name,
            kind: 0,
            shape: &tensor.shape,
            data: &tensor.bytes,
        });
        let entries: Vec<_> = entries.collect();
        let number = |(key, count): (&str, usize)| {
            let count = u32::try_from(count).expect("few").to_le_bytes();
            [&string(key, false)[..], &u32_in(4, false), &count].concat()
        };
        let tokens = [&u32_in(8, false)[..], &u64_in(3, false), &string("a", false).repeat(3)];
        let tokens =
            [&string("tokenizer.ggml.tokens", false)[..], &u32_in(9, false), &tokens.concat()];
        let [a, b] = counts.map(number);
        lint_files(&vec![("x.gguf", gguf(&entries, false, &[a, b, tokens.concat()]))])
    };
    let said = [("llama.block_count", 4), ("llama.expert_count", 2)];
    assert_lines(&lint(said, ""), "");
    for (said, fault, found) in [
        (said, "- blk.2.attn_q.weight", "error[layers] blk.2.attn_k.weight: no blk.2.attn_q"),
        (
            [("llama.block_count", 5), said[1]],
            "",
            "error[count] blk.3.attn_k.weight: the last layer is 3",
        ),
        (
            [said[0], ("llama.expert_count", 3)],
            "",
            "error[count] blk.3.ffn_gate_exps.weight: 2 experts",
        ),
        (
            said,
            "+ token_embd.weight F32 2,8 0.5",
            "error[count] token_embd.weight: tokens from 2 on",
        ),
    ] {
        assert_lines(&lint(said, fault), found);
    }
}

#[test]
fn pairs_of_tensors() {
    let model = llama(4);
    let faults = "- lm_head.weight => error[pairs] model.embed_tokens.weight: no lm_head.weight";
    assert_faults("config.json", &config(""), &model, faults);
    let tied = config("").replace("false", "true");
    let same = model.replace("lm_head.weight BF16 32,8 0.25", "lm_head.weight BF16 32,8 0.5");
    let faults = "lm_head.weight 77 0.25 => error[pairs] lm_head.weight: tie_word_embeddings";
    assert_faults("config.json", &tied, &same, faults);

    let lora = "base_model.model.layers.0.q_proj.lora_A.weight F32 8,16 0.5
        base_model.model.layers.0.q_proj.lora_B.weight F32 16,8 0.5
        base_model.model.layers.0.up_proj.lora_A.weight F32 2,16 0.5
        base_model.model.layers.0.up_proj.lora_B.weight F32 16,2 0.5";
    let said = r#"{"peft_type": "LORA", "r": 8, "rank_pattern": {"up_proj": 2}}"#;
    let at = "base_model.model.layers.0.q_proj";
    let faults = format!(
        "- {at}.lora_B.weight => error[pairs] {at}.lora_A.weight: no {at}.lora_B.weight
        + {at}.lora_A.weight F32 16,16 0.5; + {at}.lora_B.weight F32 16,16 0.5 => \
            error[pairs] {at}.lora_A.weight: the rank 16, where adapter_config.json says 8"
    );
    assert_faults("adapter_config.json", said, lora, &faults);
}

/// What the configuration of the quantisation promises.
#[test]
fn promises() {
    let module = |layer: usize| format!("layers.{layer}.self_attn.k_proj");
    let fp8 = |layer: usize| {
        let module = module(layer);
        format!(
            "{module}.weight F8_E4M3 4,32 x38\n{module}.weight_scale F32 1 0.5\n\
             {module}.input_scale F32 1 0.5\nlayers.{layer}.self_attn.k_scale F32 1 0.5\n\
             layers.{layer}.self_attn.v_scale F32 1 0.5"
        )
    };
    let model = [0, 1, 2, 3].map(fp8).join("\n");
    let said = r#"{"quantization_config": {"quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8},
        "input_activations": {"num_bits": 8, "dynamic": false}}},
        "kv_cache_scheme": {"num_bits": 8, "dynamic": false}}}"#;
    let all = |part: &str| without(&model, part);
    let faults = format!(
        "{} => error[asked-for] {}.weight: 4 of 4 matrices have no input scale
        - {}.input_scale => error[layers] {}.weight: no {}.input_scale
        {}; {} => error[asked-for] {}.weight: there are no k_scale and v_scale
        - layers.2.self_attn.k_scale; - layers.2.self_attn.v_scale => \
            error[layers] {}.input_scale: no layers.2.self_attn.k_scale and 1 more",
        all("input_scale"),
        module(0),
        module(1),
        module(1),
        module(1),
        all("k_scale"),
        all("v_scale"),
        module(0),
        module(2),
    );
    assert_faults("config.json", said, &model, &faults);

    // A router that the list leaves out, and codes of which half are never used.
    let packed = |module: &str| {
        format!(
            "{module}.weight_packed I32 256,32 x78\n{module}.weight_scale BF16 256,2 0.5\n\
             {module}.weight_shape I64 2 256\n{module}.weight_zero_point I32 32,2 x77"
        )
    };
    let experts = [0, 1].map(|expert| packed(&format!("layers.0.mlp.experts.{expert}.up_proj")));
    let experts = experts.join("\n");
    let said = |ignored: &str| {
        format!(
            r#"{{"quantization_config": {{"quant_method": "compressed-tensors",
            "ignore": [{ignored}], "config_groups": {{"group_0": {{"targets": ["Linear"],
            "weights": {{"num_bits": 4, "group_size": 128, "symmetric": false}}}}}}}}}}"#
        )
    };
    let fault = "+ layers.0.mlp.gate.weight BF16 2,256 0.5 => \
                 error[asked-for] layers.0.mlp.gate.weight: a router of BF16";
    assert_faults("config.json", &said(r#""lm_head""#), &experts, fault);
    let router = format!("{experts}\nlayers.0.mlp.gate.weight BF16 2,256 0.5");
    let name = "layers.0.mlp.experts.1.up_proj.weight_packed";
    let fault = format!("{name} * x37 => error[asked-for] {name}: no code is above 7");
    assert_faults("config.json", &said(r#""re:.*mlp.gate$""#), &router, &fault);
}

/// Weights of fp8 that were cast without their scale.
#[test]
fn a_cast_without_the_scale() {
    let model = llama(5);
    let name = "model.layers.2.mlp.up_proj.weight";
    let fault =
        format!("{name} * 448; {name} 3 -52 => error[magnitude] {name}: without their scale");
    assert_faults("config.json", &config(""), &model, &fault);
    // Other large numbers are not those of fp8.
    let mut large = tensors(&model);
    change(&mut large, &format!("{name} * 430"));
    let files = vec![("x.safetensors", file(&large))];
    assert_lines(&lint_files(&files), "");
}
