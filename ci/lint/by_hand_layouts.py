"""The table of layouts that by_hand.py writes. A name that an exporter has, too, is compared."""

import ml_dtypes
import numpy as np

import by_hand as hand
import quantisers as q
import traps
from by_hand import CONFIG, DYNAMIC, MOE, NVFP4_ARGS, NVFP4_INPUTS, RAGGED, SMALL
from models import llama

PACKAGE = "by hand"
INT4 = hand.ct_args(4, "int", "group", group_size=128)
GROUP_32 = dict(strategy="group", group_size=32, scale_dtype="torch.uint8")
ROUTERS = [f"model.layers.{layer}.block_sparse_moe.gate" for layer in range(2)]


def ct(format, make, weights, inputs=None, sizes=SMALL, **options):
    config = hand.ct_config(format, weights, inputs)
    return hand.layer_by_layer(make, config, sizes, **options)


def modelopt(make, algorithm, listed=False, chosen=lambda name: True, **config):
    return hand.layer_by_layer(
        make, hand.modelopt_config(algorithm, listed=listed, **config), chosen=chosen
    )


def mixed(folder):
    """FP8 in attention, int4 elsewhere."""

    def make(name, w):
        return q.ct_fp8(w) if "self_attn" in name else q.ct_int4(w)

    groups = {
        "group_0": {"targets": ["re:.*self_attn.*_proj"], "format": "float-quantized",
                    "weights": hand.ct_args(), "input_activations": DYNAMIC},
        "group_1": {"targets": ["re:.*mlp.*_proj"], "format": "pack-quantized", "weights": INT4,
                    "input_activations": None},
    }  # fmt: skip
    config = hand.ct_config("mixed-precision", None, groups=groups)
    hand.write(folder, hand.quantised(llama(**SMALL), make), config)


def one_file(tensors, config=CONFIG):
    return lambda folder: hand.folders.write(folder, hand.plain(tensors()), config)


def padded():
    tensors = llama(**SMALL)
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        tensors[name][-32:] = 0
    return tensors


def gemma():
    tensors = llama(**SMALL)
    for name, array in tensors.items():
        if "norm" in name:
            array[:] = 0
    return tensors


def large_features():
    tensors = llama(**SMALL)
    for name, array in tensors.items():
        if "down_proj" in name or "embed" in name:
            array[:, 7] *= 100
        if "norm" in name:
            array[[3, 77, 200]] *= 20
    return tensors


def lora():
    tensors = {}
    for layer in range(2):
        at = f"base_model.model.model.layers.{layer}.self_attn.q_proj.lora_"
        random = np.random.default_rng(layer)
        tensors[at + "A.weight"] = random.normal(0, 0.02, (8, 256)).astype(np.float32)
        tensors[at + "B.weight"] = np.zeros((256, 8), np.float32)
    return tensors


def adapter(folder):
    folder.mkdir()
    hand.folders.save_file(lora(), folder / "adapter_model.safetensors", {"format": "pt"})
    config = {"peft_type": "LORA", "r": 8, "target_modules": ["q_proj"]}
    hand.folders.write_config(folder, config, "adapter_config.json")


def float16(folder):
    config = CONFIG | {"torch_dtype": "float16"}
    hand.write(folder, hand.plain(llama(**SMALL), np.float16), config)


LAYOUTS = {
    "ct-fp8-tensor-static": ct(
        "float-quantized", q.ct_fp8, hand.ct_args(strategy="tensor"),
        hand.ct_args(strategy="tensor"), strategy="tensor", static=True,
    ),
    "ct-fp8-channel": ct("float-quantized", q.ct_fp8, hand.ct_args(), DYNAMIC),
    "ct-fp8-block": ct(
        "float-quantized", q.ct_fp8, hand.ct_args(strategy="block", block_structure=[128, 128]),
        hand.ct_args(strategy="group", group_size=128, dynamic=True), RAGGED, strategy="block",
    ),
    "ct-int8": ct(
        "int-quantized", q.ct_int8, hand.ct_args(type="int"), DYNAMIC | {"type": "int"}
    ),
    "ct-int4": ct("pack-quantized", q.ct_int4, INT4),
    "ct-int4-asymmetric": ct(
        "pack-quantized", q.ct_int4, INT4 | {"symmetric": False}, symmetric=False
    ),
    # compressed-tensors wrote the order of columns until August 2026.
    "ct-int4-actorder": ct(
        "pack-quantized", q.ct_int4, INT4 | {"actorder": "group"}, order=True
    ),
    "ct-nvfp4": hand.of_fused(
        q.ct_nvfp4, hand.ct_config("nvfp4-pack-quantized", NVFP4_ARGS, NVFP4_INPUTS)
    ),
    "ct-nvfp4a16": hand.of_fused(
        lambda w, amax: q.ct_nvfp4(w, amax, inputs=False),
        hand.ct_config("nvfp4-pack-quantized", NVFP4_ARGS),
    ),
    "ct-moe-nvfp4": hand.of_fused(
        q.ct_nvfp4,
        hand.ct_config(
            "nvfp4-pack-quantized", NVFP4_ARGS, NVFP4_INPUTS,
            ["lm_head", "re:.*block_sparse_moe.gate"], MOE,
        ),
        experts=4,
    ),
    "ct-mxfp4": ct("mxfp4-pack-quantized", q.ct_mxfp4, hand.ct_args(4, **GROUP_32)),
    "ct-mxfp8": ct("mxfp8-quantized", q.mxfp8, hand.ct_args(8, **GROUP_32)),
    "ct-mixed": mixed,
    "modelopt-fp8": modelopt(q.modelopt_fp8, "FP8", listed=True),
    "modelopt-fp8-kv": hand.fp8_kv,
    "modelopt-fp8-per-channel": modelopt(
        lambda w: q.modelopt_fp8(w, "channel", False), "FP8_PER_CHANNEL_PER_TOKEN"
    ),
    "modelopt-fp8-pb-wo": modelopt(lambda w: q.modelopt_fp8(w, "block", False), "fp8_pb_wo"),
    "modelopt-mxfp4": modelopt(q.modelopt_mxfp4, "mxfp4"),
    "modelopt-mxfp8": modelopt(q.mxfp8, "MXFP8", group=32),
    "modelopt-nvfp4": hand.of_fused(
        q.modelopt_nvfp4, hand.modelopt_config("NVFP4", group=16, kv="FP8"), with_kv=True
    ),
    "modelopt-nvfp4-mlp-only": modelopt(
        lambda w: q.modelopt_nvfp4(w, 0.15), "NVFP4", group=16, listed=True,
        chosen=lambda name: "mlp" in name,
        ignore=[f"model.layers.{layer}.self_attn*" for layer in range(2)],
    ),
    "modelopt-moe-nvfp4": hand.of_fused(
        q.modelopt_nvfp4, hand.modelopt_config("NVFP4", MOE, ROUTERS, group=16), experts=4
    ),
    "fp8-block": hand.layer_by_layer(q.block_fp8, hand.block_config()),
    "fp8-block-ue8m0": hand.layer_by_layer(
        q.block_fp8, hand.block_config(scale_fmt="ue8m0"), powers_of_two=True,
        dtype=ml_dtypes.float8_e8m0fnu,
    ),
    # DeepSeek-V3.1 keeps powers of two in F32.
    "fp8-block-ue8m0-f32": hand.layer_by_layer(
        q.block_fp8, hand.block_config(scale_fmt="ue8m0"), powers_of_two=True
    ),
    # DeepSeek-V4: the name is `scale`. Ragged blocks, too, as DeepSeek-V3 has.
    "fp8-block-named-scale": hand.layer_by_layer(
        q.block_fp8, hand.block_config(scale_fmt="ue8m0"), RAGGED, powers_of_two=True,
        scale="scale", dtype=ml_dtypes.float8_e8m0fnu,
    ),
    "fp8-block-deepseek": hand.layer_by_layer(q.block_fp8, hand.block_config(), RAGGED),
    "gpt-oss": hand.gpt_oss,
    "gpt-oss-original": lambda folder: hand.gpt_oss(folder, original=True),
    "comfy-fp8": hand.comfy,
    "comfy-fp8-new": hand.comfy_new,
    "gptq-4": hand.gptq_layout,
    "gptq-4-v2": lambda folder: hand.gptq_layout(folder, v2=True),
    "gptq-4-act-order": lambda folder: hand.gptq_layout(folder, order=True),
    "gptq-8": lambda folder: hand.gptq_layout(folder, 8),
    "awq-gemm": hand.awq_layout,
    "bnb-nf4": hand.bnb(q.bnb_nf4, True),
    "bnb-nf4-nested": hand.bnb(q.bnb_nf4, True, nested=True),
    "bnb-int8": hand.bnb(q.bnb_int8, False),
    "plain-bf16": one_file(lambda: llama(**SMALL)),
    "plain-f16": float16,
    "plain-mixtral": lambda folder: hand.write(
        folder, hand.plain(llama(**SMALL, num_local_experts=4)), MOE
    ),
    "plain-tied": one_file(
        lambda: llama(**SMALL, tied=True), CONFIG | {"tie_word_embeddings": True}
    ),
    "plain-padded-vocabulary": one_file(padded),
    "plain-gemma2": one_file(gemma, CONFIG | {"model_type": "gemma2"}),
    "plain-large-features": one_file(large_features),
    "lora": adapter,
    **traps.LAYOUTS,
}  # fmt: skip
