"""Model folders: their configuration, and the lists of tensors of their files."""

import json
import struct
from pathlib import Path


def write_config(folder, config):
    Path(folder, "config.json").write_text(json.dumps(config, indent=2))


def header(path):
    """Name, dtype, shape and place in the file of each tensor of a safetensors file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entries = json.loads(file.read(length))
    entries.pop("__metadata__", None)
    return {
        name: (entry["dtype"], entry["shape"], *(8 + length + x for x in entry["data_offsets"]))
        for name, entry in entries.items()
    }
