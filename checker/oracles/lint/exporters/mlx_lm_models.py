"""Layouts of MLX: quantised and saved by mlx-lm."""

import importlib.metadata

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_map
from mlx_lm.models import llama, mixtral
from mlx_lm.utils import quantize_model, save_config, save_model

PACKAGE = f"mlx-lm {importlib.metadata.version('mlx-lm')}"

CONFIG = dict(
    model_type="llama", hidden_size=128, num_hidden_layers=2, intermediate_size=256,
    num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-5, vocab_size=256,
    head_dim=32, tie_word_embeddings=False,
)  # fmt: skip
MIXTRAL = CONFIG | dict(
    model_type="mixtral", num_local_experts=4, num_experts_per_tok=2, rope_theta=1e6
)


def quantized(folder, module, config, **how):
    mx.set_default_device(mx.cpu)
    mx.random.seed(1)
    model = module.Model(module.ModelArgs.from_dict(config))
    model.update(tree_map(lambda x: x.astype(mx.bfloat16), model.parameters()))
    nn.Module.eval(model)
    how = {"group_size": None, "bits": None} | how
    model, config = quantize_model(model, config, **how)
    folder.mkdir()
    save_model(folder, model)
    save_config(config, folder / "config.json")


def mixed(path, module):
    """The recipe of mlx-lm's mixed models: some layers have more bits, some are not quantised."""
    if "down_proj" in path:
        return {"group_size": 64, "bits": 6, "mode": "affine"}
    return "q_proj" not in path


LAYOUTS = {
    "mlx-affine-4": lambda folder: quantized(folder, llama, CONFIG, group_size=64, bits=4),
    "mlx-affine-8": lambda folder: quantized(folder, llama, CONFIG, group_size=32, bits=8),
    "mlx-affine-3": lambda folder: quantized(folder, llama, CONFIG, group_size=32, bits=3),
    "mlx-affine-mixed": lambda folder: quantized(folder, llama, CONFIG, quant_predicate=mixed),
    "mlx-mxfp4": lambda folder: quantized(folder, llama, CONFIG, mode="mxfp4"),
    "mlx-mxfp8": lambda folder: quantized(folder, llama, CONFIG, mode="mxfp8"),
    "mlx-nvfp4": lambda folder: quantized(folder, llama, CONFIG, mode="nvfp4"),
    "mlx-moe-affine-4": lambda folder: quantized(folder, mixtral, MIXTRAL, group_size=32, bits=4),
    "mlx-moe-nvfp4-global": lambda folder: quantized(
        folder, mixtral, MIXTRAL, mode="nvfp4", global_scale=True
    ),
}
