"""Files for tests of the checker."""

import json
import struct
from pathlib import Path

import numpy as np

HUGE = 1 << 40
"""Bytes of a file that no check finishes in the time of a test."""

PATIENCE = 1800
"""Seconds after which a process hangs. Tests also run at a low priority on a busy machine."""

DTYPES = {"float32": "F32", "float16": "F16", "uint8": "U8", "int64": "I64"}


def safetensors(path, tensors):
    """Write arrays by name as a safetensors file."""
    header, data = {}, b""
    for name, array in tensors.items():
        more = array.tobytes()
        offsets = [len(data), len(data) + len(more)]
        dtype = DTYPES[array.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += more
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def model(path, seed=0):
    """Write a model of four tensors, of which two hold numbers that are not finite."""
    random = np.random.default_rng(seed)
    shapes = {"layers.0.weight": (40, 50), "layers.1.weight": (300, 200), "mask": (64,)}
    tensors = {name: random.standard_normal(shape, "f4") for name, shape in shapes.items()}
    tensors["layers.1.weight"][17] = np.nan
    tensors["layers.1.weight"][3, 5] = np.inf
    tensors["mask"][::2] = -np.inf
    tensors["ids"] = np.arange(10)
    safetensors(path, tensors)
    return tensors


def huge(path, bytes=HUGE):
    """Write a .npy file with so many bytes of data. The disk has the header only."""
    np.save(path, np.zeros(0, np.float32))
    with open(path, "r+b") as file:
        header = file.read()
        shape = f"({bytes // 4},)".encode()
        start, end = header.index(b"(0,)"), header.index(b"(0,)") + 4
        # The shape takes the place of spaces at the end of the header.
        header = header[:start] + shape + header[end:]
        header = header[: -1 - (len(shape) - 4)] + b"\n"
        file.seek(0)
        file.write(header)
        file.truncate(len(header) + bytes)
