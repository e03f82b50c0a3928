# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Looks at the initialisers of a model."""

from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from nonfinite.trace.model import Graph, Key
from nonfinite.trace.native import FLOATS, Library
from nonfinite.trace.results import Look


def bad_weights(library: Library, graph: Graph, folder: Path) -> dict[Key, Look]:
    """The initialisers and constants with a NaN or an infinity. Files are mapped, not read."""
    found = {}
    for key in graph.weights:
        look = weight_look(library, graph, key, folder)
        if look is not None and look.bad:
            found[key] = look
    return found


def weight_look(library: Library, graph: Graph, key: Key, folder: Path) -> Look | None:
    """What one initialiser holds. None if it has no floating-point type."""
    tensor = graph.weights[key]
    if tensor.data_type not in FLOATS:
        return None
    return library.look_at(
        key[1], _bytes(tensor, folder), tensor.data_type, tuple(tensor.dims)
    )


def _bytes(tensor: TensorProto, folder: Path) -> np.ndarray:
    if tensor.data_location == TensorProto.EXTERNAL:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = folder / entries["location"]
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", path.stat().st_size - offset))
        if length == 0:
            return np.empty(0, np.uint8)
        return np.memmap(path, np.uint8, "r", offset, (length,))
    if tensor.HasField("raw_data"):
        return np.frombuffer(tensor.raw_data, np.uint8)
    return np.ascontiguousarray(numpy_helper.to_array(tensor))
