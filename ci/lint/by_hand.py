"""Layouts written by hand: those whose exporters are too heavy for CI, or cannot be had.

compare.py compares them with what the exporters write, where these are installed: names, dtypes and
shapes of tensors are equal.
"""

import json

import ml_dtypes
import numpy as np

import folder as folders
import quantisers as q
from models import CONFIG, RAGGED, SMALL, linears, llama

BF16 = ml_dtypes.bfloat16
MOE = CONFIG | {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
                "num_local_experts": 4}  # fmt: skip


def plain(tensors, dtype=BF16):
    return {name: array.astype(dtype) for name, array in tensors.items()}


def quantised(tensors, quantise, chosen=lambda name: True, dtype=BF16):
    """Each linear layer by `quantise(name, weight)`, the rest as it is."""
    out = plain(tensors, dtype)
    for name in linears(tensors):
        if chosen(name):
            del out[name + ".weight"]
            parts = quantise(name, tensors[name + ".weight"])
            out |= {f"{name}.{part}": array for part, array in parts.items()}
    return out


def fused(tensors, name):
    """The largest value of the matrices that engines put together with this one."""
    parent, _, leaf = name.rpartition(".")
    for together in (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"), ("w1", "w3")):
        if leaf in together:
            return max(np.abs(tensors[f"{parent}.{part}.weight"]).max() for part in together)
    return np.abs(tensors[name + ".weight"]).max()


def kv(tensors, names=("k_proj.k_scale", "v_proj.v_scale"), value=np.float32(0.0123)):
    for layer in range(SMALL["num_hidden_layers"]):
        for name in names:
            tensors[f"model.layers.{layer}.self_attn.{name}"] = np.array(value)
    return tensors


def ct_config(
    format, weights, inputs=None, ignore=("lm_head",), config=CONFIG, groups=None, **more
):
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs,
             "output_activations": None, "format": format}  # fmt: skip
    quantization = {
        "quant_method": "compressed-tensors", "format": format, "ignore": list(ignore),
        "config_groups": groups or {"group_0": group}, "kv_cache_scheme": None,
        "quantization_status": "compressed", "version": "0.20.0",
    }  # fmt: skip
    return config | {"quantization_config": quantization | more}


def ct_args(bits=8, type="float", strategy="channel", **more):
    return {"num_bits": bits, "type": type, "strategy": strategy, "symmetric": True,
            "dynamic": False, "group_size": None} | more  # fmt: skip


DYNAMIC = ct_args(strategy="token", dynamic=True)
NVFP4_ARGS = ct_args(4, strategy="tensor_group", group_size=16)
NVFP4_INPUTS = NVFP4_ARGS | {"dynamic": "local"}


def modelopt_config(algorithm, config=CONFIG, ignore=(), kv=None, group=None, listed=True):
    ignore = ["lm_head", "model.embed_tokens", *ignore]
    quantization = {"quant_algo": algorithm, "quant_method": "modelopt", "ignore": ignore,
                    "producer": {"name": "modelopt", "version": "0.47.0"}}  # fmt: skip
    if listed:
        bits = 4 if "NVFP4" in algorithm else 8
        args = {"dynamic": False, "num_bits": bits, "type": "float"}
        args |= {"group_size": group} if group else {}
        groups = {"input_activations": args, "weights": args, "targets": ["Linear"]}
        quantization["config_groups"] = {"group_0": groups}
    own = {"quant_algo": algorithm, "kv_cache_quant_algo": kv, "exclude_modules": ignore}
    own |= {"group_size": group} if group else {}
    return config | {"quantization_config": quantization}, {"quantization": own}


def write(folder, tensors, config, shards=3):
    """`config` is that of the model, or this and the one of ModelOpt's own file."""
    config, own = config if isinstance(config, tuple) else (config, None)
    folders.write(folder, tensors, config, shards)
    if own:
        folders.write_config(folder, own, "hf_quant_config.json")


def layer_by_layer(make, config, sizes=SMALL, chosen=lambda name: True, **options):
    def layout(folder):
        tensors = llama(**sizes)
        out = quantised(tensors, lambda name, w: make(w, **options), chosen)
        write(folder, out, config)

    return layout


def of_fused(make, config, experts=0, with_kv=False):
    """Layouts of which fused matrices share the global scale."""

    def layout(folder):
        tensors = llama(**SMALL, num_local_experts=experts)
        out = quantised(tensors, lambda name, w: make(w, fused(tensors, name)))
        write(folder, kv(out) if with_kv else out, config)

    return layout


def fp8_kv(folder):
    tensors = llama(**SMALL)
    out = quantised(tensors, lambda name, w: q.modelopt_fp8(w))
    write(folder, kv(out), modelopt_config("FP8", kv="FP8"))


def gptq_layout(folder, bits=4, v2=False, order=False):
    tensors = llama(**SMALL)
    out = quantised(tensors, lambda name, w: q.gptq(w, 128, bits, v2, order))
    quantization = {
        "quant_method": "gptq", "bits": bits, "group_size": 128, "sym": True, "desc_act": order,
        "checkpoint_format": "gptq_v2" if v2 else "gptq", "lm_head": False,
    }  # fmt: skip
    write(folder, out, CONFIG | {"quantization_config": quantization})


def awq_layout(folder):
    tensors = llama(**SMALL)
    # A group of equal weights has the least scale, a subnormal of f16.
    tensors["model.layers.0.self_attn.q_proj.weight"][3, :128] = 0
    out = quantised(tensors, lambda name, w: q.awq(w), dtype=np.float16)
    quantization = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm",
                    "zero_point": True, "modules_to_not_convert": None}  # fmt: skip
    write(folder, out, CONFIG | {"quantization_config": quantization, "torch_dtype": "float16"})


def bnb(make, four_bits, **options):
    def layout(folder):
        tensors = llama(**SMALL)
        tensors["model.layers.0.self_attn.q_proj.weight"][3, :64] = 0
        out = quantised(tensors, lambda name, w: make(w, **options))
        quantization = {"quant_method": "bitsandbytes", "load_in_4bit": four_bits,
                        "load_in_8bit": not four_bits, "llm_int8_skip_modules": None}  # fmt: skip
        write(folder, out, CONFIG | {"quantization_config": quantization})

    return layout


def block_config(**more):
    quantization = {"quant_method": "fp8", "activation_scheme": "dynamic",
                    "weight_block_size": [128, 128], "modules_to_not_convert": None}  # fmt: skip
    return CONFIG | {"quantization_config": quantization | more}


def gpt_oss(folder, original=False):
    """Experts of a layer in one tensor; attention, router and head stay in BF16."""
    tensors = llama(**SMALL, num_local_experts=4)
    out = {}
    for name, array in tensors.items():
        if ".experts." not in name:
            out[name.replace("block_sparse_moe.gate", "mlp.router")] = array.astype(BF16)
    for layer in range(2):
        old = f"model.layers.{layer}.block_sparse_moe.experts."
        both = [np.concatenate([tensors[f"{old}{e}.{w}.weight"] for w in ("w1", "w3")])
                for e in range(4)]  # fmt: skip
        down = [tensors[f"{old}{e}.w2.weight"] for e in range(4)]
        for part, matrices in (("gate_up_proj", both), ("down_proj", down)):
            codes, scale = q.mxfp4(np.stack(matrices))
            split = codes.reshape(*codes.shape[:-1], -1, 16)
            if original:
                at = f"block.{layer}.mlp.mlp{1 if part == 'gate_up_proj' else 2}_weight."
                out |= {at + "blocks": split, at + "scales": scale}
            else:
                at = f"model.layers.{layer}.mlp.experts.{part}_"
                bias = np.zeros((4, matrices[0].shape[0]), BF16)
                out |= {at + "blocks": split, at + "scales": scale, at + "bias": bias}
    skip = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
            "lm_head"]  # fmt: skip
    quantization = {"quant_method": "mxfp4", "modules_to_not_convert": skip}
    config = CONFIG | {"model_type": "gpt_oss", "quantization_config": quantization}
    write(folder, out, None if original else config)


def comfy(folder):
    """A single file with its marks inside, as ComfyUI saves scaled FP8."""
    tensors = llama(**SMALL)
    out = {"scaled_fp8": np.array([0, 0], ml_dtypes.float8_e4m3fn)}
    for name, array in tensors.items():
        name = name.replace("model.layers", "double_blocks").replace("_proj", "")
        if array.ndim == 2 and "double" in name:
            parts = q.modelopt_fp8(array)
            at = name.removesuffix("weight")
            out |= {name: parts["weight"], at + "scale_weight": parts["weight_scale"],
                    at + "scale_input": parts["input_scale"]}  # fmt: skip
        else:
            out[name] = array.astype(BF16)
    folders.write(folder, out)


def comfy_new(folder):
    """The newer marks: metadata of the file, and `weight_scale`."""
    tensors = llama(**SMALL)
    out, layers = plain(tensors), {}
    for name in linears(tensors):
        parts = q.modelopt_fp8(tensors[name + ".weight"], inputs=False)
        out |= {f"{name}.{part}": array for part, array in parts.items()}
        out[name + ".comfy_quant"] = np.frombuffer(b'{"format": "float8_e4m3fn"}', np.uint8)
        layers[name] = {"format": "float8_e4m3fn"}
    metadata = {"_quantization_metadata": json.dumps({"format_version": "1.0", "layers": layers})}
    folders.write(folder, out, metadata=metadata)


