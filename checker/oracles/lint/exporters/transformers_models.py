"""Block-wise FP8 of transformers (its `Fp8Quantize`), as DeepSeek-V3 and Qwen3 are published."""

import importlib.metadata
from types import SimpleNamespace

import torch
from safetensors.torch import save_file
from transformers import FineGrainedFP8Config
from transformers.integrations.finegrained_fp8 import Fp8Quantize

import folder as folders
import models
from exporters.torch_models import state

PACKAGE = f"transformers {importlib.metadata.version('transformers')}"


def quantized(folder, tensors, quantised, **how):
    config = FineGrainedFP8Config(weight_block_size=(128, 128), **how)
    operation = Fp8Quantize(SimpleNamespace(quantization_config=config))
    out = {}
    for name, x in tensors.items():
        out |= operation.convert({name: x}) if quantised(name) else {name: x}
    folder.mkdir()
    save_file({k: x.contiguous() for k, x in out.items()}, folder / "model.safetensors")
    folders.write_config(folder, models.CONFIG | {"quantization_config": config.to_dict()})


def dense(folder, sizes=models.SMALL, **how):
    tensors = state(models.llama(**sizes))
    quantized(folder, tensors, lambda name: "_proj." in name, **how)


def fused(folder):
    """Experts of a layer in one parameter, as transformers 5 saves Qwen3-MoE and others."""
    tensors = state(models.llama(**models.SMALL, num_local_experts=4))
    for layer in range(models.SMALL["num_hidden_layers"]):
        at = f"model.layers.{layer}.block_sparse_moe."
        parts = {
            part: torch.stack([tensors.pop(f"{at}experts.{e}.{part}.weight") for e in range(4)])
            for part in ("w1", "w2", "w3")
        }
        new = f"model.layers.{layer}.mlp."
        tensors[new + "gate.weight"] = tensors.pop(at + "gate.weight")
        tensors[new + "experts.gate_up_proj"] = torch.cat([parts["w1"], parts["w3"]], 1)
        tensors[new + "experts.down_proj"] = parts["w2"]
    quantized(folder, tensors, lambda name: "_proj" in name)


LAYOUTS = {
    "fp8-block": dense,
    # A matrix of 320 rows or columns stays in BF16.
    "fp8-block-ragged": lambda folder: dense(folder, models.RAGGED),
    "fp8-block-ue8m0": lambda folder: dense(folder, scale_fmt="ue8m0"),
    "fp8-block-fused-experts": fused,
}
