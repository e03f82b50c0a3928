//! Layouts as exporters write them: names, dtypes and shapes, from models of exporters that need
//! torch, or that cannot be installed. `checker/oracles/lint` has those of the others.

use crate::lint_model::{Tensor, assert_lint, change, model, quantised, tensors};

/// Layouts. A line with `=` begins one and has what the configuration says of the quantisation, if
/// there is one; indented lines go on with it. Tensors follow. Those with `!` at the end are scales
/// that are to become NaN. Comments begin with `#`.
const LAYOUTS: &str = r##"
# compressed-tensors: fp8 by tensor, by channel and by block.
= "quant_method": "compressed-tensors"
a.weight F8_E4M3 4,32 x38
a.weight_scale BF16 1 0.5 !
a.input_scale BF16 1 0.5 !
= "quant_method": "compressed-tensors"
a.weight F8_E4M3 4,32 x38
a.weight_scale BF16 4,1 0.5 !
= "quant_method": "compressed-tensors", "config_groups": {"group_0": {
  "targets": ["Linear"], "weights": {"num_bits": 8, "block_structure": [128, 128]}}}
a.weight F8_E4M3 130,256 x38
a.weight_scale BF16 2,2 0.5 !
# With one scale of the KV cache, and one for each head.
= "quant_method": "compressed-tensors", "kv_cache_scheme": {"strategy": "tensor"}
attn.k_proj.weight F8_E4M3 4,32 x38
attn.k_proj.weight_scale BF16 1 0.5 !
attn.k_scale BF16 1 0.5
attn.v_scale BF16 1 0.5
= "quant_method": "compressed-tensors", "kv_cache_scheme": {"strategy": "attn_head"}
attn.k_proj.weight F8_E4M3 4,32 x38
attn.k_proj.weight_scale BF16 1 0.5 !
attn.k_scale BF16 2,1,1 0.5
attn.v_scale BF16 2,1,1 0.5
# int8, and int4 with zero points.
= "quant_method": "compressed-tensors", "format": "int-quantized"
a.weight I8 4,32 x38
a.weight_scale BF16 4,1 0.5 !
= "quant_method": "compressed-tensors", "config_groups": {"group_0": {
  "targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128,
  "symmetric": false}}}
a.weight_packed I32 256,32 x78
a.weight_scale BF16 256,2 0.5 !
a.weight_shape I64 2 256
a.weight_zero_point I32 32,2 x77
# MXFP4, MXFP8.
= "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"
a.weight_packed U8 4,16 x21
a.weight_scale U8 4,1 x7F !
= "quant_method": "compressed-tensors", "format": "mxfp8-quantized"
a.weight F8_E4M3 4,32 x38
a.weight_scale U8 4,1 x7F !
# fp8 in attention, int4 elsewhere.
= "quant_method": "compressed-tensors", "config_groups": {
  "group_0": {"targets": ["re:.*attn.*_proj"], "weights": {"num_bits": 8}},
  "group_1": {"targets": ["re:.*mlp.*_proj"],
      "weights": {"num_bits": 4, "group_size": 32}}}
layers.0.attn.q_proj.weight F8_E4M3 4,32 x38
layers.0.attn.q_proj.weight_scale BF16 4,1 0.5 !
layers.0.mlp.down_proj.weight_packed I32 64,8 x78
layers.0.mlp.down_proj.weight_scale BF16 64,2 0.5 !
layers.0.mlp.down_proj.weight_shape I64 2 64
# ModelOpt: fp8 by tensor, with scales of the KV cache, by channel, and by block.
= "quant_method": "modelopt", "quant_algo": "FP8"
attn.k_proj.weight F8_E4M3 4,32 x38
attn.k_proj.weight_scale F32 - 0.5 !
attn.k_proj.input_scale F32 - 0.5 !
attn.k_proj.k_scale F32 - 0.5
attn.v_proj.v_scale F32 - 0.5
= "quant_method": "modelopt", "quant_algo": "FP8_PER_CHANNEL_PER_TOKEN"
a.weight F8_E4M3 4,32 x38
a.weight_scale F32 4 0.5 !
= "quant_method": "modelopt", "quant_algo": "fp8_pb_wo"
a.weight F8_E4M3 256,384 x38
a.weight_scale F32 2,1,3,1 0.5 !
# MXFP4, MXFP8, NVFP4.
= "quant_method": "modelopt", "quant_algo": "mxfp4"
a.weight U8 4,16 x21
a.weight_scale U8 4,1 x7F !
= "quant_method": "modelopt", "quant_algo": "MXFP8", "group_size": 32
a.weight F8_E4M3 4,32 x38
a.weight_scale U8 4,1 x7F !
= "quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16,
  "ignore": ["lm_head"]
layers.0.mlp.experts.0.w1.weight U8 4,16 x21
layers.0.mlp.experts.0.w1.weight_scale F8_E4M3 4,2 x38 !
layers.0.mlp.experts.0.w1.weight_scale_2 F32 - 0.003 !
layers.0.mlp.experts.0.w1.input_scale F32 - 0.0014
lm_head.weight BF16 4,32 0.5
# NVFP4 of the experts of Llama 4, which are transposed.
= "quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16
experts.down_proj U8 2,32,48 x21
experts.down_proj_weight_scale F8_E4M3 2,4,48 x38 !
experts.down_proj_weight_scale_2 F32 - 0.003
experts.down_proj_input_scale F32 - 0.0014 !
# NVFP4 in some layers, fp8 in others.
= "quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
  "layers.0.q": {"quant_algo": "NVFP4"}, "layers.1.q": {"quant_algo": "FP8"}}
layers.0.q.weight U8 4,16 x21
layers.0.q.weight_scale F8_E4M3 4,2 x38 !
layers.0.q.weight_scale_2 F32 - 0.003
layers.1.q.weight F8_E4M3 4,32 x38
layers.1.q.weight_scale F32 - 0.5 !
# Blocks of fp8 whose scales are powers of two, also by DeepSeek's other name, and experts in
# one tensor.
= "quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"
a.weight F8_E4M3 256,320 x38
a.weight_scale_inv F8_E8M0 2,3 x7F !
b.weight F8_E4M3 256,320 x38
b.scale F8_E8M0 2,3 x7F !
= "quant_method": "fp8", "weight_block_size": [128, 128]
mlp.experts.down_proj F8_E4M3 2,256,128 x38
mlp.experts.down_proj_scale_inv F32 2,2,1 0.5 !
# gpt-oss with its original names.
=
block.0.mlp.mlp1_weight.blocks U8 2,4,1,16 x12
block.0.mlp.mlp1_weight.scales U8 2,4,1 x7F !
# ComfyUI: old names, and new ones.
=
scaled_fp8 F8_E4M3 2 x00
double_blocks.0.q.weight F8_E4M3 4,32 x38
double_blocks.0.q.scale_weight F32 - 0.5 !
double_blocks.0.q.scale_input F32 - 0.5 !
=
a.weight F8_E4M3 4,32 x38
a.weight_scale F32 - 0.5 !
a.comfy_quant U8 30 x20
# bitsandbytes: int8.
= "quant_method": "bitsandbytes", "load_in_8bit": true
a.weight I8 4,32 x38
a.SCB F32 4 0.5 !
a.weight_format U8 - x00"##;

/// Nothing is found in a model of each layout, and a NaN in each of its scales is.
#[test]
fn layouts() {
    for layout in LAYOUTS.split('=').skip(1) {
        let lines = layout.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (config, lines): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with(' '));
        let config = if config.is_empty() { String::new() } else { quantised(&config.concat()) };
        let sound = tensors(&lines.join("\n").replace(" !", ""));
        assert_lint(&model(&config, &sound), "");
        let scales = lines.iter().enumerate().filter(|(_, line)| line.ends_with(" !"));
        for Tensor { name, shape, .. } in scales.map(|(index, _)| &sound[index]) {
            let mut bad = sound.clone();
            change(&mut bad, &format!("{name} 0 xFF"));
            let found = format!("error[scale-nonfinite] {name} {:?}", vec![0; shape.len()]);
            assert_lint(&model(&config, &bad), &found);
        }
    }
}
