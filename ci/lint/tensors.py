#!/usr/bin/env python3
"""Prints `folder: name dtype shape` for each tensor of model folders: ci/lint/tensors.py OUT."""

import json
import sys
from pathlib import Path

from folder import header


def shown(folder):
    for path in sorted(folder.glob("*.safetensors")):
        for name, (dtype, shape, *_) in header(path).items():
            yield f"{folder.name}: {name} {dtype} {shape}"
    for path in sorted(folder.glob("*.gguf")):
        from gguf import GGUFReader

        for tensor in GGUFReader(path).tensors:
            shape = [int(x) for x in tensor.shape[::-1]]
            yield f"{folder.name}: {tensor.name} {tensor.tensor_type.name} {shape}"
    for path in sorted(folder.glob("*.onnx")):
        import onnx

        for tensor in onnx.load(path).graph.initializer:
            dtype = onnx.TensorProto.DataType.Name(tensor.data_type)
            yield f"{folder.name}: {tensor.name} {dtype} {list(tensor.dims)}"


for folder in sorted(Path(sys.argv[1]).iterdir()):
    if folder.is_dir():
        for line in shown(folder):
            print(line)
        for path in sorted(folder.glob("*.json")):
            if not path.name.endswith("index.json"):
                config = json.loads(path.read_text())
                keys = ("quantization", "quantization_config", "quant_method", "torch_dtype",
                        "dtype", "tie_word_embeddings", "producer")  # fmt: skip
                kept = {key: config[key] for key in keys if key in config}
                print(f"{folder.name}: {path.name} {json.dumps(kept)}")
