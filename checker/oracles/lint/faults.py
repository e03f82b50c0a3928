"""Faults in copies of models: a scale or a weight that is NaN, and a scale that is missing."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from folder import header

SCALES = ("weight_scale", "_scale_inv", ".scales", ".absmax", ".SCB")
# Bits that are NaN in all formats of weights and scales.
NAN = b"\xff"


@dataclass
class Fault:
    name: str
    # What lint must find: the rule and the tensor.
    rule: str
    tensor: str
    # Changes a copy of the folder.
    plant: Callable[[Path], None]


def overwritten(file, start, end):
    def plant(folder):
        with open(folder / file, "r+b") as out:
            out.seek(start)
            out.write(NAN * (end - start))

    return plant


def renamed(name):
    """The tensor gets a name of the same length that no scale has, in its file and in the index."""

    def plant(folder):
        old, new = f'"{name}"'.encode(), f'"{name[:-1]}_"'.encode()
        for path in [*folder.glob("*.safetensors"), *folder.glob("*.index.json")]:
            path.write_bytes(path.read_bytes().replace(old, new))

    return plant


def of_safetensors(folder):
    for path in sorted(folder.glob("*.safetensors")):
        tensors = header(path)
        # A nested `absmax` is bytes that have no NaN.
        scales = {
            name: entry for name, entry in tensors.items()
            if name.endswith(SCALES) and not (name.endswith("absmax") and entry[0] == "U8")
        }  # fmt: skip
        floats = {name: entry for name, entry in tensors.items() if "F" in entry[0]}
        for name, (dtype, shape, start, end) in sorted((scales or floats).items())[:1]:
            size = 1
            for extent in shape:
                size *= extent
            element = (end - start) // size
            rule = "scale-nonfinite" if scales else "nonfinite"
            yield Fault("nan", rule, name, overwritten(path.name, start, start + element))
            if scales:
                module = name[: name.rindex(".")]
                yield Fault("no-scale", "sibling-missing", module, renamed(name))
            return


def of_gguf(folder):
    from gguf import GGML_QUANT_SIZES, GGUFReader

    for path in folder.glob("*.gguf"):
        tensor = next(x for x in GGUFReader(path).tensors if x.name == "blk.0.attn_q.weight")
        start, (_, size) = int(tensor.data_offset), GGML_QUANT_SIZES[tensor.tensor_type]
        yield Fault("nan", "nonfinite", tensor.name, overwritten(path.name, start, start + size))


def of_onnx(folder):
    import onnx

    for path in folder.glob("*.onnx"):
        model = onnx.load(path)
        name = next(x.name for x in model.graph.initializer if "scale" in x.name)

        def plant(folder):
            tensor = next(x for x in model.graph.initializer if x.name == name)
            tensor.raw_data = NAN * 4 + onnx.numpy_helper.to_array(tensor).tobytes()[4:]
            tensor.ClearField("float_data")
            onnx.save(model, folder / path.name)

        # Dynamic quantisation multiplies by its scale with a plain `Mul`.
        scaled = ("DequantizeLinear", "MatMulNBits")
        is_scale = any(x.op_type in scaled and name in x.input for x in model.graph.node)
        yield Fault("nan", "scale-nonfinite" if is_scale else "nonfinite", name, plant)


def planted(folder, out):
    """Each fault of a model, with a copy of the folder that has it."""
    for fault in [*of_safetensors(folder), *of_gguf(folder), *of_onnx(folder)]:
        copy = out / f"{folder.name}.{fault.name}"
        shutil.copytree(folder, copy)
        fault.plant(copy)
        yield fault, copy
