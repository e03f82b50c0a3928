"""Layouts of bitsandbytes: quantised by its functions, saved as transformers names the parts."""

import importlib.metadata

import bitsandbytes
import torch

import folder as folders
import models
from exporters.torch_models import state
from safetensors.torch import save_file

PACKAGE = f"bitsandbytes {importlib.metadata.version('bitsandbytes')}"


def four_bits(name, weight, kind, nested):
    layer = bitsandbytes.nn.Linear4bit(
        weight.shape[1], weight.shape[0], bias=False, quant_type=kind, compress_statistics=nested,
        compute_dtype=torch.bfloat16,
    )  # fmt: skip
    layer.weight = bitsandbytes.nn.Params4bit(
        weight, requires_grad=False, quant_type=kind, compress_statistics=nested, module=layer
    )
    layer.to("cpu")
    return {f"{name}.{key}": x.contiguous() for key, x in layer.state_dict().items()}


def eight_bits(name, weight):
    layer = bitsandbytes.nn.Linear8bitLt(weight.shape[1], weight.shape[0], bias=False,
                                         has_fp16_weights=False)  # fmt: skip
    layer.weight = bitsandbytes.nn.Int8Params(
        weight.half(), requires_grad=False, has_fp16_weights=False
    )
    layer.to("cpu")
    layer(torch.ones(1, weight.shape[1], dtype=torch.float16))
    return {f"{name}.{key}": x.contiguous() for key, x in layer.state_dict().items()}


def llama():
    """The tensors of a model, and the names of its linear layers."""
    tensors = models.llama(**models.SMALL)
    return {"tensors": state(tensors), "names": models.linears(tensors)}


def write(folder, quantise, tensors, names, **config):
    for name in names:
        tensors |= quantise(name, tensors.pop(name + ".weight"))
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    quantization = {"quant_method": "bitsandbytes", "llm_int8_skip_modules": None} | config
    folders.write_config(folder, models.CONFIG | {"quantization_config": quantization})


def four(folder, kind, tensors, names, nested=False):
    write(
        folder, lambda name, weight: four_bits(name, weight, kind, nested), tensors, names,
        load_in_4bit=True, load_in_8bit=False, bnb_4bit_quant_type=kind,
        bnb_4bit_use_double_quant=nested, bnb_4bit_compute_dtype="bfloat16",
        bnb_4bit_quant_storage="uint8",
    )  # fmt: skip


LAYOUTS = {
    "bnb-nf4": lambda folder: four(folder, "nf4", **llama()),
    "bnb-fp4": lambda folder: four(folder, "fp4", **llama()),
    "bnb-nf4-nested": lambda folder: four(folder, "nf4", **llama(), nested=True),
    "bnb-int8": lambda folder: write(
        folder, eight_bits, **llama(), load_in_4bit=False, load_in_8bit=True
    ),
}
