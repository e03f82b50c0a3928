# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The graph that runs: ONNX Runtime's optimised graph, with a sink behind each float tensor."""

import ctypes
import sys
import tempfile
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort
from onnx import ModelProto, NodeProto, helper

from nonfinite.trace.model import CARRY, Graph, Key, Scope, is_move, keeps_finite
from nonfinite.trace.names import Names
from nonfinite.trace.native import FLOATS, Table
from nonfinite.trace.overflow import Overflows
from nonfinite.trace.source import Source

DOMAIN = "nonfinite.trace"
PROVIDERS = ["CPUExecutionProvider"]


class Prepared:
    """A session that writes into a table, and the graph that it runs."""

    def __init__(self, source: Source, level: str, written: bool = True, full: bool = False):
        """`written`: the graph is what the runtime writes at this level, else it is the model."""
        self.level = level
        self.folder = tempfile.TemporaryDirectory(prefix="nonfinite-trace-")
        self.table: Table | None = None
        try:
            self._prepare(source, written, full)
        except BaseException:
            self.close()
            raise

    def _prepare(self, source: Source, written: bool, full: bool) -> None:
        options, weights = source.options, source.folder
        if written:
            path = optimised(source, self.level, Path(self.folder.name))
            proto, weights = onnx.load(str(path), load_external_data=False), path.parent
        else:
            proto = ModelProto.FromString(source.model.SerializeToString())
        self.weights_folder = weights
        self.graph = Graph(proto)
        self.names = Names(source.original, self.graph)
        self.overflows = Overflows(source.original, self.names, source.halves)
        self.keys = sink_keys(self.graph, full, self.overflows.keys)
        self.numbers = {key: number for number, key in enumerate(self.keys)}
        self.table = Table(options.library, len(self.keys))
        add_sinks(self.graph, proto, self.numbers, self.table.id)
        made = options.make("ORIGINAL")
        made.register_custom_ops_library(options.library.path)
        # By default sinks run after nearly all other nodes, and keep all tensors alive until then.
        made.execution_order = ort.ExecutionOrder.PRIORITY_BASED
        self.session = session(proto, weights, made)
        give_back()

    def run(self, feeds: dict[str, Any]) -> None:
        """Runs the model once. The table then has this run only."""
        assert self.table is not None
        self.table.reset()
        self.session.run_with_ort_values(None, feeds)

    def close(self) -> None:
        """Ends the session and removes the files."""
        self.session = None
        if self.table is not None:
            self.table.close()
        self.folder.cleanup()


def optimised(source: Source, level: str, folder: Path) -> Path:
    """Lets the runtime write its optimised graph. Weights go into a file of their own."""
    path = folder / "optimised.onnx"
    made = source.options.make(level)
    made.optimized_model_filepath = str(path)
    made.add_session_config_entry(
        "session.optimized_model_external_initializers_file_name", "weights.bin"
    )
    made.add_session_config_entry(
        "session.optimized_model_external_initializers_min_size_in_bytes", "1024"
    )
    # The session is not run: nothing needs weights in the order of the kernels.
    made.add_session_config_entry("session.disable_prepacking", "1")
    session(source.model, source.folder, made)
    return path


def session(model: ModelProto, folder: Path, options: ort.SessionOptions) -> ort.InferenceSession:
    """A session of a model whose external weights are in a folder."""
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(folder)
    )
    return ort.InferenceSession(model.SerializeToString(), options, providers=PROVIDERS)


def give_back() -> None:
    """Gives memory that is free back to the system, where the C library has a function for that
    (glibc). The loading of a model leaves about twice the size of its weights, and this process
    loads two."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def sink_keys(graph: Graph, full: bool, needed: Set[Key]) -> list[Key]:
    """The tensors that get a sink, in the order of the file.

    Not `full`: those that are `needed`, and only so many that one of them sees something, if
    anything in the graph is bad and the weights and inputs are not. This takes less time, and is
    enough for a clean model.
    """
    keys: list[Key] = []
    for scope in graph.scopes:
        if scope.owner is not None:
            for value in scope.graph.input:
                key = (scope.path, value.name)
                if graph.types.get(key) in (None, *FLOATS):
                    keys.append(key)
        for place in scope.places:
            if is_move(place.proto):
                continue
            looked = full or not keeps_finite(place.proto)
            for name in filter(None, place.proto.output):
                key = (scope.path, name)
                if key in needed or (looked and graph.may_be_float(place, name)):
                    keys.append(key)
    return keys if full else without_carried(graph, keys, needed)


def without_carried(graph: Graph, keys: list[Key], needed: Set[Key]) -> list[Key]:
    """Leaves out tensors that are bad only if another one of `keys` is: they go into a node that
    carries bad elements on. From the end, so that consumers are decided first."""
    looked, carried = set(keys), set[Key]()
    for place in reversed(graph.places):
        for key in graph.outputs_of(place):
            users = [
                user for user in graph.users[key]
                if user.scope is place.scope
                and user.proto.op_type in CARRY
                and user.proto.domain in ("", "ai.onnx")
            ]  # fmt: skip
            if any(out in looked for user in users for out in graph.outputs_of(user)):
                carried.add(key)
    return [key for key in keys if key in needed or key not in carried]


def add_sinks(graph: Graph, model: ModelProto, numbers: dict[Key, int], table: int) -> None:
    """Adds a sink right behind each node, and behind the formal inputs of each body."""

    def sinks(scope: Scope, names: Sequence[str]) -> list[NodeProto]:
        found = [(name, numbers.get((scope.path, name))) for name in names]
        return [
            helper.make_node("Sink", [name], [], domain=DOMAIN, table=table, number=number)
            for name, number in found
            if number is not None
        ]

    # Inner scopes first: a node is copied with the graphs inside.
    for scope in reversed(graph.scopes):
        nodes = sinks(scope, [value.name for value in scope.graph.input])
        for node in scope.graph.node:
            nodes += [node, *sinks(scope, node.output)]
        kept = list(map(NodeProto.FromString, [node.SerializeToString() for node in nodes]))
        del scope.graph.node[:]
        scope.graph.node.extend(kept)
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
