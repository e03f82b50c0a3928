#!/usr/bin/env python3
"""Writes the sample files: sample.safetensors, sample.npy and clean.npy.

    make.py [FOLDER]    default: the folder of this script

Needs only the standard library. The bytes are always the same.
"""

import json
import os
import struct
import sys

F16 = {"nan": 0x7E00, "+inf": 0x7C00, "-inf": 0xFC00, "max": 0x7BFF}
BF16 = {"nan": 0x7FC0, "+inf": 0x7F80, "-inf": 0xFF80, "max": 0x7F7F}
F32 = {
    "nan": 0x7FC00000,
    "snan": 0xFF800001,
    "+inf": 0x7F800000,
    "-inf": 0xFF800000,
    "max": 0x7F7FFFFF,
}
F64 = {"nan": 0x7FF8 << 48, "+inf": 0x7FF0 << 48, "-inf": 0xFFF0 << 48, "max": (0x7FF0 << 48) - 1}
E4M3 = {"nan": 0x7F, "-nan": 0xFF, "max": 0x7E}
E5M2 = {"nan": 0x7D, "+inf": 0x7C, "-inf": 0xFC, "max": 0x7B}


def tensor(dtype, shape, code, codes=None, special=()):
    """Small finite codes, and at the given places of the row-major order the special ones."""
    size = 1
    for extent in shape:
        size *= extent
    values = [(7 * i + 3) % 64 for i in range(size)]
    for place, name in special:
        values[place] = codes[name]
    return {"dtype": dtype, "shape": shape, "data": struct.pack(f"<{size}{code}", *values)}


TENSORS = {
    "embed.tokens": tensor("I64", [6], "q"),
    "scale": tensor("F64", [3, 5], "Q", F64, [(3, "max"), (9, "-inf"), (11, "nan"), (14, "-inf")]),
    "layer.0.weight": tensor("F32", [8, 16], "I", F32, [(37, "nan"), (38, "+inf"), (127, "snan")]),
    "layer.0.clean": tensor("F32", [4, 4], "I", F32, [(0, "max")]),
    "layer.0.bias": tensor("BF16", [16], "H", BF16, [(4, "max"), (5, "+inf")]),
    "layer.1.weight": tensor(
        "F16", [2, 4, 8], "H", F16, [(0, "max"), (35, "nan"), (36, "nan"), (63, "-inf")]
    ),
    "layer.1.clean": tensor("F16", [100], "H", F16, [(99, "max")]),
    "quant.e4m3": tensor("F8_E4M3", [4, 4], "B", E4M3, [(0, "max"), (5, "nan"), (15, "-nan")]),
    "quant.e5m2": tensor(
        "F8_E5M2", [4, 4], "B", E5M2, [(0, "max"), (8, "+inf"), (9, "-inf"), (10, "nan")]
    ),
    "quant.scalar": tensor("F8_E5M2", [], "B", E5M2, [(0, "max")]),
    "packed.f4": {"dtype": "F4", "shape": [4, 8], "data": bytes(range(0xF0, 0x100))},
}


def safetensors(tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        offsets = [len(data), len(data) + len(tensor["data"])]
        header[name] = {"dtype": tensor["dtype"], "shape": tensor["shape"], "data_offsets": offsets}
        data += tensor["data"]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def npy(shape, values):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(text))
        + text
        + struct.pack(f"<{len(values)}f", *values)
    )


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    ramp = [i / 4 for i in range(60)]
    bad = ramp[:]
    bad[27], bad[44] = float("-inf"), float("nan")
    files = {
        "sample.safetensors": safetensors(TENSORS),
        "sample.npy": npy((3, 4, 5), bad),
        "clean.npy": npy((3, 4, 5), ramp),
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


main()
