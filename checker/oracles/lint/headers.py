#!/usr/bin/env python3
"""Lints the headers of models of their true size: headers.py PROGRAM OUT.

Every class of transformers is made on the device `meta`, which has names and shapes and no memory,
and written as a file with a hole in the place of the numbers. `nonfinite lint --headers` must find
nothing in these files.
"""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import torch
import transformers
from transformers.models.auto import configuration_auto, modeling_auto

KINDS = ["CAUSAL_LM", "IMAGE_TEXT_TO_TEXT", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ"]
KINDS += ["MASKED_LM", "IMAGE_CLASSIFICATION"]
DTYPES = {
    torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64",
    torch.int64: "I64", torch.int32: "I32", torch.int8: "I8", torch.uint8: "U8",
    torch.bool: "BOOL", torch.complex64: "C64",
}  # fmt: skip
# The default configuration of LwDetr has layers without heads.
LEFT_OUT = {"LwDetrModel"}


def classes():
    """The types of models and their classes."""
    maps = [getattr(modeling_auto, f"MODEL_FOR_{kind}_MAPPING_NAMES", {}) for kind in KINDS]
    for kind in configuration_auto.CONFIG_MAPPING_NAMES:
        found = [names.get(kind) for names in [*maps, modeling_auto.MODEL_MAPPING_NAMES]]
        names = [x for each in found for x in ([each] if isinstance(each, str) else each or [])]
        yield from ((kind, name) for name in dict.fromkeys(names) if name not in LEFT_OUT)


def write(folder, model, config):
    header, seen, end = {}, set(), 0
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            start, end = end, end + tensor.numel() * tensor.element_size()
            shape = list(tensor.shape)
            entry = {"dtype": DTYPES[tensor.dtype], "shape": shape, "data_offsets": [start, end]}
            header[name] = entry
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config.to_json_string())
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def main():
    program, out, made, wrong = sys.argv[1], Path(sys.argv[2]), 0, 0
    for kind, name in classes():
        folder = out / f"{kind}.{name}"
        try:
            config = configuration_auto.CONFIG_MAPPING[kind]()
            with torch.device("meta"):
                model = getattr(transformers, name)(config)
        except Exception:  # A class that needs other packages, or more than its defaults.
            continue
        config.architectures = [name]
        write(folder, model, config)
        made += 1
        result = subprocess.run([program, "lint", "--headers", folder], capture_output=True)
        if result.returncode or b"warning[" in result.stdout:
            wrong += 1
            print(name, os.fsdecode(result.stdout + result.stderr)[:300])
    print(f"{made} classes, {wrong} with a finding")
    sys.exit(wrong > 0 or made < 200)


if __name__ == "__main__":
    main()
