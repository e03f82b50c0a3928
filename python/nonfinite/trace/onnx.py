# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""`trace_onnx`: runs a model, and names the node that made the first NaN or infinity.

1. Each node of the model gets a number as its name (`source.py`), and ONNX Runtime writes its
   optimised graph (level ALL; if the result does not load, EXTENDED, BASIC, and ORIGINAL: without
   optimisation).
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
import os
import tempfile
from collections.abc import Mapping, Sequence
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
from onnx import GraphProto, ModelProto

from nonfinite.findings import Look
from nonfinite.trace import inputs as inputs_
from nonfinite.trace.model import Key
from nonfinite.trace.names import untagged
from nonfinite.trace.native import Library
from nonfinite.trace.prepare import Prepared
from nonfinite.trace.report import Trace
from nonfinite.trace.run import Run
from nonfinite.trace.source import LEVELS, Source, TraceOptions
from nonfinite.trace.weights import bad_weights


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
        source = Source(path, Path(folder), TraceOptions(Library(), threads, custom_ops), allow)
        graph = source.model.graph
        options = dims or {}, shapes or {}, values or {}, seed
        given: Mapping[str, Any] = {} if inputs is None else inputs
        arrays = inputs_.complete(graph, given, *options)
        inputs_.fit(graph, arrays)
        random = {name: array for name, array in arrays.items() if name not in given}
        try:
            report = Tracer(source).trace(title, arrays, level, full)
        except Exception as error:
            for note in _what_to_give(graph, random):
                error.add_note(note)
            raise
    notes = [f"input {name} has no elements" for name, array in arrays.items() if not array.size]
    if random:
        notes.insert(0, f"the inputs are random: {inputs_.sizes(random)}")
    notes += [f"allow: no node and no output of a node has the name {name!r}"
              for name in source.unknown()]  # fmt: skip
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


class Tracer:
    """The runs of a model."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._notes: list[str] = []

    def trace(self, title: str, arrays: dict[str, Any], level: str | None, full: bool) -> Trace:
        """Runs the model, and once more as it is if a finding needs that."""
        source = self._source
        weights = bad_weights(source.options.library, source.original, source.folder)
        with closing(self._run(arrays, [level] if level else [*LEVELS], full)) as run:
            if run.prepared.level == "ORIGINAL" or level is not None or not run.unclear():
                return self._report(title, run, weights)
            try:
                inner = self._run(arrays, ["ORIGINAL"], True)
            except Exception as error:
                self._notes.append(f"the graph as it is does not run: {error}")
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
                    prepared = Prepared(self._source, level, written, all_tensors)
                    run = Run(self._source, prepared, arrays)
                    if all_tensors or run.settled:
                        return run
                    prepared.close()
            except Exception as error:
                if prepared is not None:
                    prepared.close()
                error.args = (untagged(self._source.original, str(error)),)
                if (level, written) == ways[-1]:
                    raise
                if level != "ORIGINAL":
                    reason = str(error).splitlines()[0][:200]
                    self._notes.append(f"the graph at level {level} does not run: {reason}")
        raise AssertionError("no level")

    def _report(self, title: str, run: Run, weights: dict[Key, Look]) -> Trace:
        first = run.first
        reached: tuple[str, ...] = ()
        if first is not None and first.event is not None:
            reaching = run.judge.reached(first.place)
            nodes = [node for place in reaching for node in run.names.nodes(place)]
            reached = tuple(dict.fromkeys(n.label for n in nodes if n not in first.nodes))
        if not run.prepared.keys:
            self._notes.append("no node of the graph that ran can make a NaN or an infinity")
        if any(row.bad_calls for row in run.rows) and len(run.events) >= 1 << 14:
            self._notes.append("only the first 16384 bad calls of sinks were kept")
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
            notes=tuple(self._notes),
        )
