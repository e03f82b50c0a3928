"""Faults of scales and of the other parts of quantised layers."""

import ml_dtypes
import numpy as np

import by_hand as hand
import quantisers as q
from by_hand_layouts import LAYOUTS
from cases import Case, bits

E, W, NOTE = "error", "warning", "note"
AT = "model.layers.0."
Q, GATE, UP = AT + "self_attn.q_proj.", AT + "mlp.gate_proj.", AT + "mlp.up_proj."
EXPERTS = AT + "block_sparse_moe.experts."


def one_layer(rows, columns, zero=None):
    """A model of one NVFP4 matrix, as large as a report says."""

    def layout(folder):
        w = np.random.default_rng(6).normal(0, 0.02, (rows, columns)).astype(np.float32)
        if zero:
            row, block = zero
            w[row, block * 16 : block * 16 + 16] = 0
        parts = q.modelopt_nvfp4(w)
        tensors = {GATE + part: array for part, array in parts.items()}
        tensors |= {UP + part: array for part, array in parts.items()}
        hand.write(folder, tensors, hand.modelopt_config("NVFP4", group=16), shards=1)

    return layout


def put(name, value, at=...):
    """Sets elements of a tensor."""

    def damage(tensors, config):
        tensors[name] = tensors[name].copy()
        tensors[name][at] = value

    return damage


def put_bits(name, value, at):
    def damage(tensors, config):
        bits(tensors[name])[at] = value

    return damage


def drop(*names):
    def damage(tensors, config):
        for name in names:
            del tensors[name]

    return damage


def rename(old, new):
    def damage(tensors, config):
        tensors[new] = tensors.pop(old)

    return damage


def quantization(**changes):
    def damage(tensors, config):
        config["quantization_config"] |= changes

    return damage


def nan_and_minus_nan(tensors, config):
    raw = bits(tensors[Q + "weight_scale"])
    raw[3, 5], raw[100, 2] = 0x7F, 0xFF


def infinite_inputs(tensors, config):
    names = [name for name in tensors if name.endswith("input_global_scale")]
    for name in names[3:17]:
        tensors[name][:] = np.inf


def nan_and_infinity(tensors, config):
    tensors[GATE + "weight_scale"][7, 1] = np.nan
    tensors[GATE + "weight_scale"][9, 0] = np.inf


def global_scales(gate, up, suffix="weight_scale_2"):
    def damage(tensors, config):
        tensors[GATE + suffix] = np.full_like(tensors[GATE + suffix], gate)
        tensors[UP + suffix] = np.full_like(tensors[UP + suffix], up)

    return damage


def half_scales(tensors, config):
    tensors[GATE + "weight_scale"] = np.ascontiguousarray(tensors[GATE + "weight_scale"][:, ::2])


def no_group(tensors, config):
    del config["quantization_config"]["config_groups"]


def unquantised(name):
    def damage(tensors, config):
        shape = tensors[name + "weight"].shape
        for part in ("weight", "weight_scale", "weight_scale_2", "input_scale"):
            del tensors[name + part]
        random = np.random.default_rng(8)
        x = random.normal(0, 0.02, (shape[0], 2 * shape[1]))
        tensors[name + "weight"] = x.astype(ml_dtypes.bfloat16)

    return damage


def cast_exponents(tensors, config):
    """What a cast from E8M0 to an integer leaves: sglang#26701's 120,125,127,130,140."""
    scale = tensors[GATE + "weight_scale"]
    scale.reshape(-1)[:] = np.resize(np.uint8([0, 0, 1, 8, 0]), scale.size)


def kv(value, layers=(0, 1), names=("k_proj.k_scale", "v_proj.v_scale")):
    def damage(tensors, config):
        for layer in layers:
            for name in names:
                name = f"model.layers.{layer}.self_attn.{name}"
                tensors[name] = np.array(np.float32(value))

    return damage


def zero_block(tensors, config):
    """A scale of zero over codes of zero: harmless, but no exporter writes it."""
    tensors[GATE + "weight_scale"][5, 3] = 0
    tensors[GATE + "weight"][5, 24:32] = 0


def to_f16(tensors, config):
    config["torch_dtype"] = "float16"


def saturated(tensors, config):
    bits(tensors[GATE + "weight_scale"])[:, ::8] = 0x7E


def without_scales(folder):
    hand.write(folder, hand.plain(hand.llama(**hand.SMALL)), None, shards=1)


def cast_to_fp8(tensors, config):
    for name in list(tensors):
        if "_proj" in name:
            tensors[name] = tensors[name].astype(ml_dtypes.float8_e4m3fn)


def index_of(name):
    """The index names a tensor that no file has."""

    def damage(folder):
        from cases import Model

        model = Model(folder)
        del model.tensors[name]
        model.save(index=False)

    return damage


def gate_of(experts, part):
    return [f"{EXPERTS}{expert}.w1.{part}" for expert in experts]


def case(name, rule, severity, tensor, layout, damage, *arguments, **named):
    if isinstance(layout, str):
        layout = LAYOUTS[layout]
    return Case(name, rule, severity, tensor, layout, damage, *arguments, **named)


CASES = [
    case("nvfp4-nan-kimi", "scale-nonfinite", E, GATE + "weight_scale",
         one_layer(4002, 304, (4001, 18)), put_bits(GATE + "weight_scale", 0x7F, (4001, 18)),
         "Model-Optimizer PR#1397: Kimi-K2.6", [4001, 18],
         prepare=put_bits(GATE + "weight_scale", 0x7E, (4001, 18))),
    case("nvfp4-nan-served", "scale-nonfinite", E, Q + "weight_scale", "modelopt-nvfp4",
         nan_and_minus_nan, "Model-Optimizer#1633, vllm-omni#4025", [3, 5]),
    case("nvfp4-infinite-inputs", "scale-nonfinite", E, AT, "ct-moe-nvfp4", infinite_inputs,
         "compressed-tensors#595"),
    case("int4-nan-scale", "scale-nonfinite", E, GATE + "weight_scale", "ct-int4",
         nan_and_infinity, "compressed-tensors#832", [7, 1]),
    case("mxfp4-e8m0-nan", "scale-nonfinite", E, GATE + "weight_scale", "ct-mxfp4",
         put(GATE + "weight_scale", 0xFF, (11, 6)), "", [11, 6], also=["dequant-overflow"]),
    case("gpt-oss-e8m0-nan", "scale-nonfinite", E, AT + "mlp.experts.gate_up_proj_scales",
         "gpt-oss", put(AT + "mlp.experts.gate_up_proj_scales", 0xFF, (2, 700, 3)), "",
         [2, 700, 3], also=["dequant-overflow"]),
    case("gptq-infinite-scale", "scale-nonfinite", E, GATE + "scales", "gptq-4",
         put(GATE + "scales", np.inf, (1, 30)), "", [1, 30]),
    case("gptq-zero-scale", "scale-zero", E, GATE + "scales", "gptq-4",
         put(GATE + "scales", 0, (1, 30)), "auto-round#207", [1, 30]),
    case("awq-zero-scale", "scale-zero", E, GATE + "scales", "awq-gemm",
         put(GATE + "scales", 0, (0, 41)), "auto-round#207", [0, 41]),
    case("nvfp4-zero-scale", "scale-zero", E, GATE + "weight_scale", "modelopt-nvfp4",
         put(GATE + "weight_scale", 0, (5, 3)), "", [5, 3]),
    case("nvfp4-zero-block", "scale-zero", W, GATE + "weight_scale", "modelopt-nvfp4",
         zero_block, "", [5, 3]),
    case("nvfp4-zero-input", "scale-zero", E, GATE + "input_scale", "modelopt-nvfp4",
         put(GATE + "input_scale", 0)),
    case("fp8-negative", "scale-negative", E, GATE + "weight_scale", "ct-fp8-tensor-static",
         put(GATE + "weight_scale", -1), "the value to which vLLM sets scales before it loads"),
    case("nvfp4-negative", "scale-negative", E, GATE + "weight_scale", "modelopt-nvfp4",
         put_bits(GATE + "weight_scale", 0xC8, (9, 9)), "", [9, 9]),
    case("input-overflow", "inverse-overflow", E, GATE + "input_scale", "modelopt-nvfp4",
         put(GATE + "input_scale", 1e-39), "vllm#42601"),
    case("input-subnormal", "inverse-overflow", W, GATE + "input_scale", "modelopt-nvfp4",
         put(GATE + "input_scale", 5e-39), "vllm#42601"),
    case("global-inverted", "global-direction", W, GATE + "weight_scale_2", "modelopt-nvfp4",
         global_scales(32000, 32000), "modular#6600, colibri#83", also=["dequant-overflow"]),
    case("ct-global-inverted", "global-direction", W, GATE + "weight_global_scale", "ct-nvfp4",
         global_scales(3e-5, 3e-5, "weight_global_scale"), "modular#6600",
         also=["dequant-overflow"]),
    case("fp8-no-scale", "sibling-missing", E, GATE, "ct-fp8-channel",
         drop(GATE + "weight_scale"), "DeepSeek-V3 fp8_cast_bf16.py"),
    case("nvfp4-no-global", "sibling-missing", E, GATE, "modelopt-nvfp4",
         drop(GATE + "weight_scale_2"), "vllm#54444"),
    case("nvfp4-no-scale", "sibling-missing", E, GATE, "modelopt-nvfp4",
         drop(GATE + "weight_scale"), "imp#1450"),
    case("int4-no-scale", "sibling-missing", E, GATE, "ct-int4", drop(GATE + "weight_scale")),
    case("gptq-no-scale", "sibling-missing", E, GATE, "gptq-4", drop(GATE + "scales")),
    case("gpt-oss-no-scale", "sibling-missing", E, AT + "mlp.experts.gate_up_proj", "gpt-oss",
         drop(AT + "mlp.experts.gate_up_proj_scales")),
    case("fp8-cast-without-scales", "sibling-missing", W, AT, without_scales, cast_to_fp8),
    case("index-lists-absent", "sibling-missing", E, UP, "fp8-block-named-scale",
         index_of(UP + "scale"), "vllm#57108", of_files=True, code=2),
    case("experts-no-input-scale", "expert-sibling-missing", E, EXPERTS, "modelopt-moe-nvfp4",
         drop(*gate_of((1, 3), "input_scale")), "vllm#45212"),
    case("half-of-scales", "scale-shape", E, GATE + "weight_scale", one_layer(2048, 2048),
         half_scales, "Model-Optimizer#2038"),
    case("half-of-scales-no-group", "scale-shape", E, GATE + "weight_scale",
         one_layer(2048, 2048), half_scales, "Model-Optimizer#2038", prepare=no_group),
    case("scale-of-other-matrix", "scale-shape", E, GATE + "weight_scale", "ct-fp8-channel",
         lambda tensors, config: tensors.update(
             {GATE + "weight_scale": tensors[Q + "weight_scale"]})),
    case("double-scale", "orphan-scale", W, GATE, "modelopt-nvfp4",
         lambda tensors, config: tensors.update(
             {GATE + "weight_quantizer._double_scale": np.array(np.float32(3e-5))}),
         "Model-Optimizer#2038"),
    case("scale-without-weight", "orphan-scale", W, GATE, "ct-fp8-channel",
         drop(GATE + "weight"), also=["expert-sibling-missing"]),
    case("gate-up-mismatch", "fused-global-mismatch", E, AT + "mlp.", "modelopt-nvfp4",
         global_scales(2.77e-5, 2.30e-4), "Model-Optimizer 570920be: the output was `1 1 1`"),
    case("gate-up-near", "fused-global-mismatch", W, AT + "mlp.", "modelopt-nvfp4",
         global_scales(2.77e-5, 3.30e-5)),
    case("q-k-v-mismatch", "fused-global-mismatch", W, AT + "self_attn.", "modelopt-nvfp4",
         put(Q + "weight_scale_2", 4e-5)),
    case("layer-not-excluded", "config-disagrees", W, GATE, "modelopt-nvfp4", unquantised(GATE),
         "vllm#52501", also=["fused-global-mismatch"]),
    case("quantised-yet-ignored", "config-disagrees", W, GATE, "ct-fp8-channel",
         quantization(ignore=["lm_head", GATE.rstrip(".")])),
    case("e8m0-cast", "e8m0-implausible", W, GATE + "weight_scale", "ct-mxfp4", cast_exponents,
         "sglang#26701"),
    case("ue8m0-mantissa", "ue8m0-mantissa", W, GATE + "weight_scale_inv", "fp8-block-ue8m0-f32",
         put(GATE + "weight_scale_inv", 3.1e-4, (1, 1)), "sglang#35491", [1, 1]),
    case("mxfp4-overflow-f16", "dequant-overflow", E, GATE, "ct-mxfp4",
         put(GATE + "weight_scale", 142, (0, 0)), prepare=to_f16),
    case("mxfp4-overflow-bf16", "dequant-overflow", W, GATE, "ct-mxfp4",
         put(GATE + "weight_scale", 254, (0, 0))),
    case("gptq-overflow-f16", "dequant-overflow", E, GATE + "scales", "gptq-4",
         put(GATE + "scales", 3e4, (1, 30)), "", [1, 30], prepare=to_f16),
    case("g-idx-all-zero", "g-idx", W, GATE + "g_idx", "gptq-4", put(GATE + "g_idx", 0)),
    case("gptq-v1-as-v2", "gptq-zero-format", W, AT, "gptq-4",
         quantization(checkpoint_format="gptq_v2"), "vllm#38966"),
    case("gptq-v2-as-v1", "gptq-zero-format", W, AT, "gptq-4-v2",
         quantization(checkpoint_format="gptq"), "vllm#38966"),
    case("g-idx-never-filled", "g-idx", E, GATE + "weight_g_idx", "ct-int4-actorder",
         put(GATE + "weight_g_idx", -1), "compressed-tensors initialize.py"),
    case("g-idx-outside", "g-idx", E, GATE + "g_idx", "gptq-4-act-order",
         put(GATE + "g_idx", 2, 7), "", [7]),
    case("kv-zero", "kv-scale", E, AT + "self_attn.", "modelopt-fp8-kv", kv(0),
         "llm-compressor#1928"),
    case("kv-nan", "kv-scale", E, AT + "self_attn.k_proj.k_scale", "modelopt-fp8-kv",
         kv(np.nan, (0,), ("k_proj.k_scale",)), also=["scale-nonfinite"]),
    case("kv-one-of-two", "kv-scale", W, AT + "self_attn.", "modelopt-fp8-kv",
         drop(AT + "self_attn.v_proj.v_scale")),
    case("kv-many", "kv-scale", W, AT + "self_attn.k_proj.k_scale", "modelopt-fp8-kv",
         lambda tensors, config: tensors.update(
             {AT + "self_attn.k_proj.k_scale": np.full(128, 0.0123, np.float32)})),
    case("codes-zero", "codes-all-zero", E, GATE + "weight", "modelopt-nvfp4",
         put(GATE + "weight", 0), "BitNet#608", also=["all-zero", "saturation"]),
    case("saturated-scales", "saturation", W, GATE + "weight_scale", "modelopt-nvfp4", saturated),
]  # fmt: skip
