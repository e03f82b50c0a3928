//! A model of one layer with random weights, run by mistral.rs as users run theirs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use candle_core::{DType, Device, Tensor, safetensors};
use mistralrs::{Model, ModelDType, RequestBuilder, TextMessageRole, TextModelBuilder};
use nonfinite_mistralrs::{Predicate, checked};
use serde_json::json;

const VOCABULARY: usize = 32;
const HIDDEN: usize = 16;
const PROMPT: &str = "w3 w4 w5";

/// Numbers in [-1, 1), the same in each run.
fn random(shape: &[usize], seed: &mut u64) -> Tensor {
    let mut next = || {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from(i16::from_le_bytes([(*seed >> 40) as u8, (*seed >> 48) as u8])) / 32768.0
    };
    let values: Vec<_> = (0..shape.iter().product()).map(|_| next()).collect();
    Tensor::from_vec(values, shape, &Device::Cpu).expect("the length is that of the shape")
}

/// Writes a model of Llama into a folder of its own. The head's row of `bad` is NaN.
fn write(name: &str, bad: Option<usize>) -> PathBuf {
    let folder = env::temp_dir().join(format!("nonfinite-mistralrs-{name}-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder for the model");
    let save = |file: &str, value: serde_json::Value| {
        fs::write(folder.join(file), value.to_string()).expect("a file of the model");
    };
    save(
        "config.json",
        json!({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
            "hidden_size": HIDDEN, "intermediate_size": 32, "vocab_size": VOCABULARY,
            "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
            "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 64,
            "torch_dtype": "float32",
        }),
    );
    let words: HashMap<_, _> = (0..VOCABULARY).map(|id| (format!("w{id}"), id)).collect();
    save(
        "tokenizer.json",
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": null, "pre_tokenizer": { "type": "Whitespace" }, "post_processor": null,
            "decoder": { "type": "ByteFallback" },
            "model": { "type": "WordLevel", "vocab": words, "unk_token": "w1" },
        }),
    );
    save(
        "tokenizer_config.json",
        json!({
            "chat_template": "{% for message in messages %}{{ message['content'] }}{% endfor %}",
            "bos_token": null, "eos_token": "w0", "unk_token": "w1",
        }),
    );
    let seed = &mut 1;
    let mut tensors = HashMap::new();
    let mut add = |name: &str, shape: &[usize]| {
        tensors.insert(name.to_owned(), random(shape, seed));
    };
    add("model.embed_tokens.weight", &[VOCABULARY, HIDDEN]);
    add("model.norm.weight", &[HIDDEN]);
    for (part, shape) in [
        ("input_layernorm", vec![HIDDEN]),
        ("post_attention_layernorm", vec![HIDDEN]),
        ("self_attn.q_proj", vec![HIDDEN, HIDDEN]),
        ("self_attn.k_proj", vec![HIDDEN, HIDDEN]),
        ("self_attn.v_proj", vec![HIDDEN, HIDDEN]),
        ("self_attn.o_proj", vec![HIDDEN, HIDDEN]),
        ("mlp.gate_proj", vec![32, HIDDEN]),
        ("mlp.up_proj", vec![32, HIDDEN]),
        ("mlp.down_proj", vec![HIDDEN, 32]),
    ] {
        add(&format!("model.layers.0.{part}.weight"), &shape);
    }
    let head = random(&[VOCABULARY, HIDDEN], seed);
    let head = match bad {
        None => head,
        Some(row) => {
            let nan = Tensor::full(f32::NAN, (1, HIDDEN), &Device::Cpu).expect("a row");
            head.slice_assign(&[row..row + 1, 0..HIDDEN], &nan).expect("a row of the head")
        }
    };
    assert_eq!(head.dtype(), DType::F32);
    tensors.insert("lm_head.weight".to_owned(), head);
    safetensors::save(&tensors, folder.join("model.safetensors")).expect("the weights");
    folder
}

async fn load(folder: &Path) -> Model {
    TextModelBuilder::new(folder.display())
        .with_force_cpu()
        .with_dtype(ModelDType::F32)
        .build()
        .await
        .expect("mistral.rs loads the model")
}

/// Four tokens of the model, or the error.
async fn generate(model: &Model, check: Option<Predicate>) -> Result<String, String> {
    let mut request = RequestBuilder::new()
        .add_message(TextMessageRole::User, PROMPT)
        .set_deterministic_sampler()
        .set_sampler_max_len(4);
    if let Some(predicate) = check {
        request = request.add_logits_processor(checked(predicate));
    }
    let response = model.send_chat_request(request).await.map_err(|error| error.to_string())?;
    Ok(response.choices[0].message.content.clone().unwrap_or_default())
}

#[tokio::test]
async fn clean_logits_are_sampled_as_without_the_check() {
    let folder = write("clean", None);
    let model = load(&folder).await;
    let plain = generate(&model, None).await.expect("mistral.rs generates");
    assert!(!plain.is_empty());
    for predicate in [Predicate::NanOrPositiveInf, Predicate::NonFinite] {
        assert_eq!(generate(&model, Some(predicate)).await.as_ref(), Ok(&plain));
    }
    fs::remove_dir_all(folder).expect("the folder of the model");
}

#[tokio::test]
async fn a_nan_ends_the_request_with_its_token() {
    let folder = write("bad", Some(5));
    let model = load(&folder).await;
    // Softmax makes each probability NaN, so mistral.rs by itself names the first one.
    let plain = generate(&model, None).await.expect_err("a NaN");
    assert!(plain.contains("index 0: NaN"), "{plain}");
    let error = generate(&model, Some(Predicate::NanOrPositiveInf)).await.expect_err("a NaN");
    assert!(error.contains("logit of token 5, after 3 tokens: nan or +inf"), "{error}");
    // The model still answers.
    assert!(generate(&model, Some(Predicate::Never)).await == Err(plain));
    fs::remove_dir_all(folder).expect("the folder of the model");
}
