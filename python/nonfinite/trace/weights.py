# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The initialisers of a model: where they are, and what they hold."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto, numpy_helper

from nonfinite.findings import Look
from nonfinite.trace.model import Graph, Key, constant, graphs_of
from nonfinite.trace.native import FLOATS, Library

# Smaller ones stay in the model: the runtime folds them.
LARGE = 1024


def moved_out(model: ModelProto, folder: Path) -> bool:
    """Moves large initialisers and constants into a file of the folder, so that copies of the model
    are small.

    Returns False, and moves none, if the model has weights in files already.
    """
    graphs = list(_graphs(model.graph))
    if any(each.data_location == TensorProto.EXTERNAL for graph in graphs
           for each in graph.initializer):  # fmt: skip
        return False
    for graph in graphs:
        # The runtime does the same when it loads a model.
        for index in reversed(range(len(graph.node))):
            tensor = constant(graph.node[index])
            if tensor is not None and len(tensor.raw_data) >= LARGE:
                graph.initializer.add().CopyFrom(tensor)
                graph.initializer[-1].name = graph.node[index].output[0]
                del graph.node[index]
    tensors = [tensor for graph in graphs for tensor in graph.initializer]
    with Path(folder, "weights.bin").open("wb") as file:
        for tensor in tensors:
            if len(tensor.raw_data) >= LARGE:
                onnx.external_data_helper.set_external_data(
                    tensor, "weights.bin", offset=file.tell(), length=len(tensor.raw_data)
                )
                file.write(tensor.raw_data)
                tensor.ClearField("raw_data")
    return True


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for _, inside in graphs_of(node):
            yield from _graphs(inside)


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
    return library.look_at(key[1], _bytes(tensor, folder), tensor.data_type, tuple(tensor.dims))


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
