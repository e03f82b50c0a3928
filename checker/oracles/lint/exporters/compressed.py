"""Layouts of compressed-tensors: scales by its `calculate_qparams`, tensors by its compressors.

These are what llm-compressor calls. llm-compressor itself is not needed: its own part is the
choice of minima and maxima, which are those of the weights here.
"""

import importlib.metadata

import torch
from compressed_tensors.compressors import ModelCompressor
from compressed_tensors.quantization import (
    QuantizationArgs,
    QuantizationConfig,
    QuantizationScheme,
    QuantizationStrategy,
    apply_quantization_config,
)
from compressed_tensors.quantization.quant_scheme import preset_name_to_scheme
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam

import models
from exporters.torch_models import llama, mixtral, save

PACKAGE = f"compressed-tensors {importlib.metadata.version('compressed-tensors')}"


def minima_and_maxima(weight, args):
    strategy = QuantizationStrategy(args.strategy).value
    if strategy == "tensor":
        return weight.amin().reshape(1), weight.amax().reshape(1)
    if strategy == "channel":
        return weight.amin(1, keepdim=True), weight.amax(1, keepdim=True)
    if strategy in ("group", "tensor_group"):
        groups = weight.unflatten(1, (-1, args.group_size))
        return groups.amin(-1), groups.amax(-1)
    height, width = args.block_structure
    rows, columns = (-(-extent // part) for extent, part in zip(weight.shape, (height, width)))
    padded = torch.zeros(rows * height, columns * width, dtype=weight.dtype)
    padded[: weight.shape[0], : weight.shape[1]] = weight
    blocks = padded.reshape(rows, height, columns, width)
    return blocks.amin((1, 3)), blocks.amax((1, 3))


@torch.no_grad()
def calibrate(module, fused):
    """Fills the scales of a module. `fused` are the weights that share a global scale with it."""
    args, weight = module.quantization_scheme.weights, module.weight
    low, high = minima_and_maxima(weight, args)
    scale_of_all = None
    if hasattr(module, "weight_global_scale"):
        ends = torch.stack([x.amin() for x in fused]), torch.stack([x.amax() for x in fused])
        scale_of_all = generate_gparam(ends[0].min(), ends[1].max())
        module.weight_global_scale.copy_(scale_of_all)
    scale, zero = calculate_qparams(low, high, args, global_scale=scale_of_all)
    module.weight_scale.data = scale.to(module.weight_scale.dtype)
    if hasattr(module, "weight_zero_point"):
        module.weight_zero_point.data = zero.to(module.weight_zero_point.dtype)
    inputs = module.quantization_scheme.input_activations
    if hasattr(module, "input_global_scale"):
        module.input_global_scale.copy_(generate_gparam(torch.tensor(-3.0), torch.tensor(4.0)))
    if hasattr(module, "input_scale"):
        scale, _ = calculate_qparams(torch.tensor([-3.0]), torch.tensor([4.0]), inputs)
        module.input_scale.copy_(scale)


def together(leaf):
    """The layers beside this one with which engines fuse it."""
    fused = (["q_proj", "k_proj", "v_proj"], ["gate_proj", "up_proj"], ["w1", "w3"])
    return next((names for names in fused if leaf in names), [leaf])


def quantized(folder, groups, model=llama, ignore=("lm_head",)):
    # No scales of the KV cache: this version does not know the attention of transformers 5.24.
    model = model()
    apply_quantization_config(model, QuantizationConfig(config_groups=groups, ignore=list(ignore)))
    for name, module in model.named_modules():
        if getattr(module, "quantization_scheme", None) and hasattr(module, "weight"):
            parent, _, leaf = name.rpartition(".")
            parent = model.get_submodule(parent)
            beside = [getattr(parent, other, None) for other in together(leaf)]
            calibrate(module, [other.weight for other in beside if hasattr(other, "weight")])
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    save(model, folder)
    compressor.update_config(folder)


def preset(name):
    return {"group_0": preset_name_to_scheme(name, ["Linear"])}


def weights(inputs=None, **args):
    scheme = QuantizationScheme(
        targets=["Linear"], weights=QuantizationArgs(**args), input_activations=inputs
    )
    return {"group_0": scheme}


def mixed(folder):
    """FP8 in attention, int4 elsewhere: the format of the whole is `mixed-precision`."""
    groups = {
        "group_0": preset_name_to_scheme("FP8_DYNAMIC", ["re:.*self_attn.*_proj"]),
        "group_1": preset_name_to_scheme("W4A16", ["re:.*mlp.*_proj"]),
    }
    quantized(folder, groups)


LAYOUTS = {
    "ct-fp8-tensor-static": lambda folder: quantized(folder, preset("FP8")),
    "ct-fp8-channel": lambda folder: quantized(folder, preset("FP8_DYNAMIC")),
    "ct-fp8-block": lambda folder: quantized(
        folder, preset("FP8_BLOCK"), lambda: llama(models.RAGGED)
    ),
    "ct-int8": lambda folder: quantized(folder, preset("INT8")),
    "ct-int4": lambda folder: quantized(folder, preset("W4A16")),
    "ct-int4-asymmetric": lambda folder: quantized(folder, preset("W4A16_ASYM")),
    "ct-int3": lambda folder: quantized(
        folder, weights(num_bits=3, type="int", strategy="group", group_size=64, symmetric=True)
    ),
    "ct-nvfp4": lambda folder: quantized(folder, preset("NVFP4")),
    "ct-nvfp4a16": lambda folder: quantized(folder, preset("NVFP4A16")),
    "ct-mxfp4": lambda folder: quantized(folder, preset("MXFP4")),
    "ct-mxfp8": lambda folder: quantized(folder, preset("MXFP8")),
    "ct-mixed": mixed,
    "ct-moe-nvfp4": lambda folder: quantized(
        folder, preset("NVFP4"), mixtral, ("lm_head", "re:.*block_sparse_moe.gate")
    ),
}
