"""Sound models that look wrong: what rules must not take for a fault."""

import ml_dtypes
import numpy as np

import by_hand as hand
import quantisers as q
from models import CONFIG, SMALL, llama

BF16, E4M3 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
NVFP4 = ("nvfp4-pack-quantized", hand.NVFP4_ARGS, hand.NVFP4_INPUTS)


def zeroed():
    """Some rows and columns of zeros, as of pruned or never used neurons."""
    tensors = llama(**SMALL)
    for name, array in tensors.items():
        if "gate_proj" in name or "up_proj" in name:
            array[200:204] = 0
        if "down_proj" in name:
            array[:, 192:208] = 0
    return tensors


def zero_blocks(make, config, of_zero):
    """Blocks of zeros get the scale `of_zero`, which exporters choose differently."""

    def layout(folder):
        tensors = zeroed()

        def layer(name, w):
            parts = make(w, hand.fused(tensors, name))
            size = w.shape[1] // parts["weight_scale"].shape[1]
            zero = q.largest(w, size) == 0
            scale = parts["weight_scale"]
            parts["weight_scale"] = np.where(zero, of_zero, scale.astype(np.float32)).astype(
                scale.dtype
            )
            return parts

        hand.write(folder, hand.quantised(tensors, layer), config)

    return layout


def mxfp4_of_modelopt(w, amax):
    """The zero of ModelOpt's MXFP4 is the code 8, minus zero."""
    parts = q.modelopt_mxfp4(w)
    low, high = parts["weight"] & 15, parts["weight"] >> 4
    parts["weight"] = np.where(low == 0, 8, low) | np.where(high == 0, 8, high) << 4
    return parts | {"weight": parts["weight"].astype(np.uint8)}


def fp8_zero_rows(folder):
    """A row of zeros has the least scale of BF16: its distance from 1 to the next number."""
    tensors = zeroed()

    def layer(name, w):
        parts = q.ct_fp8(np.where(np.abs(w).max(1, keepdims=True) == 0, 1e-9, w))
        parts["weight_scale"][np.abs(w).max(1) == 0] = 0.0078125
        parts["weight"][np.abs(w).max(1) == 0] = 0
        return parts

    config = hand.ct_config("float-quantized", hand.ct_args(), hand.DYNAMIC)
    hand.write(folder, hand.quantised(tensors, layer), config)


def kv_of_ct(strategy, shape):
    scheme = hand.ct_args(strategy=strategy)
    args = hand.ct_args(strategy="tensor")
    config = hand.ct_config("float-quantized", args, args, kv_cache_scheme=scheme)
    value = np.full(shape, 0.0123, BF16)

    def layout(folder):
        def layer(name, w):
            return q.ct_fp8(w, "tensor", static=True)

        out = hand.quantised(llama(**SMALL), layer)
        hand.write(folder, hand.kv(out, ("k_scale", "v_scale"), value), config)

    return layout


def transposed_experts(folder):
    """Experts of Llama 4 by ModelOpt: [E, K/2, N], with scales [E, K/16, N]."""
    tensors = llama(**SMALL)
    out = hand.quantised(tensors, lambda name, w: q.modelopt_nvfp4(w, hand.fused(tensors, name)),
                         lambda name: "self_attn" in name)  # fmt: skip
    for name in list(out):
        if "mlp" in name:
            del out[name]
    for layer in range(2):
        at = f"model.layers.{layer}.feed_forward."
        random = np.random.default_rng(layer)
        out[at + "router.weight"] = random.normal(0, 0.02, (4, 256)).astype(BF16)
        for part, rows, columns in (("gate_up_proj", 768, 256), ("down_proj", 256, 384)):
            w = random.normal(0, 0.02, (4, rows, columns)).astype(np.float32)
            codes, scale, whole = q.nvfp4(w)
            out |= {
                f"{at}experts.{part}": codes.swapaxes(1, 2),
                f"{at}experts.{part}_weight_scale": scale.swapaxes(1, 2),
                f"{at}experts.{part}_weight_scale_2": np.array(whole),
                f"{at}experts.{part}_input_scale": np.array(np.float32(0.0014)),
            }
    ignore = [f"model.layers.{layer}.feed_forward.router" for layer in range(2)]
    hand.write(folder, out, hand.modelopt_config("NVFP4", ignore=ignore, group=16))


def vision(folder):
    """The image encoder stays in BF16, though the configuration does not say so."""
    tensors = llama(**SMALL)
    out = hand.quantised(tensors, lambda name, w: q.modelopt_nvfp4(w, hand.fused(tensors, name)))
    for name, array in llama(**SMALL, seed=2).items():
        if ".layers." in name:
            out[name.replace("model.", "vision_tower.vision_model.encoder.")] = array.astype(BF16)
    hand.write(folder, out, hand.modelopt_config("NVFP4", group=16))


def fused_in_file(folder):
    """Phi keeps q, k and v in one matrix, and gate and up: one scale for each."""
    tensors, out = llama(**SMALL), {}
    for name, array in tensors.items():
        if "k_proj" in name or "v_proj" in name or "up_proj" in name:
            continue
        parts = {"q_proj": ("q_proj", "k_proj", "v_proj"), "gate_proj": ("gate_proj", "up_proj")}
        for first, all_of in parts.items():
            if first in name:
                array = np.concatenate([tensors[name.replace(first, x)] for x in all_of])
                name = name.replace(first, "qkv_proj" if first == "q_proj" else "gate_up_proj")
        out[name] = array
    out = hand.quantised(out, lambda name, w: q.modelopt_fp8(w))
    hand.write(folder, out, hand.modelopt_config("FP8"))


def half_of_layers(folder):
    """NVFP4 in the first layers and FP8 in the last, as mixed recipes choose."""

    def layer(name, w):
        return q.modelopt_nvfp4(w, 0.15) if ".0." in name else q.modelopt_fp8(w)

    config, own = hand.modelopt_config("MIXED_PRECISION", listed=False)
    layers = {name: {"quant_algo": "NVFP4" if ".0." in name else "FP8"}
              for name in hand.linears(llama(**SMALL))}  # fmt: skip
    config["quantization_config"]["quantized_layers"] = layers
    own["quantization"]["quantized_layers"] = layers
    hand.write(folder, hand.quantised(llama(**SMALL), layer), (config, own))


def sparse(folder):
    """Half of the weights are zeros, in runs: structured pruning."""
    tensors = llama(**SMALL)
    for name, array in tensors.items():
        if "_proj" in name:
            array[array.shape[0] // 2 :] = 0
    hand.write(folder, hand.plain(tensors), CONFIG)


LAYOUTS = {
    "trap-ct-nvfp4-zero-blocks": zero_blocks(q.ct_nvfp4, hand.ct_config(*NVFP4), 0.125),
    "trap-modelopt-zero-blocks-1": zero_blocks(
        q.modelopt_nvfp4, hand.modelopt_config("NVFP4", group=16), 1
    ),
    "trap-modelopt-zero-blocks-448": zero_blocks(
        q.modelopt_nvfp4, hand.modelopt_config("NVFP4", group=16), 448
    ),
    "trap-mxfp4-zero-blocks-0": zero_blocks(
        mxfp4_of_modelopt, hand.modelopt_config("MXFP4", listed=False), 0
    ),
    "trap-mxfp4-zero-blocks-127": zero_blocks(
        mxfp4_of_modelopt, hand.modelopt_config("MXFP4", listed=False), 127
    ),
    "trap-ct-fp8-zero-rows": fp8_zero_rows,
    "ct-fp8-kv": kv_of_ct("tensor", 1),
    "ct-fp8-kv-per-head": kv_of_ct("attn_head", (2, 1, 1)),
    "trap-transposed-experts": transposed_experts,
    "trap-vision": vision,
    "trap-fused-in-file": fused_in_file,
    "trap-mixed-precision": half_of_layers,
    "trap-pruned": sparse,
}
