#!/usr/bin/env python3
"""Writes the first corpus of each fuzz target: fuzz/seeds.py [TARGET...]

The inputs are made of the special values of every format. They go to fuzz/corpus/TARGET/seed-*,
beside the findings of cargo-fuzz, together with the kept inputs of long runs from
fuzz/corpora/TARGET.hex (see minimise). To add a target, write a generator of its inputs in SEEDS
below. It may yield any bytes that the target can decode.
"""

import io
import itertools
import json
import struct
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent

# In the order of nonfinite::Format::ALL: name, bytes, and the codes of special elements by
# ml_dtypes and IEEE 754: zero, one, the least subnormal, the largest number, NaN and infinities,
# and their neighbours.
FORMATS = [
    (
        "f16",
        2,
        [0x0000, 0x3C00, 0x0001, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0xFC01, 0x7E00, 0xFFFF],
    ),
    (
        "bf16",
        2,
        [0x0000, 0x3F80, 0x0001, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7F81, 0xFF81, 0x7FC0, 0xFFFF],
    ),
    (
        "f32",
        4,
        [
            0x00000000,
            0x3F800000,
            0x00000001,
            0x7F7FFFFF,
            0xFF7FFFFF,
            0x7F800000,
            0xFF800000,
            0x7F800001,
            0xFF800001,
            0x7FC00000,
            0x7FFFFFFF,
            0xFFFFFFFF,
        ],
    ),
    (
        "f64",
        8,
        [
            0x0000000000000000,
            0x3FF0000000000000,
            0x0000000000000001,
            0x7FEFFFFFFFFFFFFF,
            0xFFEFFFFFFFFFFFFF,
            0x7FF0000000000000,
            0xFFF0000000000000,
            0x7FF0000000000001,
            0x7FF0000080000000,
            0x7FF00000FFFFFFFF,
            0xFFF0000000000001,
            0x7FF0000100000000,
            0x7FF8000000000000,
            0xFFFFFFFFFFFFFFFF,
        ],
    ),
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
PREDICATES = 8


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
            # Several groups of finite elements and a rest, with one special byte near the end.
            clean = elements(size, [values[0]] * 7 + [values[1]] * 4)
            yield tensor(
                form,
                predicate,
                clean,
                start,
                bit,
                repeats=200,
                at=1999 * size % (2200 * size),
                value=0xFF,
            )
        for value in values:
            yield tensor(form, 0, elements(size, [value]), repeats=131, start=3, bit=3)


def nulls():
    """A Nulls of src/nulls.rs: bit, repeats - 1 and a pattern, then a Tensor."""
    patterns = [b"\xff" * 8, bytes(8), b"\x55\xff\x00\x01\x80\x7f\xfe\xaa"]
    for turn, data in enumerate(tensors()):
        yield bytes([turn % 64, (0, 7, 63, 255)[turn % 4]]) + patterns[turn % 3] + data


def calls():
    """A Call of fuzz_targets/bytes_api.rs: the excess plus 3, the kind of offset, the offset."""
    for form, (_, size, values) in enumerate(FORMATS):
        for excess, cut in itertools.product((0, 2, 3, 4), (0, 1)):
            data = elements(size, values)[cut:]
            yield struct.pack("<BBBBB", form, form % PREDICATES, excess, 0, 9) + data
            yield struct.pack("<BBBBH", form, 4, excess, 2, 3) + data


def views():
    """A Strided of src/strided.rs: format, predicate, rank, a byte for each size, others."""
    for form, (_, size, values) in enumerate(FORMATS):
        for sizes in (
            [],
            [6],
            [241],
            [5, 6],
            [3, 242],
            [2, 3, 4],
            [6, 1, 5, 2],
            [0, 3],
            [2, 2, 2, 2, 2, 2],
        ):
            # No other output sizes; orders, choices and slack of two layouts; not short.
            layout = b"\xff" + bytes([7] * (2 * len(sizes))) + b"\xff"
            head = bytes([form, form % PREDICATES, len(sizes), *sizes, 0xFF])
            yield head + layout + layout + b"\xff" + elements(size, values)


def npy(descr, shape, data, order="False", version=1):
    head = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    length = "<H" if version == 1 else "<I"
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(length, len(head)) + head + data


def npy_files():
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


def safetensors_files():
    def safetensors(header, data):
        head = json.dumps(header).encode()
        return struct.pack("<Q", len(head)) + head + data

    dtypes = {"F16": 0, "BF16": 1, "F32": 2, "F64": 3, "F8_E4M3": 4, "F8_E5M2": 6, "F8_E8M0": 11}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for dtype, form in dtypes.items():
        _, size, values = FORMATS[form]
        offsets = [len(data), len(data) + size * len(values)]
        one = {"dtype": dtype, "shape": [len(values)], "data_offsets": offsets}
        header[f"tensor.{dtype}"] = one
        yield safetensors(
            {"x": {**one, "data_offsets": [0, size * len(values)]}}, elements(size, values)
        )
        data += elements(size, values)
    yield safetensors(header, data)
    yield safetensors({"x": {"dtype": "F32", "shape": [0, 1 << 60], "data_offsets": [0, 0]}}, b"")
    yield safetensors({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1 << 63]}}, b"")
    yield struct.pack("<Q", 99_999_999) + b"{}"


def archive(members, method=zipfile.ZIP_STORED):
    """A zip archive, the same bytes every time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            out.writestr(info, data)
    return file.getvalue()


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
F32 = elements(4, FORMATS[2][2])
F32_COUNT = len(FORMATS[2][2])


def npz_files():
    arrays = {
        "a.npy": npy("<f4", f"({F32_COUNT},)", F32),
        "b.npy": npy("<i8", "(2,)", bytes(16)),
        "note": b"text",
    }
    for method in METHODS:
        yield archive(arrays, method)
        yield archive(
            {"a.npy": npy(">f4", f"(2, {F32_COUNT // 2})", F32, order="True", version=2)}, method
        )


def gguf_files():
    """Version 3: metadata; name, extents, type, offset of each tensor; data aligned to 32."""
    for order in "<>":

        def text(value):
            return struct.pack(order + "Q", len(value)) + value.encode()

        def number(*values):
            return struct.pack(order + "I" * len(values), *values)

        def long(*values):
            return struct.pack(order + "Q" * len(values), *values)

        metadata = [
            text("general.architecture") + number(8) + text("llama"),
            text("strings") + number(9, 8) + long(2) + text("a") + text("b"),
            text("numbers") + number(9, 4) + long(2) + number(1, 2),
            text("general.alignment") + number(4, 32),
        ]
        # ggml types: F32, F16, F64, BF16, Q4_0, Q8_0. The last two: blocks of 32, an f16 scale.
        kinds = [(0, 2, 1), (1, 0, 1), (28, 3, 1), (30, 1, 1), (2, None, 18), (8, None, 34)]
        infos, data = [], b""
        for kind, form, size in kinds:
            if form is None:
                extents, bits = [32, 2], struct.pack(order + "HH", 0x3C00, 0x7E00)
                content = b"".join(scale + bytes(size - 2) for scale in (bits[:2], bits[2:]))
            else:
                _, size, values = FORMATS[form]
                content = b"".join(
                    value.to_bytes(size, "little" if order == "<" else "big") for value in values
                )
                extents = [len(values)]
            infos.append(
                text(f"t{kind}")
                + number(len(extents))
                + long(*extents)
                + number(kind)
                + long(len(data))
            )
            data += content + bytes(-len(content) % 32)
        head = b"GGUF" + number(3) + long(len(infos), len(metadata)) + b"".join(metadata + infos)
        yield head + bytes(-len(head) % 32) + data


def onnx_files():
    """ModelProto by hand: each field is a number and kind, and a value or a length and bytes."""

    def varint(value):
        parts = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
        return bytes([part | 0x80 for part in parts[:-1]] + parts[-1:])

    def number(field, value):
        return varint(field << 3) + varint(value)

    def message(field, *parts):
        return varint(field << 3 | 2) + varint(sum(map(len, parts))) + b"".join(parts)

    def model(*graph):
        return number(1, 9) + message(7, *graph) + message(8, number(2, 20))

    def tensor(name, code, count, *content):
        return number(1, count) + number(2, code) + b"".join(content) + message(8, name)

    def attribute(name, *content):
        return message(5, message(1, name), *content)

    def node(operator, *attributes):
        return message(1, message(2, b"y"), message(4, operator), *attributes)

    whole = []
    types = {10: 0, 16: 1, 1: 2, 11: 3, 17: 4, 18: 5, 19: 6, 20: 7, 24: 11}
    for code, form in types.items():
        _, size, values = FORMATS[form]
        raw = tensor(b"raw", code, len(values), message(9, elements(size, values)))
        # Fields of f32, f64, and int32 for narrower types.
        field = {4: 4, 8: 10}.get(size)
        packed = (
            message(field, elements(size, values)) if field else message(5, *map(varint, values))
        )
        whole += [message(5, raw), message(5, tensor(b"packed", code, len(values), packed))]
        yield model(*whole[-2:])
    inner = message(5, tensor(b"inner", 1, 1, message(9, F32[-4:])))
    whole += [
        node(
            b"Constant", attribute(b"value", message(5, tensor(b"", 1, F32_COUNT, message(9, F32))))
        ),
        node(b"Constant", attribute(b"value_float", varint(2 << 3 | 5), F32[-4:])),
        node(b"Constant", attribute(b"value_floats", message(7, F32))),
        node(
            b"If",
            attribute(b"then_branch", message(6, inner)),
            attribute(b"else_branch", message(6, inner)),
        ),
        message(15, message(1, tensor(b"sparse", 1, F32_COUNT, message(9, F32)))),
    ]
    yield model(*whole)
    function = message(
        25,
        message(1, b"f"),
        message(7, node(b"Constant", attribute(b"value_floats", message(7, F32)))[2:]),
    )
    yield model(inner) + message(20, message(1, inner), message(2, inner)) + function
    external = [message(13, message(1, b"location"), message(2, b"weights")), number(14, 1)]
    yield model(message(5, tensor(b"external", 1, 1, *external)))


def pytorch_files():
    """What torch.save writes: pickles of calls, and their storages."""

    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value

    def integers(values):
        return b"(" + b"".join(b"J" + struct.pack("<i", value) for value in values) + b"t"

    def storage(kind, key, count):
        return (
            b"("
            + text(b"storage")
            + b"ctorch\n"
            + kind
            + b"\n"
            + text(key)
            + text(b"cpu")
            + b"K"
            + bytes([count])
            + b"tQ"
        )

    def tensor(kind, count, shape, strides, key=b"0", offset=0):
        start = (
            b"ctorch._utils\n_rebuild_tensor_v2\n("
            + storage(kind, key, count)
            + b"K"
            + bytes([offset])
        )
        return start + integers(shape) + integers(strides) + b"\x89ccollections\nOrderedDict\n)RtR"

    def state(**entries):
        return (
            b"\x80\x02}q\x00("
            + b"".join(text(key.encode()) + value for key, value in entries.items())
            + b"u."
        )

    def saved(pickle, *storages, order=b"little", method=zipfile.ZIP_STORED):
        members = {"m/data.pkl": pickle, "m/byteorder": order, "m/version": b"3\n"}
        return archive(
            members | {f"m/data/{key}": data for key, data in enumerate(storages)}, method
        )

    kinds = [
        (b"HalfStorage", 0),
        (b"BFloat16Storage", 1),
        (b"FloatStorage", 2),
        (b"DoubleStorage", 3),
    ]
    for kind, form in kinds:
        _, size, values = FORMATS[form]
        count = len(values)
        yield saved(state(w=tensor(kind, count, [count], [1])), elements(size, values))
    flat = b"FloatStorage"
    views = state(
        transposed=tensor(flat, 12, [4, 3], [1, 4]),
        gaps=tensor(flat, 12, [3, 2], [4, 2], offset=1),
        expanded=tensor(flat, 12, [5, 12], [0, 1]),
        scalar=tensor(flat, 12, [], [], offset=11),
        nested=b"]("
        + tensor(flat, 12, [12], [1])
        + b"}"
        + text(b"x")
        + tensor(flat, 12, [0], [1])
        + b"se",
        parameter=b"ctorch._utils\n_rebuild_parameter\n("
        + tensor(flat, 12, [12], [1])
        + b"\x88}tR",
        module=b"cmy\nNet\n)\x81}"
        + text(b"weight")
        + tensor(b"LongStorage", 1, [1], [1], key=b"1")
        + b"sb",
        epoch=b"K\x05",
    )
    for method in METHODS:
        yield saved(views, F32, bytes(8), b"unused", method=method)
    yield saved(state(w=tensor(flat, 12, [12], [1])), F32, order=b"big")
    v3 = b"ctorch._utils\n_rebuild_tensor_v3\n(" + storage(b"UntypedStorage", b"0", 9) + b"K\x00"
    v3 += integers([9]) + integers([1]) + b"\x89}ctorch\nfloat8_e4m3fn\ntR"
    yield saved(state(w=v3), elements(1, FORMATS[4][2]))
    # Protocol 4: a memo without numbers, names from the stack.
    yield saved(
        b"\x80\x04\x95"
        + bytes(8)
        + b"}\x94\x8c\x01w\x94\x8c\x03abc\x94\x8c\x01d\x94\x93\x94)R\x94s."
    )


def replacements():
    """Three codes, then a Tensor."""
    for form, (_, size, values) in enumerate(FORMATS):
        codes = struct.pack("<QQQ", values[0], values[1], values[2])
        yield codes + tensor(form, 0, elements(size, values), 7 * form % 64)
        yield codes + tensor(form, 0, elements(size, values), 3, repeats=60, at=500, value=0xFF)


def arrow_files():
    return written("arrow_files")


def parquet_files():
    return written("parquet_files")


def written(files):
    """What pyarrow writes, where it is installed; corpora/ has some such files anyway."""
    try:
        import tables
    except ImportError as error:
        print(f"seeds.py: no {files} but those of corpora/: {error}", file=sys.stderr)
        return []
    return getattr(tables, files)()


def bare():
    """For inputs without a fixed layout: an empty one, and ones with some bytes of every kind."""
    yield b""
    yield bytes(range(256))
    for step in (3, 5, 7):
        yield bytes(i * step % 256 for i in range(512))


SEEDS = {
    "attributes": bare,
    "bits": tensors,
    "bytes_api": calls,
    "capi": bare,
    "capi_views": bare,
    "descriptors": bare,
    "masks": tensors,
    "nulls": nulls,
    "read_arrow": arrow_files,
    "read_gguf": gguf_files,
    "read_npy": npy_files,
    "read_npz": npz_files,
    "read_onnx": onnx_files,
    "read_parquet": parquet_files,
    "read_pytorch": pytorch_files,
    "read_safetensors": safetensors_files,
    "reductions": tensors,
    "replace": replacements,
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
