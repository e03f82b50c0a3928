"""AWQ: rounded and packed by AutoAWQ's own layers, without its search for scales."""

import importlib.metadata

import torch
from awq.modules.linear.gemm import WQLinear_GEMM
from awq.quantize.quantizer import AwqQuantizer
from safetensors.torch import save_file

import folder as folders
import models
from exporters.torch_models import state

PACKAGE = f"autoawq {importlib.metadata.version('autoawq')}"


class Quantizer(AwqQuantizer):
    """Only the rounding: the constructor of the whole loads a data set."""

    def __init__(self):
        self.group_size, self.w_bit, self.zero_point = 128, 4, True


def packed(name, weight):
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight.data = weight.half()
    linear.weight.data, scales, zeros = Quantizer().pseudo_quantize_tensor(linear.weight.data)
    layer = WQLinear_GEMM.from_linear(
        linear, w_bit=4, group_size=128, scales=scales.t().contiguous(),
        zeros=zeros.t().contiguous(),
    )  # fmt: skip
    return {f"{name}.{key}": x.contiguous() for key, x in layer.state_dict().items()}


@torch.no_grad()
def quantized(folder):
    tensors = state(models.llama(**models.SMALL))
    tensors = {name: x.half() for name, x in tensors.items()}
    # A group of equal weights has the least scale, a subnormal of f16.
    tensors["model.layers.0.self_attn.q_proj.weight"][3, :128] = 0
    for name in models.linears(models.llama(**models.SMALL)):
        tensors |= packed(name, tensors.pop(name + ".weight"))
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = dict(
        quant_method="awq", bits=4, group_size=128, version="gemm", zero_point=True,
        modules_to_not_convert=None,
    )  # fmt: skip
    folders.write_config(
        folder, models.CONFIG | {"quantization_config": config, "torch_dtype": "float16"}
    )


LAYOUTS = {"awq-gemm": quantized}
