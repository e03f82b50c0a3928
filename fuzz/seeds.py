#!/usr/bin/env python3
"""Writes the first corpus of each fuzz target from the special values of every format: fuzz/seeds.py [TARGET...]

The files go to fuzz/corpus/TARGET/seed-*, beside what cargo-fuzz finds; with them what was worth keeping of long runs,
from fuzz/corpora/TARGET.hex (see minimise). To add a target: a generator of its inputs in
SEEDS below. It may yield what it likes as long as the target can decode it.
"""
import itertools
import json
import struct
import sys
from pathlib import Path

HERE = Path(__file__).parent

# In the order of nonfinite::Format::ALL: name, bytes, and the bits of elements that matter, as ml_dtypes and IEEE 754
# have them. Zero, one, the least subnormal, the largest number, what is not finite, and its neighbours.
FORMATS = [
    ("f16", 2, [0x0000, 0x3C00, 0x0001, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0xFC01, 0x7E00, 0xFFFF]),
    ("bf16", 2, [0x0000, 0x3F80, 0x0001, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7F81, 0xFF81, 0x7FC0, 0xFFFF]),
    ("f32", 4, [0x00000000, 0x3F800000, 0x00000001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
                0xFF800001, 0x7FC00000, 0x7FFFFFFF, 0xFFFFFFFF]),
    ("f64", 8, [0x0000000000000000, 0x3FF0000000000000, 0x0000000000000001, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
                0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000001, 0x7FF0000080000000, 0x7FF00000FFFFFFFF,
                0xFFF0000000000001, 0x7FF0000100000000, 0x7FF8000000000000, 0xFFFFFFFFFFFFFFFF]),
    ("f8e4m3fn", 1, [0x00, 0x38, 0x01, 0x7E, 0xFE, 0x7F, 0xFF, 0x78, 0xF8]),
    ("f8e4m3fnuz", 1, [0x00, 0x40, 0x01, 0x7F, 0xFF, 0x80, 0x81]),
    ("f8e5m2", 1, [0x00, 0x3C, 0x01, 0x7B, 0xFB, 0x7C, 0xFC, 0x7D, 0x7E, 0x7F, 0xFD, 0xFF]),
    ("f8e5m2fnuz", 1, [0x00, 0x40, 0x01, 0x7F, 0xFF, 0x80, 0x81]),
    ("f8e4m3", 1, [0x00, 0x38, 0x01, 0x77, 0xF7, 0x78, 0xF8, 0x79, 0x7F, 0xF9, 0xFF]),
    ("f8e3m4", 1, [0x00, 0x30, 0x01, 0x6F, 0xEF, 0x70, 0xF0, 0x71, 0x7F, 0xF1, 0xFF]),
    ("f8e4m3b11fnuz", 1, [0x00, 0x58, 0x01, 0x7F, 0xFF, 0x80, 0x81]),
    ("f8e8m0fnu", 1, [0x00, 0x7F, 0xFE, 0xFF]),
    ("f4e2m1fn", 1, [0x00, 0x02, 0x07, 0x0F, 0xFF]),
    ("f6e2m3fn", 1, [0x00, 0x08, 0x1F, 0x3F, 0xFF]),
    ("f6e3m2fn", 1, [0x00, 0x0C, 0x1F, 0x3F, 0xFF]),
]
PREDICATES = 7


def elements(size, values):
    return b"".join(value.to_bytes(size, sys.byteorder) for value in values)


def tensor(form, predicate, data, start=0, bit=0, repeats=1, at=0xFFFF, value=0):
    """A Tensor of src/tensor.rs."""
    return struct.pack("<BBBBBHB", form, predicate, start, bit, repeats - 1, at, value) + data


def tensors():
    for form, (_, size, values) in enumerate(FORMATS):
        start, bit = 7 * form % 64, 5 * form % 32
        for predicate in range(PREDICATES):
            yield tensor(form, predicate, elements(size, values), start, bit)
            # Several groups of finite elements with one special byte late among them, and a length that leaves a rest.
            clean = elements(size, [values[0]] * 7 + [values[1]] * 4)
            yield tensor(form, predicate, clean, start, bit, repeats=200, at=1999 * size % (2200 * size), value=0xFF)
        for value in values:
            yield tensor(form, 0, elements(size, [value]), repeats=131, start=3, bit=3)


def calls():
    """A Call of fuzz_targets/bytes_api.rs: the excess is that above -3, then which kind of offset, and the offset."""
    for form, (_, size, values) in enumerate(FORMATS):
        for excess, cut in itertools.product((0, 2, 3, 4), (0, 1)):
            data = elements(size, values)[cut:]
            yield struct.pack("<BBBBB", form, form % PREDICATES, excess, 0, 9) + data
            yield struct.pack("<BBBBH", form, 4, excess, 2, 3) + data


def views():
    """A Strided of src/strided.rs: format, predicate, rank, a byte a size, and then whatever comes."""
    for form, (_, size, values) in enumerate(FORMATS):
        for sizes in ([], [6], [241], [5, 6], [3, 242], [2, 3, 4], [6, 1, 5, 2], [0, 3], [2, 2, 2, 2, 2, 2]):
            # No other output sizes; orders, choices and slack of two layouts; not short.
            layout = b"\xff" + bytes([7] * (2 * len(sizes))) + b"\xff"
            head = bytes([form, form % PREDICATES, len(sizes), *sizes, 0xFF])
            yield head + layout + layout + b"\xff" + elements(size, values)


def files():
    def npy(descr, shape, data, order="False", version=1):
        head = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
        length = "<H" if version == 1 else "<I"
        head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
        return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(length, len(head)) + head + data

    def safetensors(header, data):
        head = json.dumps(header).encode()
        return struct.pack("<Q", len(head)) + head + data

    for descr, form in [("<f2", 0), ("<f4", 2), ("<f8", 3), (">f4", 2), ("<c8", 2), (">c16", 3)]:
        _, size, values = FORMATS[form]
        parts = 2 if "c" in descr else 1
        count = len(values) // parts
        data = elements(size, values[: count * parts])
        if descr[0] == ">":
            data = b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))
        yield npy(descr, f"({count},)", data)
        yield npy(descr, f"(1, {count})", data, order="True", version=2)
    yield npy("|b1", "()", b"\1")
    yield npy("<U3", "(2,)", bytes(24))
    yield npy("<M8[ns]", "(1,)", bytes(8))
    yield npy("|O", "(1,)", bytes(8))
    yield npy("<f4", "(4294967296, 4294967296)", b"")
    yield npy("<f4", "(" + "1, " * 65 + ")", bytes(4))
    dtypes = {"F16": 0, "BF16": 1, "F32": 2, "F64": 3, "F8_E4M3": 4, "F8_E5M2": 6, "F8_E8M0": 11}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for dtype, form in dtypes.items():
        _, size, values = FORMATS[form]
        offsets = [len(data), len(data) + size * len(values)]
        one = {"dtype": dtype, "shape": [len(values)], "data_offsets": offsets}
        header[f"tensor.{dtype}"] = one
        yield safetensors({"x": {**one, "data_offsets": [0, size * len(values)]}}, elements(size, values))
        data += elements(size, values)
    yield safetensors(header, data)
    yield safetensors({"x": {"dtype": "F32", "shape": [0, 1 << 60], "data_offsets": [0, 0]}}, b"")
    yield safetensors({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1 << 63]}}, b"")
    yield struct.pack("<Q", 99_999_999) + b"{}"


SEEDS = {
    "bits": tensors,
    "bytes_api": calls,
    "masks": tensors,
    "readers": files,
    "reductions": tensors,
    "views": views,
}


def main():
    for target in sys.argv[1:] or SEEDS:
        if target not in SEEDS:
            sys.exit(f"seeds.py: no seeds for {target}: it knows {' '.join(SEEDS)}")
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        seeds = list(SEEDS[target]())
        kept = HERE / "corpora" / f"{target}.hex"
        if kept.exists():
            seeds += [bytes.fromhex(line) for line in kept.read_text().splitlines()]
        for i, seed in enumerate(seeds):
            (folder / f"seed-{i:04}").write_bytes(seed)
        print(f"{target}: {len(seeds)} seeds, {sum(map(len, seeds))} bytes")


main()
