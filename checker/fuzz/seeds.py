"""Seeds of the readers' fuzz targets and of lint: files as their writers write them."""

import json
import struct
import zipfile

from onnx_seeds import onnx_files
from parts import F32, F32_COUNT, FORMATS, METHODS, archive, elements
from sets import checkpoint_files, index_files


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


def models():
    """Inputs of src/lint.rs: a configuration, and tensors by the numbers of its tables."""

    def tensor(module, ending, dtype, axes, fill, other=None, place=0):
        a, b, c, d = (*axes, 0, 0, 0, 0)[:4]
        other = fill if other is None else other
        head = (module, ending, dtype + 16 * len(axes), a + 16 * b, c + 16 * d)
        return bytes([*head, fill, other, place])

    def config(**quantization):
        return json.dumps({"torch_dtype": "float16", "quantization_config": quantization}).encode()

    nvfp4 = config(quant_method="modelopt", ignore=["lm_head", "re:.*gate$", "*.norm*"])
    blocks = config(quant_method="fp8", weight_block_size=[128, 128], scale_fmt="ue8m0")
    gptq = config(quant_method="gptq", bits=4, group_size=64, sym=True)
    mlx = json.dumps({"quantization": {"bits": 4, "group_size": 64, "a": {"bits": 8}}}).encode()
    groups = {"g": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 16}}}
    packed = config(quant_method="compressed-tensors", config_groups=groups)
    for scale in (0x38, 0x7F, 0, 0xB8, 0x7E):
        layouts = [
            (nvfp4, [(1, 0, (9, 7), 0x21), (3, 2, (9, 2), scale), (5, 9, (1,), scale)]),
            (packed, [(2, 0, (9, 7), 0x21), (3, 2, (9, 2), scale), (6, 9, (), scale)]),
            (blocks, [(1, 2, (13, 14), 0x38), (4, 9, (1, 2), scale)]),
            (b"{}", [(21, 0, (2, 4, 1, 7), 0x12), (23, 0, (2, 4, 1), scale)]),
            (gptq, [(26, 10, (5, 5), 0x78), (27, 10, (1, 1), 0x88), (24, 6, (1, 5), scale)]),
            (gptq, [(26, 10, (5, 5), 0x78), (24, 6, (1, 5), scale), (28, 10, (10,), scale)]),
            (mlx, [(1, 11, (4, 5), 0x12), (24, 6, (4, 1), scale), (25, 6, (4, 1), scale)]),
            (b"{}", [(1, 0, (9, 1), 0x12), (31, 9, (1,), scale), (33, 9, (7,), 0x3C)]),
            (b"{}", [(15, 9, (1,), scale), (16, 9, (1,), 0x3C)]),
        ]
        for text, tensors in layouts:
            of = [tensor(m, *more) for m in (1, 2, 9, 10) for more in tensors]
            yield text + b"\0" + b"".join(of)
            e, dtype, axes, fill = tensors[-1]
            yield text + b"\0" + b"".join(of) + tensor(3, e, dtype, axes, fill, 0xFF, 1)


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


SEEDS = {
    "lint": models,
    "read_checkpoint": checkpoint_files,
    "read_gguf": gguf_files,
    "read_index": index_files,
    "read_npy": npy_files,
    "read_npz": npz_files,
    "read_onnx": onnx_files,
    "read_pytorch": pytorch_files,
    "read_safetensors": safetensors_files,
}
