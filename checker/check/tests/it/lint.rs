//! Lint of small models of each layout: what is wrong is found at its place, and the mended twin
//! has no finding. `checker/oracles/lint` tests models that exporters wrote.

use std::fs;

use crate::folder::folder;
use crate::lint_model::{
    FP8, GPTQ, MATRIX_OF_AWQ, MATRIX_OF_BITSANDBYTES, MATRIX_OF_FP8, MATRIX_OF_GPTQ, MATRIX_OF_MLX,
    MATRIX_OF_MXFP4, MXFP4, NVFP4, assert_lint, change, experts, file, lint, lint_files, model,
    nvfp4, quantised, tensors,
};

/// The report of a model in pieces has the same places: of one bad number, of many, of all.
#[test]
fn places_in_pieces() {
    let mut model = tensors(
        "one F32 1200000 1
        many F32 1200,1000 1
        all F32 300,200 NaN
        none F32 9 1",
    );
    change(&mut model, "one 1199998 NaN\nmany 7..9 inf\nmany 600000 inf\nmany 1199999 inf");
    assert!(!lint_files(&vec![("x.safetensors", file(&model))]).is_empty());
}

const BITSANDBYTES: &str = r#"{"quantization_config": {"quant_method": "bitsandbytes"}}"#;
const MODELOPT: &str = r#"{"quantization_config": {"quant_method": "modelopt"}}"#;
const F16: &str = r#"{"torch_dtype": "float16"}"#;

/// NVFP4 by ModelOpt.
const MATRIX_OF_MODELOPT: &str = "a.weight U8 4,16 x21
    a.weight_scale F8_E4M3 4,2 x38
    a.weight_scale_2 F32 - 0.003
    a.input_scale F32 - 0.0014";

/// Blocks of fp8.
const BLOCKS: &str = "a.weight F8_E4M3 256,130 x38\na.weight_scale_inv F32 2,2 0.5";

/// One row for each rule, severity and kind of part: what is done to a sound model, and all
/// findings.
#[test]
fn faults_and_their_mended_twins() {
    let nvfp4 = nvfp4("a") + "\na.input_global_scale F32 1 672";
    let fused = ["gate_proj", "up_proj", "q_proj", "k_proj", "v_proj"];
    let fused = fused.map(|name| MATRIX_OF_MODELOPT.replace("a.", &format!("{name}."))).join("\n");
    let ue8m0 = FP8.replace("}}", r#", "scale_fmt": "ue8m0"}}"#);
    let v2 = GPTQ.replace(r#""sym""#, r#""checkpoint_format": "gptq_v2", "sym""#);
    let computes = |dtype: &str| MXFP4.replacen('{', &format!(r#"{{"dtype": "{dtype}", "#), 1);
    let nested = "a.weight.nested_quant_map F32 256 0.5\na.weight.nested_absmax F32 1 0.5";
    let layers = |part: &str| [0, 1, 2].map(|layer| format!("layers.{layer}.{part}")).join("\n");
    // The configuration, the sound model, and in each line a fault and what is found. Between two
    // changes or findings is `; `.
    type Faults<'a> = (&'a str, &'a str, &'a str);
    let all: [Faults<'_>; 25] = [
        (
            NVFP4,
            &nvfp4,
            "a.weight_scale 5 x7F => error[scale-nonfinite] a.weight_scale [2, 1]
             a.weight_scale 5 x00 => error[scale-zero] a.weight_scale [2, 1]
             a.weight_scale 5 xB8 => error[scale-negative] a.weight_scale [2, 1]
             - a.weight_global_scale => error[sibling-missing] a.weight_packed
             a.weight_packed * x00 => error[codes-all-zero] a.weight_packed
             a.input_global_scale 0 inf => error[scale-nonfinite] a.input_global_scale [0]
             a.input_global_scale 0 1e-39 => error[inverse-overflow] a.input_global_scale [0]
             # compressed-tensors divides by the global scale, and ModelOpt multiplies.
             a.weight_global_scale 0 3e-5 => warning[global-direction] a.weight_global_scale [0]
             # Blocks of NVFP4 have 16 weights, though no configuration says so.
             + a.weight_scale F8_E4M3 4,1 x38 => error[scale-shape] a.weight_scale",
        ),
        (
            NVFP4,
            &experts(),
            "- layers.0.experts.1.w1.input_global_scale => \
                 error[expert-sibling-missing] layers.0.experts.0.w1.input_global_scale",
        ),
        (
            MODELOPT,
            MATRIX_OF_MODELOPT,
            "a.input_scale 0 0 => error[scale-zero] a.input_scale []
             a.input_scale 0 5e-39 => warning[inverse-overflow] a.input_scale []
             a.weight_scale_2 0 32000 => warning[global-direction] a.weight_scale_2 []
             - a.weight_scale_2 => error[sibling-missing] a.weight
             + a.weight_quantizer._scale F32 - 3e-5 => \
                 warning[orphan-scale] a.weight_quantizer._scale",
        ),
        (
            MODELOPT,
            &fused,
            "gate_proj.weight_scale_2 0 0.03 => \
                 error[fused-global-mismatch] gate_proj.weight_scale_2
             gate_proj.weight_scale_2 0 0.004 => \
                 warning[fused-global-mismatch] gate_proj.weight_scale_2
             q_proj.weight_scale_2 0 0.03 => \
                 warning[fused-global-mismatch] q_proj.weight_scale_2; \
                 warning[fused-global-mismatch] q_proj.weight_scale_2",
        ),
        (
            FP8,
            MATRIX_OF_FP8,
            "a.weight_scale 0 -0.5 => error[scale-negative] a.weight_scale []
             - a.weight => warning[orphan-scale] a.weight_scale",
        ),
        // Without a configuration the weights may be meant so.
        ("", MATRIX_OF_FP8, "- a.weight_scale => warning[sibling-missing] a.weight"),
        (FP8, BLOCKS, "+ a.weight_scale_inv F32 3,2 0.5 => error[scale-shape] a.weight_scale_inv"),
        (
            &ue8m0,
            BLOCKS,
            "a.weight_scale_inv 3 3.1e-4 => warning[ue8m0-mantissa] a.weight_scale_inv [1, 1]",
        ),
        // Blocks of MXFP8 have 32 weights.
        (
            FP8,
            "a.weight F8_E4M3 4,64 x38\na.weight_scale F8_E8M0 4,2 x7F",
            "+ a.weight_scale F8_E8M0 4,4 x7F => error[scale-shape] a.weight_scale",
        ),
        (
            MXFP4,
            MATRIX_OF_MXFP4,
            "w_scales 6 xFF => error[scale-nonfinite] w_scales [1, 2, 0]
             w_scales * x09 => warning[e8m0-implausible] w_scales",
        ),
        (
            &computes("float16"),
            MATRIX_OF_MXFP4,
            "w_scales 5 x90 => error[dequant-overflow] w_scales [1, 1, 0]",
        ),
        (
            &computes("bfloat16"),
            MATRIX_OF_MXFP4,
            "w_blocks * x77; w_scales 5 xFE => warning[dequant-overflow] w_scales [1, 1, 0]",
        ),
        (
            GPTQ,
            MATRIX_OF_GPTQ,
            "a.g_idx 9 xFF => error[g-idx] a.g_idx [9]
             a.g_idx 7 2 => error[g-idx] a.g_idx [7]
             a.qzeros * x88 => warning[gptq-zero-format] a.qzeros",
        ),
        (
            &v2,
            &MATRIX_OF_GPTQ.replace("x77", "x88"),
            "a.qzeros * x77 => warning[gptq-zero-format] a.qzeros",
        ),
        (
            &quantised(r#""quant_method": "awq""#),
            MATRIX_OF_AWQ,
            "a.scales 3 x00 => error[scale-zero] a.scales [0, 3]",
        ),
        (
            r#"{"quantization": {"bits": 4, "group_size": 64}}"#,
            MATRIX_OF_MLX,
            "+ a.biases F16 4,2 x22 => error[scale-shape] a.biases",
        ),
        (
            BITSANDBYTES,
            MATRIX_OF_BITSANDBYTES,
            "a.weight.absmax 0 NaN => error[scale-nonfinite] a.weight.absmax [0]
             a.weight.quant_map * 0 => error[scale-zero] a.weight.quant_map
             + a.weight.quant_map F32 8 0.5 => error[scale-shape] a.weight.quant_map
             + a.weight.quant_map F32 0 0 => error[sibling-missing] a.weight
             a.weight.quant_state.bitsandbytes__nf4 0 x00 => \
                 error[config-unreadable] a.weight.quant_state.bitsandbytes__nf4
             + a.weight.quant_state.bitsandbytes__nf4 U8 text \
                 {\"shape\": [8, 8], \"blocksize\": 32} => \
                 error[scale-shape] a.weight.quant_state.bitsandbytes__nf4",
        ),
        (
            BITSANDBYTES,
            &format!("{MATRIX_OF_BITSANDBYTES}\n{nested}"),
            "a.weight.nested_absmax * 0 => error[scale-zero] a.weight.nested_absmax",
        ),
        (
            "{}",
            "k_proj.k_scale F32 - 0.5\nv_proj.v_scale F32 - 0.5",
            "k_proj.k_scale 0 NaN => error[kv-scale] k_proj.k_scale []
             k_proj.k_scale 0 0 => error[kv-scale] k_proj.k_scale []
             - v_proj.v_scale => warning[kv-scale] k_proj.k_scale",
        ),
        (
            "{}",
            &layers("w F32 2,2 1"),
            "layers.0.w 1 NaN => error[nonfinite] layers.0.w [0, 1]
             layers.1.w * 0 => error[all-zero] layers.1.w",
        ),
        (F16, "w F32 2,2 1", "w 1 7e4 => error[magnitude] w [0, 1]"),
        (
            "{}",
            &layers("down_proj.weight F32 2,2 1"),
            "layers.1.down_proj.weight 2 3e31 => \
                 error[magnitude] layers.1.down_proj.weight [1, 0]",
        ),
        (
            "{}",
            &layers("norm.weight F32 4 1"),
            "layers.1.norm.weight * 0 => warning[norm-zero] layers.1.norm.weight",
        ),
        (
            "{}",
            &[layers("lora_A.weight F32 2,2 1"), layers("lora_B.weight F32 2,2 1")].join("\n"),
            "+ layers.1.lora_A.weight F32 0 0 => error[empty-tensor] layers.1.lora_A.weight",
        ),
        (
            "{}",
            "embed_tokens.weight F32 3,2 1",
            "embed_tokens.weight 2..4 0 => note[dead-rows] embed_tokens.weight [1, 0]",
        ),
    ];
    for (config, sound, faults) in all {
        let sound = tensors(sound);
        assert_lint(&model(config, &sound), "");
        for fault in faults.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            let (damage, expected) = fault.split_once(" => ").expect(fault);
            let mut damaged = sound.clone();
            change(&mut damaged, &damage.replace("; ", "\n"));
            assert_lint(&model(config, &damaged), &expected.replace("; ", "\n"));
        }
    }
}

/// A tenth of 200 blocks has the largest scale, which blocks of zeros may have.
#[test]
fn saturation() {
    let mut blocks = tensors(
        "a.weight_packed U8 100,16 x21
        a.weight_scale F8_E4M3 100,2 x38
        a.weight_global_scale F32 1 300",
    );
    let found = "warning[saturation] a.weight_scale";
    for (damage, expected) in [
        ("", ""),
        ("a.weight_scale 0..20 x7E", found),
        ("a.weight_packed 0..160 x00", ""),
        ("a.weight_packed 0..160 x21", found),
    ] {
        change(&mut blocks, damage);
        assert_lint(&model(NVFP4, &blocks), expected);
    }
}

/// Codes in one shard and scales in the other belong together. A shard alone lacks siblings, and
/// that is no finding; the same tensors as a whole model are.
#[test]
fn shards() {
    let folder = folder("lint-shards");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).expect("the build folder can be written to");
    };
    let tensors = tensors(&nvfp4("a"));
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    write(names[0], &file(&tensors[..1]));
    write(names[1], &file(&tensors[1..]));
    write("config.json", NVFP4.as_bytes());
    let files = tensors.iter().zip([names[0], names[1], names[1]]);
    let map: Vec<_> =
        files.map(|(tensor, file)| format!(r#""{}":"{file}""#, tensor.name)).collect();
    let index = format!(r#"{{"metadata":{{}},"weight_map":{{{}}}}}"#, map.join(","));
    write("model.safetensors.index.json", index.as_bytes());
    for files in [&names[..], &["model.safetensors.index.json"], &names[..1], &names[1..]] {
        assert_eq!(lint(&folder, files), [], "{files:?}");
    }
    assert_lint(&model(NVFP4, &tensors[..1]), "error[sibling-missing] a.weight_packed");
    let orphans =
        "warning[orphan-scale] a.weight_global_scale\nwarning[orphan-scale] a.weight_scale";
    assert_lint(&model(NVFP4, &tensors[1..]), orphans);
}

/// A missing scale has the name of those that are there.
#[test]
fn missing_scales_are_named() {
    for (config, ending) in [(FP8, "weight_scale_inv"), (FP8, "scale"), (NVFP4, "weight_scale")] {
        let two = "a.weight F8_E4M3 4,32 x38\nb.weight F8_E4M3 4,32 x38";
        let tensors = tensors(&format!("{two}\na.{ending} F32 1,1 x3A"));
        let expected = format!("error[sibling-missing] b.weight: there is no b.{ending}$");
        assert_lint(&model(config, &tensors), &expected);
    }
}

/// The names of the configuration decide, in any of its files. A broken file is an error.
#[test]
fn configurations() {
    let module = "model.layers.0.mlp.up_proj";
    let ignoring =
        |name: &str| quantised(&format!(r#""quant_method": "modelopt", "ignore": ["{name}"]"#));
    let disagrees = format!("warning[config-disagrees] {module}.weight_packed");
    for (config, expected) in [
        (&*ignoring("lm_head"), ""),
        (&*ignoring("model.layers.0*"), &disagrees),
        // The configuration says nothing of it.
        ("{}", &disagrees),
        ("{", "error[config-unreadable] -"),
    ] {
        assert_lint(&model(config, &tensors(&nvfp4(module))), expected);
    }
}

/// A few neighbours that are far too large, and a column that is, which models have.
#[test]
fn runs_of_outliers() {
    let mut run = tensors("decoder.layers.1.flat_param_0 F32 90000 0.02");
    assert_lint(&model("{}", &run), "");
    change(&mut run, "decoder.layers.1.flat_param_0 60000..60018 5e4");
    let found = "warning[outlier-run] decoder.layers.1.flat_param_0 [60000]";
    assert_lint(&model("{}", &run), found);
    let mut column = tensors("down_proj.weight F32 300,300 0.02");
    let seventh = (0..300).map(|row| format!("down_proj.weight {} 50", 300 * row + 7));
    change(&mut column, &seventh.collect::<Vec<_>>().join("\n"));
    assert_lint(&model("{}", &column), "");
}
