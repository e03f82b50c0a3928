# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""`trace_onnx`: runs a model, and names the node that made the first NaN or infinity.

1. Each node of the model gets a number as its name, and ONNX Runtime writes its optimised graph
   (level ALL; if the result does not load, EXTENDED, BASIC, and ORIGINAL: without optimisation).
2. By the numbers and the names of tensors, each node and tensor of that graph is told as the one of
   the model for which it stands (`names.py`).
3. Sinks go behind nodes that can make bad values, also in the graphs of If, Loop and Scan
   (`prepare.py`).
4. The graph runs without further optimisation, so that what is looked at is what runs. If anything
   is bad, the graph runs again with a sink behind each float tensor (`run.py`).
5. The events in the table are judged (`origin.py`). Finite values are compared with the types of
   the model (`overflow.py`).
6. If a finding is in a fused node or a folded constant, the graph runs again at level ORIGINAL, to
   name the node inside.
"""

import dataclasses
import fnmatch
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_needed = ("numpy", "onnx", "onnxruntime", "nonfinite_onnxruntime")
if _missing := [name for name in _needed if find_spec(name) is None]:
    raise ImportError(
        f"trace_onnx needs packages that are not installed: {', '.join(_missing)}. In a checkout "
        "of nonfinite: pip install './python[trace]' ./engines/onnxruntime"
    )

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto

from nonfinite.trace import inputs as inputs_
from nonfinite.trace.model import Graph, Key, NodePlace
from nonfinite.trace.names import tag, untagged
from nonfinite.trace.native import FLOATS, Library
from nonfinite.trace.overflow import halves
from nonfinite.trace.prepare import LEVELS, Prepared, TraceOptions
from nonfinite.trace.report import Trace
from nonfinite.trace.results import Look
from nonfinite.trace.run import Run
from nonfinite.trace.weights import bad_weights, moved_out

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


def trace_onnx(
    model: str | os.PathLike[str] | ModelProto,
    inputs: Mapping[str, Any] | None = None,
    *,
    allow: Sequence[str] = (),
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, float] | None = None,
    seed: int = 0,
    threads: int | None = None,
    level: str | None = None,
    full: bool = False,
    custom_ops: Sequence[str] = (),
) -> Trace:
    """Runs an ONNX model, and names the node that made the first NaN or infinity.

    `inputs` has arrays by the names of inputs. Types that numpy lacks are passed as their bits
    (uint16 or uint8), or as arrays of ml_dtypes. Inputs without an array are random, of the model's
    shapes. Where the model leaves sizes open, `dims` gives them by the names of dimensions, and
    `shapes` gives shapes by the names of inputs. `values` gives numbers that fill inputs, such as a
    sample rate. A model that does not run with random inputs raises the error of the runtime, with
    a note of their shapes and values.

    `allow`: names of nodes or tensors, with `*` as in file names. Infinities from there are
    intended. `threads`: of the runtime. `level`: "ALL", "EXTENDED", "BASIC" or "ORIGINAL"; by
    default the first of them that works. `full`: look at all float tensors even if the model is
    clean, for a complete `Trace.peaks`. `custom_ops`: libraries of custom operators of the model.

    Needs onnx, onnxruntime 1.24 or later and the wheel nonfinite_onnxruntime. Raises ImportError
    without them, TypeError and ValueError for wrong arguments, and the errors of the runtime for a
    model that does not run.
    """
    if level is not None and level not in LEVELS:
        raise ValueError(f"level is {level!r}; it must be one of {', '.join(LEVELS)}")
    if threads is not None and threads < 0:
        raise ValueError(f"threads is {threads}; it must be a number of threads, or 0 for all CPUs")
    for name, names in (("allow", allow), ("custom_ops", custom_ops)):
        if isinstance(names, str):
            raise TypeError(f"{name} is the string {names!r}, and must be a list of strings")
    if not isinstance(model, (str, os.PathLike, ModelProto)):
        kind = type(model).__name__
        raise TypeError(f"model is a {kind}, and must be a path or an onnx.ModelProto")
    with tempfile.TemporaryDirectory(prefix="nonfinite-trace-") as folder:
        if isinstance(model, ModelProto):
            path, title = Path(folder, "model.onnx"), model.graph.name or "model"
            onnx.save(model, str(path))
        else:
            path, title = Path(model), os.fspath(model)
        tracer = Tracer(path, Path(folder), TraceOptions(Library(), threads, custom_ops), allow)
        graph = tracer.model.graph
        options = dims or {}, shapes or {}, values or {}, seed
        given: Mapping[str, Any] = {} if inputs is None else inputs
        arrays = inputs_.complete(graph, given, *options)
        inputs_.fit(graph, arrays)
        random = {name: array for name, array in arrays.items() if name not in given}
        try:
            report = tracer.trace(title, arrays, level, full)
        except Exception as error:
            for note in _what_to_give(graph, random):
                error.add_note(note)
            raise
    notes = [f"input {name} has no elements" for name, array in arrays.items() if not array.size]
    if random:
        notes.insert(0, f"the inputs are random: {inputs_.sizes(random)}")
    notes += [f"allow: no node and no output of a node has the name {name!r}"
              for name in tracer.unknown()]  # fmt: skip
    return dataclasses.replace(report, notes=(*notes, *report.notes))


def _what_to_give(graph: GraphProto, random: Mapping[str, np.ndarray]) -> list[str]:
    """What to do about random inputs that do not fit."""
    if not random:
        return []
    numbers = [
        f"The model compares {name} with {', '.join(map(str, dict.fromkeys(numbers)))}."
        for name, numbers in inputs_.compared(graph).items() if name in random
    ]  # fmt: skip
    return [
        f"the inputs were random: {inputs_.sizes(random)}. Give other shapes (--shape "
        "INPUT=1,512), numbers (--value INPUT=16000), or arrays (--input X.npz).", *numbers,
    ]  # fmt: skip


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


class Tracer:
    """A model and the options of its trace."""

    def __init__(
        self, path: Path, folder: Path, options: TraceOptions, allow: Sequence[str] = ()
    ) -> None:
        """`folder` is for large weights, if the model has none in files of its own."""
        loaded = load(path)
        self.folder = folder if moved_out(loaded, folder) else path.parent
        # A copy, as the loaded one keeps the memory of the weights.
        self.model = ModelProto.FromString(loaded.SerializeToString())
        self.options = options
        self.notes: list[str] = []
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

    def trace(
        self, title: str, arrays: dict[str, Any], level: str | None, full: bool
    ) -> Trace:
        """Runs the model, and once more as it is if a finding needs that."""
        weights = bad_weights(self.options.library, self.original, self.folder)
        with closing(self._run(arrays, [level] if level else [*LEVELS], full)) as run:
            if run.prepared.level == "ORIGINAL" or level is not None or not run.unclear():
                return self._report(title, run, weights)
            try:
                inner = self._run(arrays, ["ORIGINAL"], True)
            except Exception as error:
                self.notes.append(f"the graph as it is does not run: {error}")
                return self._report(title, run, weights)
            with closing(inner):
                if run.first is None:
                    return self._report(title, inner, weights)
                run.refine(inner)
                return self._report(title, run, weights)

    def _run(self, arrays: dict[str, Any], levels: Sequence[str], full: bool) -> Run:
        """The first of the levels that works. ORIGINAL: as the runtime writes the graph without
        optimising it, or else as it is."""
        ways = [(each, True) for each in levels]
        ways += [(each, False) for each in levels if each == "ORIGINAL"]
        for level, written in ways:
            prepared = None
            try:
                for all_tensors in (True,) if full else (False, True):
                    prepared = Prepared(self, level, written, all_tensors)
                    run = Run(self, prepared, arrays)
                    if all_tensors or run.settled:
                        return run
                    prepared.close()
            except Exception as error:
                if prepared is not None:
                    prepared.close()
                error.args = (untagged(self.original, str(error)),)
                if (level, written) == ways[-1]:
                    raise
                if level != "ORIGINAL":
                    reason = str(error).splitlines()[0][:200]
                    self.notes.append(f"the graph at level {level} does not run: {reason}")
        raise AssertionError("no level")

    def _report(self, title: str, run: Run, weights: dict[Key, Look]) -> Trace:
        first = run.first
        reached: tuple[str, ...] = ()
        if first is not None and first.event is not None:
            reaching = run.judge.reached(first.place)
            nodes = [node for place in reaching for node in run.names.nodes(place)]
            reached = tuple(dict.fromkeys(n.label for n in nodes if n not in first.nodes))
        if not run.prepared.keys:
            self.notes.append("no node of the graph that ran can make a NaN or an infinity")
        if any(row.bad_calls for row in run.rows) and len(run.events) >= 1 << 14:
            self.notes.append("only the first 16384 bad calls of sinks were kept")
        return Trace(
            model=title,
            level=run.prepared.level,
            first=first.finding if first else None,
            findings=tuple(each.finding for each in run.found),
            reached=reached,
            weights=tuple(weights.values()),
            bad_inputs=tuple(run.bad_inputs.values()),
            bad_outputs=tuple(run.bad_outputs()),
            peaks=tuple(run.peaks()),
            sinks=len(run.prepared.keys),
            notes=tuple(self.notes),
        )
