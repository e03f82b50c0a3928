# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""`trace_onnx`: runs a model, and names the node that made the first NaN or infinity.

1. ONNX Runtime writes its optimised graph (level ALL; if the result does not load, EXTENDED, BASIC,
   and the graph as it is).
2. Sinks go behind nodes that can make bad values, also in the graphs of If, Loop and Scan
   (`prepare.py`).
3. The graph runs without further optimisation, so that what is looked at is what runs. If anything
   is bad, the graph runs again with a sink behind each float tensor.
4. The events in the table are judged (`origin.py`), and named as in the original (`names.py`).
5. If the first finding is a fused node or a folded constant, the graph runs again as it is, to
   name the node inside.
"""

import dataclasses
import fnmatch
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import onnx
    import onnxruntime  # noqa: F401
    from google.protobuf.message import DecodeError
    from onnx import ModelProto
except ImportError as error:
    raise ImportError(
        f"trace_onnx needs other packages: pip install onnx onnxruntime ({error})"
    ) from error

from nonfinite.trace import inputs as inputs_
from nonfinite.trace.model import Graph, Key, Place
from nonfinite.trace.names import Names
from nonfinite.trace.native import FLOATS, Library, Row
from nonfinite.trace.origin import Judge, Judged, looks_of
from nonfinite.trace.picture import picture
from nonfinite.trace.prepare import LEVELS, Options, Prepared
from nonfinite.trace.report import Report
from nonfinite.trace.results import (
    ENTRY,
    INTENDED,
    NAN_FROM_INF,
    ORIGIN,
    PROPAGATION,
    Finding,
    Look,
    Node,
    Peak,
)
from nonfinite.trace.weights import bad_weights, weight_look

BAD = (ORIGIN, NAN_FROM_INF, ENTRY)


def trace_onnx(
    model: str | os.PathLike[str] | ModelProto,
    inputs: Mapping[str, Any] | None = None,
    *,
    allow: Sequence[str] = (),
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    threads: int | None = None,
    level: str | None = None,
    full: bool = False,
    custom_ops: Sequence[str] = (),
) -> Report:
    """Runs an ONNX model, and names the node that made the first NaN or infinity.

    `inputs` has an array for each input. Types that numpy lacks are passed as their bits (uint16 or
    uint8), or as arrays of ml_dtypes. Without `inputs` they are random, of the model's shapes;
    `dims` gives sizes by the names of open dimensions, and `shapes` gives shapes by the names of
    inputs. Other open dimensions are 1 (the first one of an input) or 32.

    `allow`: names of nodes or tensors, with `*` as in file names. Infinities from there are
    intended. `threads`: of the runtime. `level`: "ALL", "EXTENDED", "BASIC" or "ORIGINAL"; by
    default the first of them that works. `full`: look at all float tensors even if the model is
    clean, for a complete `Report.peaks`. `custom_ops`: libraries of custom operators of the model.

    Needs onnx, onnxruntime 1.24 or later and the wheel nonfinite_onnxruntime. Raises ImportError
    without them, TypeError and ValueError for wrong arguments, and the errors of the runtime for a
    model that does not run.
    """
    if level is not None and level not in LEVELS:
        raise ValueError(f"level is {level!r}; it must be one of {', '.join(LEVELS)}")
    if threads is not None and threads < 0:
        raise ValueError(f"threads is {threads}; it must be a number of threads, or 0 for all CPUs")
    for name, given in (("allow", allow), ("custom_ops", custom_ops)):
        if isinstance(given, str):
            raise TypeError(f"{name} is the string {given!r}, and must be a list of strings")
    if not isinstance(model, (str, os.PathLike, ModelProto)):
        kind = type(model).__name__
        raise TypeError(f"model is a {kind}, and must be a path or an onnx.ModelProto")
    with tempfile.TemporaryDirectory(prefix="nonfinite-trace-") as folder:
        if isinstance(model, ModelProto):
            path, title = Path(folder, "model.onnx"), model.graph.name or "model"
            onnx.save(model, str(path))
        else:
            path, title = Path(model), os.fspath(model)
        tracer = Tracer(path, Options(Library(), threads, custom_ops), allow)
        graph = tracer.model.graph
        if inputs is None:
            arrays = inputs_.random(graph, dims or {}, shapes or {}, seed)
            made = ", ".join(f"{name} {list(array.shape)}" for name, array in arrays.items())
            tracer.notes.append(f"the inputs are random: {made}")
        else:
            if dims or shapes:
                raise ValueError("dims and shapes are for random inputs; the arrays have shapes")
            arrays = inputs_.checked(graph, inputs)
        inputs_.fit(graph, arrays)
        tracer.notes += [
            f"input {name} has no elements" for name, array in arrays.items() if not array.size
        ]
        report = tracer.trace(title, arrays, level, full)
    # Casts that the runtime inserts have the name of the node itself.
    first = report.first.node if report.first else None
    return dataclasses.replace(report, reached=tuple(n for n in report.reached if n != first))


def load(path: Path) -> ModelProto:
    """The model without its external weights. Raises ValueError for a file that is no model."""
    try:
        model = onnx.load(str(path), load_external_data=False)
    except DecodeError as error:
        raise ValueError(f"{path} is no ONNX model: {error}") from error
    if not model.ir_version or not model.HasField("graph"):
        raise ValueError(f"{path} is no ONNX model: it has no version or no graph")
    return model


class Run:
    """One run of the model at a level, with its findings."""

    def __init__(self, tracer: "Tracer", prepared: Prepared, arrays: dict[str, Any]) -> None:
        assert prepared.table is not None
        self.prepared = prepared
        self.graph = prepared.graph
        library = tracer.options.library
        self.weights = bad_weights(library, self.graph, prepared.weights_folder)
        self.looks = tracer.looks(arrays)
        self.bad_inputs = {key: look for key, look in self.looks.items() if look.bad}
        prepared.run(inputs_.feeds(tracer.model.graph, arrays))
        self.events = prepared.table.events()
        self.rows = prepared.table.rows()
        constants = self.weights | self.bad_inputs
        judge = Judge(self.graph, prepared.keys, self.events, constants, tracer.allowed)
        self.judge = judge
        self.found = [self._finding(tracer, each) for each in judge.judged
                      if each.kind != PROPAGATION]
        places = {each.place: each for each in judge.judged}
        self.intended = {
            key for place, each in places.items() if each.intended
            for key in self.graph.outputs_of(place)
        }

    def _finding(self, tracer: "Tracer", judged: Judged) -> tuple[Judged, Finding]:
        place, graph = judged.place, self.graph
        library, folder = tracer.options.library, self.prepared.weights_folder
        known = dict(self.looks)
        for key in graph.inputs_of(place):
            if key in graph.weights and (look := weight_look(library, graph, key, folder)):
                known[key] = look
        inputs, outputs = looks_of(
            graph, place, judged.event, self.prepared.keys, self.prepared.numbers, self.rows,
            self.events, known,
        )  # fmt: skip
        covers = tracer.names.covered(graph, place)
        covers = covers or (Node(place.label, place.proto.op_type),)
        _, ends = self.judge.reached(place)
        return judged, Finding(
            kind=judged.kind,
            node=covers[0].name,
            operator=covers[0].operator,
            graph=place.scope.path,
            call=judged.event.call,
            inputs=inputs,
            outputs=outputs,
            reaches=bool(ends),
            covers=covers,
            ran_as=place.proto.op_type,
            sources=judged.sources,
            sequence=judged.event.sequence,
            key="\0".join((place.scope.path, place.label)),
        )

    @property
    def settled(self) -> bool:
        """Whether a run that did not look at all tensors has shown that nothing is bad.

        A bad element is carried on to the tensors that were looked at, except to one without
        elements.
        """
        empty = any(row.calls and not row.look.elements for row in self.rows)
        return not (self.events or self.weights or self.bad_inputs or empty)

    @property
    def findings(self) -> list[Finding]:
        return [finding for _, finding in self.found]

    @property
    def first(self) -> tuple[Judged, Finding] | None:
        """The earliest finding that is bad and reaches an output.

        An input with -Inf only, such as a mask, is passed over if a NaN came later.
        """
        bad = [each for each in self.found if each[1].kind in BAD and each[1].reaches]
        return bad[0] if bad else None

    def bad_outputs(self) -> list[str]:
        """The outputs of the model that are bad, without intended masks."""
        bad = {self.prepared.keys[event.number] for event in self.events} - self.intended
        constants = self.weights | self.bad_inputs
        bad |= {key for key, look in constants.items() if not look.only_minus_inf}
        graph = self.graph
        outputs = graph.main.graph.output
        return [value.name for value in outputs if graph.key(graph.main, value.name) in bad]


class Tracer:
    """A model and the options of its trace."""

    def __init__(self, path: Path, options: Options, allow: Sequence[str]) -> None:
        self.path, self.options = path, options
        self.notes: list[str] = []
        self.model = load(path)
        self.original = Graph(self.model)
        self.names = Names(self.original)
        self._allow = list(allow)

    def allowed(self, place: Place) -> bool:
        """Whether the allow-list has the node or one of its outputs."""
        names = [place.label, *place.proto.output]
        names += [each.name for each in self._labels(place)] if self._allow else []
        return any(fnmatch.fnmatchcase(name, each) for name in names for each in self._allow)

    def _labels(self, place: Place) -> list[Node]:
        makers = self.names.makers_of(place)
        return [Node(each.label, each.proto.op_type) for each in makers]

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
    ) -> Report:
        """Runs the model, and once more as it is if the first finding needs that."""
        weights = bad_weights(self.options.library, self.original, self.path.parent)
        prepared, run = self._run(arrays, [level] if level else list(LEVELS), full)
        try:
            report = self._report(title, run, weights)
            first = report.first
            if run.prepared.level == "ORIGINAL" or level is not None:
                return report
            if first is None:
                # Nodes may have become a bad constant, which is an output of the model.
                folded = bool(report.bad_outputs and run.weights.keys() - weights.keys())
            else:
                folded = any(("", look.name) not in weights for look in first.sources
                             if ("", look.name) not in run.looks)
            if not folded and (first is None or len(first.covers) == 1):
                return report
        finally:
            prepared.close()
        return self._refined(report, first, folded, arrays, weights)

    def _run(
        self, arrays: dict[str, Any], levels: Sequence[str], full: bool
    ) -> tuple[Prepared, Run]:
        """The first of the levels that works."""
        for level in levels:
            prepared = None
            try:
                for all_tensors in (True,) if full else (False, True):
                    prepared = Prepared(self.options, self.path, level, all_tensors)
                    run = Run(self, prepared, arrays)
                    if all_tensors or run.settled:
                        return prepared, run
                    prepared.close()
            except Exception as error:
                if prepared is not None:
                    prepared.close()
                if level == levels[-1]:
                    raise
                reason = str(error).splitlines()[0][:200]
                self.notes.append(f"the graph at level {level} does not run: {reason}")
        raise AssertionError("no level")

    def _refined(
        self,
        report: Report,
        first: Finding | None,
        folded: bool,
        arrays: dict[str, Any],
        weights: dict[Key, Look],
    ) -> Report:
        """Names the node inside a fused node, or inside the nodes that became a constant."""
        try:
            prepared, run = self._run(arrays, ["ORIGINAL"], True)
        except Exception as error:
            note = f"the graph as it is does not run: {error}"
            return dataclasses.replace(report, notes=(*report.notes, note))
        inner = run.first[1] if run.first else None
        prepared.close()
        if first is None:
            return self._report(report.model, run, weights)
        names = {node.name for node in first.covers}
        if inner is None or not (folded or inner.node in names):
            return report
        exact = dataclasses.replace(inner, covers=first.covers, ran_as=first.ran_as)
        if folded:
            exact = dataclasses.replace(inner, ran_as="constant")
        findings = tuple(exact if each is first else each for each in report.findings)
        return dataclasses.replace(report, first=exact, findings=findings)

    def _report(self, title: str, run: Run, weights: dict[Key, Look]) -> Report:
        first = run.first
        reached: list[str] = []
        if first is not None:
            places, _ = run.judge.reached(first[0].place)
            labels = [self.names.label(run.graph, place) for place in places]
            reached = list(dict.fromkeys(labels))
        if not run.prepared.keys:
            self.notes.append("no node of the model can make a NaN or an infinity")
        if any(row.bad_calls for row in run.rows) and len(run.events) >= 1 << 14:
            self.notes.append("only the first 16384 bad calls of sinks were kept")
        return Report(
            model=title,
            level=run.prepared.level,
            first=first[1] if first else None,
            findings=tuple(run.findings),
            reached=tuple(reached),
            weights=tuple(weights.values()),
            bad_inputs=tuple(run.bad_inputs.values()),
            bad_outputs=tuple(run.bad_outputs()),
            peaks=tuple(_peaks(run.rows, run.prepared.keys)),
            sinks=len(run.prepared.keys),
            notes=tuple(self.notes),
            picture=picture(run.graph, run.judge, first[0] if first else None, self._label(run)),
        )

    def _label(self, run: Run) -> Callable[[Place], str]:
        return lambda place: self.names.label(run.graph, place)


def _peaks(rows: Sequence[Row], keys: Sequence[Key]) -> list[Peak]:
    found = []
    for row, key in zip(rows, keys, strict=True):
        if math.isfinite(row.largest) and math.isfinite(row.look.limit):
            dtype = FLOATS.get(row.shape.element, "?")
            found.append(Peak(key[1], dtype, row.largest, row.largest / row.look.limit))
    return sorted(found, key=lambda peak: -peak.share)
