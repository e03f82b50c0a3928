# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The model of a trace, and what the sessions of its runs need."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from google.protobuf.message import DecodeError
from onnx import ModelProto

from nonfinite.findings import Look
from nonfinite.trace.model import Graph, Key, NodePlace
from nonfinite.trace.names import tag
from nonfinite.trace.native import FLOATS, Library
from nonfinite.trace.overflow import halves
from nonfinite.trace.weights import moved_out

# Files of models that are often tried.
OTHERS = {
    ".pb": "a TensorFlow model",
    ".tflite": "a TensorFlow Lite model",
    ".mlmodel": "a Core ML model",
    ".pt": "a file of torch",
    ".pth": "a file of torch",
    ".safetensors": "a file of weights",
    ".gguf": "a GGUF model",
}

LEVELS = {
    "ALL": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
    "EXTENDED": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "BASIC": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "ORIGINAL": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
}


class TraceOptions:
    """What the sessions of a trace need."""

    def __init__(self, library: Library, threads: int | None, custom: Sequence[str]) -> None:
        self.library = library
        self._threads = threads
        self._custom = list(custom)

    def make(self, level: str) -> ort.SessionOptions:
        """New options of a session."""
        options = ort.SessionOptions()
        options.graph_optimization_level = LEVELS[level]
        options.log_severity_level = 4
        if self._threads is not None:
            options.intra_op_num_threads = self._threads
        for path in self._custom:
            options.register_custom_ops_library(path)
        return options


def _has(nodes: Iterable[NodePlace], pattern: str) -> bool:
    """Whether a node or one of its outputs has a name of the allow-list."""
    names = (name for node in nodes for name in (node.label, *node.proto.output))
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def load(path: Path) -> ModelProto:
    """The model without its external weights. Raises ValueError for a file that is no model."""
    other_format = OTHERS.get(path.suffix.lower())
    if other_format and path.exists():
        raise ValueError(f"{path} is {other_format}, no ONNX model: convert it to ONNX first")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except DecodeError as error:
        raise ValueError(f"{path} is no ONNX model: {error}") from error
    if not model.ir_version or not model.HasField("graph"):
        raise ValueError(f"{path} is no ONNX model: it has no version or no graph")
    return model


class Source:
    """A model whose nodes are tagged, and the options of its trace."""

    def __init__(
        self, path: Path, folder: Path, options: TraceOptions, allow: Sequence[str] = ()
    ) -> None:
        """`folder` is for large weights, if the model has none in files of its own."""
        loaded = load(path)
        self.folder = folder if moved_out(loaded, folder) else path.parent
        # A copy, as the loaded one keeps the memory of the weights.
        self.model = ModelProto.FromString(loaded.SerializeToString())
        self.options = options
        self.original = Graph(self.model)
        self.halves = halves(self.model, self.original)
        self.given = {key[1] for key in (*self.original.weights, *self.original.inputs)}
        """The names of weights and inputs."""
        tag(self.original)
        self._allow = list(allow)

    def allowed(self, nodes: Sequence[NodePlace]) -> bool:
        """Whether the allow-list has a node of the model or one of its outputs."""
        return any(_has(nodes, each) for each in self._allow)

    def unknown(self) -> list[str]:
        """The names of the allow-list that nothing in the model has."""
        return [each for each in self._allow if not _has(self.original.places, each)]

    def looks(self, arrays: Mapping[str, np.ndarray]) -> dict[Key, Look]:
        """What the floating-point inputs hold."""
        found = {}
        for value in self.model.graph.input:
            element = value.type.tensor_type.elem_type
            if value.name in arrays and element in FLOATS:
                array = arrays[value.name]
                look = self.options.library.look_at(value.name, array, element, array.shape)
                if look is not None:
                    found["", value.name] = look
        return found
