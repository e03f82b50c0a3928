"""GGUF: written by the package gguf, the types that it can quantise."""

import importlib.metadata

import numpy as np
from gguf import GGML_QUANT_SIZES, GGUFWriter
from gguf import GGMLQuantizationType as Type
from gguf.quants import NVFP4, quantize

from models import SMALL, llama

PACKAGE = f"gguf {importlib.metadata.version('gguf')}"

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
PARTS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, part = name.split(".", 3)
    return f"blk.{layer}.{PARTS[part.removesuffix('.weight')]}.weight"


def nvfp4(array):
    """Blocks of NVFP4, which gguf-py reads but does not quantise: 4 scales, then 64 codes."""
    groups = array.reshape(-1, 4, 16)
    bits = NVFP4.fp32_to_ue4m3(np.abs(groups).max(-1) / 6)
    scales = NVFP4.ue4m3_to_fp32(bits)[..., None]
    values = np.float32(NVFP4.kvalues)
    with np.errstate(all="ignore"):
        scaled = np.nan_to_num(groups / scales)
    codes = np.abs(scaled[..., None] - values).argmin(-1).astype(np.uint8)
    # A byte holds a value of the first 8 of a group, and above it one of the last 8.
    packed = codes[..., :8] | codes[..., 8:] << 4
    blocks = np.concatenate([bits, packed.reshape(-1, 32)], axis=1)
    return blocks.reshape(array.shape[0], -1)


def write(folder, kind):
    folder.mkdir()
    writer = GGUFWriter(folder / "model.gguf", "llama")
    writer.add_block_count(SMALL["num_hidden_layers"])
    writer.add_embedding_length(SMALL["hidden_size"])
    writer.add_feed_forward_length(SMALL["intermediate_size"])
    writer.add_head_count(SMALL["num_attention_heads"])
    writer.add_head_count_kv(SMALL["num_key_value_heads"])
    for name, array in llama(**SMALL).items():
        new = gguf_name(name)
        if array.ndim == 1:
            writer.add_tensor(new, array)
        elif array.shape[1] % GGML_QUANT_SIZES[kind][0]:
            writer.add_tensor(new, array.astype(np.float16))
        elif kind == Type.NVFP4:
            # As llama.cpp converts ModelOpt's checkpoints: one scale a tensor beside.
            scale = np.abs(array).max() / (6 * 448)
            writer.add_tensor(new, nvfp4(array / scale), raw_dtype=kind)
            beside = new.removesuffix("weight")
            writer.add_tensor(beside + "scale", np.float32([scale]))
            writer.add_tensor(beside + "input_scale", np.float32([0.01]))
        else:
            writer.add_tensor(new, quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def layout(kind):
    return lambda folder: write(folder, kind)


KINDS = ("F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4")
LAYOUTS = {f"gguf-{kind.lower()}": layout(Type[kind]) for kind in KINDS}
