"""Layouts of NVIDIA ModelOpt: calibrated and exported by its own functions, on the CPU."""

import copy
import importlib.metadata

import modelopt.torch.quantization as mtq
import torch
from modelopt.torch.export import export_hf_checkpoint

from exporters.torch_models import llama, load_mixtral

PACKAGE = f"nvidia-modelopt {importlib.metadata.version('nvidia-modelopt')}"


@torch.no_grad()
def calibrate(model):
    model(torch.arange(64).reshape(2, 32))


def quantized(folder, name, make=llama, kv=False):
    config = copy.deepcopy(getattr(mtq, name))
    if kv:
        config["quant_cfg"] += copy.deepcopy(mtq.FP8_KV_CFG["quant_cfg"])
    model = mtq.quantize(make(), config, calibrate)
    export_hf_checkpoint(model, export_dir=folder)


def layout(*arguments, **named):
    return lambda folder: quantized(folder, *arguments, **named)


LAYOUTS = {
    "modelopt-fp8": layout("FP8_DEFAULT_CFG"),
    "modelopt-fp8-kv": layout("FP8_DEFAULT_CFG", kv=True),
    "modelopt-fp8-per-channel": layout("FP8_PER_CHANNEL_PER_TOKEN_CFG"),
    "modelopt-fp8-pb-wo": layout("FP8_2D_BLOCKWISE_WEIGHT_ONLY_CFG"),
    "modelopt-int4-awq": layout("INT4_AWQ_CFG"),
    "modelopt-mxfp4": layout("MXFP4_DEFAULT_CFG"),
    "modelopt-mxfp8": layout("MXFP8_DEFAULT_CFG"),
    "modelopt-nvfp4": layout("NVFP4_DEFAULT_CFG", kv=True),
    "modelopt-nvfp4-weight-only": layout("W4A16_NVFP4_CFG"),
    "modelopt-nvfp4-mlp-only": layout("NVFP4_MLP_ONLY_CFG"),
    "modelopt-w4a8-nvfp4-fp8": layout("W4A8_NVFP4_FP8_CFG"),
    "modelopt-moe-fp8": layout("FP8_DEFAULT_CFG", load_mixtral),
    "modelopt-moe-nvfp4": layout("NVFP4_DEFAULT_CFG", load_mixtral),
}
