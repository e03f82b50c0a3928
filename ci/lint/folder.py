"""Model folders: how they are written, and how they are listed."""

import json
import struct
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file


INDEX = "model.safetensors.index.json"


def write(folder, tensors, config=None, shards=1, metadata=None):
    """Writes `tensors` (name to numpy array) as safetensors, with an index if `shards` > 1."""
    folder = Path(folder)
    folder.mkdir(parents=True)
    metadata = metadata or {"format": "pt"}
    tensors = {name: contiguous(array) for name, array in tensors.items()}
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata)
    else:
        names, weight_map = list(tensors), {}
        for number in range(shards):
            file = f"model-{number + 1:05}-of-{shards:05}.safetensors"
            part = names[number * len(names) // shards : (number + 1) * len(names) // shards]
            save_file({name: tensors[name] for name in part}, folder / file, metadata)
            weight_map |= dict.fromkeys(part, file)
        write_index(folder, weight_map, sum(array.nbytes for array in tensors.values()))
    if config is not None:
        write_config(folder, config)


def contiguous(array):
    # numpy.ascontiguousarray turns a scalar into a row.
    array = np.asarray(array)
    return array if array.flags.c_contiguous else array.copy(order="C")


def write_index(folder, weight_map, size):
    index = {"metadata": {"total_size": size}, "weight_map": weight_map}
    Path(folder, INDEX).write_text(json.dumps(index, indent=2))


def write_config(folder, config, file="config.json"):
    Path(folder, file).write_text(json.dumps(config, indent=2))


def read_config(folder):
    return json.loads(Path(folder, "config.json").read_text())


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
