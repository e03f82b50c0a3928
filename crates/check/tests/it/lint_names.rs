//! Layouts as exporters write them: names, dtypes and shapes, from models of exporters that need
//! torch, or that cannot be installed. `ci/lint` has those of the others.

use std::fs;

use crate::folder::folder;
use crate::lint::{Tensor, lint, safetensors};

/// Tensors, one in a line: name, dtype, shape (`-` of a scalar), and the number that all elements
/// have, or all bytes after an `x`.
pub(crate) fn tensors(lines: &'static str) -> Vec<Tensor> {
    let tensor = |line: &'static str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [name, dtype, shape, number] = words[..] else { panic!("{line}") };
        let extents = shape.split(',').filter(|extent| *extent != "-");
        let shape: Vec<usize> = extents.map(|extent| extent.parse().expect(line)).collect();
        let value = || number.parse::<f32>().expect(line);
        let element = match (number.strip_prefix('x'), dtype) {
            (Some(byte), "I32") => vec![u8::from_str_radix(byte, 16).expect(line); 4],
            (Some(byte), _) => vec![u8::from_str_radix(byte, 16).expect(line)],
            (None, "F32") => value().to_le_bytes().into(),
            (None, "BF16") => value().to_le_bytes()[2..].into(),
            (None, "I64") => (value() as u64).to_le_bytes().into(),
            (None, _) => panic!("{line}"),
        };
        Tensor(name.to_owned(), dtype, shape.clone(), element.repeat(shape.iter().product()))
    };
    lines.lines().map(tensor).collect()
}

/// The configuration of the quantisation, if any, the tensors, and the scales that are to become
/// NaN.
type Layout = (&'static str, &'static str, &'static str);

const LAYOUTS: [Layout; 24] = [
    // compressed-tensors: fp8 by tensor, by channel and by block.
    (
        r#""quant_method": "compressed-tensors""#,
        "a.weight F8_E4M3 4,32 x38
         a.weight_scale BF16 1 0.5
         a.input_scale BF16 1 0.5",
        "a.weight_scale a.input_scale",
    ),
    (
        r#""quant_method": "compressed-tensors""#,
        "a.weight F8_E4M3 4,32 x38
         a.weight_scale BF16 4,1 0.5",
        "a.weight_scale",
    ),
    (
        r#""quant_method": "compressed-tensors", "config_groups": {"group_0": {
            "targets": ["Linear"], "weights": {"num_bits": 8, "block_structure": [128, 128]}}}"#,
        "a.weight F8_E4M3 130,256 x38
         a.weight_scale BF16 2,2 0.5",
        "a.weight_scale",
    ),
    // With one scale of the KV cache, and one for each head.
    (
        r#""quant_method": "compressed-tensors", "kv_cache_scheme": {"strategy": "tensor"}"#,
        "attn.k_proj.weight F8_E4M3 4,32 x38
         attn.k_proj.weight_scale BF16 1 0.5
         attn.k_scale BF16 1 0.5
         attn.v_scale BF16 1 0.5",
        "attn.k_proj.weight_scale",
    ),
    (
        r#""quant_method": "compressed-tensors", "kv_cache_scheme": {"strategy": "attn_head"}"#,
        "attn.k_proj.weight F8_E4M3 4,32 x38
         attn.k_proj.weight_scale BF16 1 0.5
         attn.k_scale BF16 2,1,1 0.5
         attn.v_scale BF16 2,1,1 0.5",
        "attn.k_proj.weight_scale",
    ),
    // int8, and int4 with zero points.
    (
        r#""quant_method": "compressed-tensors", "format": "int-quantized""#,
        "a.weight I8 4,32 x38
         a.weight_scale BF16 4,1 0.5",
        "a.weight_scale",
    ),
    (
        r#""quant_method": "compressed-tensors", "config_groups": {"group_0": {
            "targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128,
            "symmetric": false}}}"#,
        "a.weight_packed I32 256,32 x78
         a.weight_scale BF16 256,2 0.5
         a.weight_shape I64 2 256
         a.weight_zero_point I32 32,2 x77",
        "a.weight_scale",
    ),
    // MXFP4, MXFP8.
    (
        r#""quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized""#,
        "a.weight_packed U8 4,16 x21
         a.weight_scale U8 4,1 x7F",
        "a.weight_scale",
    ),
    (
        r#""quant_method": "compressed-tensors", "format": "mxfp8-quantized""#,
        "a.weight F8_E4M3 4,32 x38
         a.weight_scale U8 4,1 x7F",
        "a.weight_scale",
    ),
    // fp8 in attention, int4 elsewhere.
    (
        r#""quant_method": "compressed-tensors", "config_groups": {
            "group_0": {"targets": ["re:.*attn.*_proj"], "weights": {"num_bits": 8}},
            "group_1": {"targets": ["re:.*mlp.*_proj"],
                "weights": {"num_bits": 4, "group_size": 32}}}"#,
        "layers.0.attn.q_proj.weight F8_E4M3 4,32 x38
         layers.0.attn.q_proj.weight_scale BF16 4,1 0.5
         layers.0.mlp.down_proj.weight_packed I32 64,8 x78
         layers.0.mlp.down_proj.weight_scale BF16 64,2 0.5
         layers.0.mlp.down_proj.weight_shape I64 2 64",
        "layers.0.attn.q_proj.weight_scale layers.0.mlp.down_proj.weight_scale",
    ),
    // ModelOpt: fp8 by tensor, with scales of the KV cache, by channel, and by block.
    (
        r#""quant_method": "modelopt", "quant_algo": "FP8""#,
        "attn.k_proj.weight F8_E4M3 4,32 x38
         attn.k_proj.weight_scale F32 - 0.5
         attn.k_proj.input_scale F32 - 0.5
         attn.k_proj.k_scale F32 - 0.5
         attn.v_proj.v_scale F32 - 0.5",
        "attn.k_proj.weight_scale attn.k_proj.input_scale",
    ),
    (
        r#""quant_method": "modelopt", "quant_algo": "FP8_PER_CHANNEL_PER_TOKEN""#,
        "a.weight F8_E4M3 4,32 x38
         a.weight_scale F32 4 0.5",
        "a.weight_scale",
    ),
    (
        r#""quant_method": "modelopt", "quant_algo": "fp8_pb_wo""#,
        "a.weight F8_E4M3 256,384 x38
         a.weight_scale F32 2,1,3,1 0.5",
        "a.weight_scale",
    ),
    // MXFP4, MXFP8, NVFP4.
    (
        r#""quant_method": "modelopt", "quant_algo": "mxfp4""#,
        "a.weight U8 4,16 x21
         a.weight_scale U8 4,1 x7F",
        "a.weight_scale",
    ),
    (
        r#""quant_method": "modelopt", "quant_algo": "MXFP8", "group_size": 32"#,
        "a.weight F8_E4M3 4,32 x38
         a.weight_scale U8 4,1 x7F",
        "a.weight_scale",
    ),
    (
        r#""quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16,
            "ignore": ["lm_head"]"#,
        "layers.0.mlp.experts.0.w1.weight U8 4,16 x21
         layers.0.mlp.experts.0.w1.weight_scale F8_E4M3 4,2 x38
         layers.0.mlp.experts.0.w1.weight_scale_2 F32 - 0.003
         layers.0.mlp.experts.0.w1.input_scale F32 - 0.0014
         lm_head.weight BF16 4,32 0.5",
        "layers.0.mlp.experts.0.w1.weight_scale layers.0.mlp.experts.0.w1.weight_scale_2",
    ),
    // NVFP4 of the experts of Llama 4, which are transposed.
    (
        r#""quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16"#,
        "experts.down_proj U8 2,32,48 x21
         experts.down_proj_weight_scale F8_E4M3 2,4,48 x38
         experts.down_proj_weight_scale_2 F32 - 0.003
         experts.down_proj_input_scale F32 - 0.0014",
        "experts.down_proj_weight_scale experts.down_proj_input_scale",
    ),
    // NVFP4 in some layers, fp8 in others.
    (
        r#""quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
            "layers.0.q": {"quant_algo": "NVFP4"}, "layers.1.q": {"quant_algo": "FP8"}}"#,
        "layers.0.q.weight U8 4,16 x21
         layers.0.q.weight_scale F8_E4M3 4,2 x38
         layers.0.q.weight_scale_2 F32 - 0.003
         layers.1.q.weight F8_E4M3 4,32 x38
         layers.1.q.weight_scale F32 - 0.5",
        "layers.0.q.weight_scale layers.1.q.weight_scale",
    ),
    // Blocks of fp8 whose scales are powers of two, also by DeepSeek's other name, and experts in
    // one tensor.
    (
        r#""quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0""#,
        "a.weight F8_E4M3 256,320 x38
         a.weight_scale_inv F8_E8M0 2,3 x7F
         b.weight F8_E4M3 256,320 x38
         b.scale F8_E8M0 2,3 x7F",
        "a.weight_scale_inv b.scale",
    ),
    (
        r#""quant_method": "fp8", "weight_block_size": [128, 128]"#,
        "mlp.experts.down_proj F8_E4M3 2,256,128 x38
         mlp.experts.down_proj_scale_inv F32 2,2,1 0.5",
        "mlp.experts.down_proj_scale_inv",
    ),
    // gpt-oss with its original names.
    (
        "",
        "block.0.mlp.mlp1_weight.blocks U8 2,4,1,16 x12
         block.0.mlp.mlp1_weight.scales U8 2,4,1 x7F",
        "block.0.mlp.mlp1_weight.scales",
    ),
    // ComfyUI: old names, and new ones.
    (
        "",
        "scaled_fp8 F8_E4M3 2 x00
         double_blocks.0.q.weight F8_E4M3 4,32 x38
         double_blocks.0.q.scale_weight F32 - 0.5
         double_blocks.0.q.scale_input F32 - 0.5",
        "double_blocks.0.q.scale_weight double_blocks.0.q.scale_input",
    ),
    (
        "",
        "a.weight F8_E4M3 4,32 x38
         a.weight_scale F32 - 0.5
         a.comfy_quant U8 30 x20",
        "a.weight_scale",
    ),
    // bitsandbytes: int8.
    (
        r#""quant_method": "bitsandbytes", "load_in_8bit": true"#,
        "a.weight I8 4,32 x38
         a.SCB F32 4 0.5
         a.weight_format U8 - x00",
        "a.SCB",
    ),
];

/// Nothing is found in a model of each layout, and a NaN in each of its scales is.
#[test]
fn layouts() {
    let found = |config: &str, tensors: &[Tensor]| {
        let folder = folder("lint-names");
        fs::write(folder.join("x.safetensors"), safetensors(tensors)).expect("a folder");
        if !config.is_empty() {
            let config = format!(r#"{{"quantization_config": {{{config}}}}}"#);
            fs::write(folder.join("config.json"), config).expect("a folder");
        }
        lint(&folder, &["x.safetensors"])
    };
    for (config, lines, scales) in LAYOUTS {
        let sound = tensors(lines);
        assert_eq!(found(config, &sound), [], "{config} {lines}");
        for scale in scales.split_whitespace() {
            let mut bad = sound.clone();
            let tensor = bad.iter_mut().find(|tensor| tensor.0 == scale).expect(scale);
            let size = tensor.3.len() / tensor.2.iter().product::<usize>();
            tensor.3[..size].fill(0xFF);
            let found = found(config, &bad);
            let [finding] = &found[..] else { panic!("{config} {scale}: {found:#?}") };
            assert_eq!(
                (finding.rule.id, finding.tensor.as_deref()),
                ("scale-nonfinite", Some(scale)),
                "{config}"
            );
        }
    }
}
