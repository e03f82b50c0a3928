# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Values that a tensor of float16 or bfloat16 cannot hold, where the runtime computed in float32.

ONNX Runtime's CPU computes most operators of float16 in float32, and leaves out the casts between
them. So a value stays finite that is infinite on hardware that computes in float16.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import onnx
from onnx import GraphProto, ModelProto, TensorProto, helper

from nonfinite.trace.model import Graph, Key, Scope, constant, element_type, keeps_finite
from nonfinite.trace.names import Names
from nonfinite.trace.native import FLOATS

# The largest finite number, and where rounding to an infinity begins: half a step above it.
HALVES: dict[int, tuple[float, float]] = {
    TensorProto.FLOAT16: (65504.0, 65520.0),
    TensorProto.BFLOAT16: ((2 - 2**-7) * 2.0**127, (2 - 2**-8) * 2.0**127),
}


def halves(model: ModelProto, graph: Graph) -> dict[Key, int]:
    """The tensors that the model declares as float16 or bfloat16, with ONNX's number of the type.

    What the model does not declare follows from the types of its inputs and weights.
    """
    types = dict(graph.types)
    made = (each.i for place in graph.places for each in place.proto.attribute
            if each.name in ("to", "dtype"))  # fmt: skip
    if HALVES.keys().isdisjoint({*types.values(), *made}):
        return {}
    for scope in graph.scopes:
        for formal, actual in graph.arguments(scope):
            if actual in types:
                types.setdefault(formal, types[actual])
        for name, type_ in _inferred(model, graph, scope, types):
            types.setdefault((scope.path, name), type_)
    return {key: type_ for key, type_ in types.items() if type_ in HALVES}


def _inferred(
    model: ModelProto, graph: Graph, scope: Scope, types: Mapping[Key, int]
) -> Iterator[tuple[str, int]]:
    """Types by onnx. The graph is made anew with inputs in the place of weights, as these may have
    more than the 2 GiB that onnx takes."""
    nodes = [node for node in scope.graph.node if constant(node) is None]
    made = GraphProto(name="types", node=nodes)
    read = {name for node in scope.graph.node for name in node.input}
    for name in sorted(read | {value.name for value in scope.graph.input}):
        key = graph.key(scope, name)
        if key is not None and key in types and (key not in graph.makers or key[0] != scope.path):
            made.input.append(helper.make_tensor_value_info(name, types[key], None))
    whole = helper.make_model(made, functions=model.functions)
    del whole.opset_import[:]
    whole.opset_import.extend(model.opset_import)
    try:
        inferred = onnx.shape_inference.infer_shapes(whole)
    except Exception:  # Of a model that only the runtime knows.
        return
    for value in inferred.graph.value_info:
        if (type_ := element_type(value)) is not None:
            yield value.name, type_


class Overflows:
    """Which tensors of a graph that ran must be compared with a smaller type of the model."""

    def __init__(self, model: Graph, names: Names, types: Mapping[Key, int]) -> None:
        self._model, self._names = model, names
        self._copies: dict[Key, set[Key]] = defaultdict(set)
        for key, stands in names.copies():
            if stands in types and stands in model.makers:
                self._copies[stands].add(key)
        self._types = types

    @property
    def keys(self) -> set[Key]:
        """The tensors that need a sink."""
        made = self._model.makers
        wanted = (each for each in self._copies if not keeps_finite(made[each].proto))
        return {key for stands in wanted for key in self._copies[stands]}

    def found(self, largest: Mapping[Key, float]) -> dict[Key, tuple[Key, bool]]:
        """The tensors of the model that do not hold what the run had. For each the tensor that ran,
        and whether its maker is the first: all inputs fit.

        `largest` has the largest finite magnitudes of tensors that are wider than the model's.
        """
        over = {
            stands: key
            for stands, copies in self._copies.items()
            for key in copies
            if largest.get(key, 0) >= HALVES[self._types[stands]][1]
        }
        return {
            stands: (key, not any(
                each in over for each in self._model.inputs_of(self._model.makers[stands])
            ))
            for stands, key in over.items()
        }  # fmt: skip

    def declared(self, key: Key) -> tuple[str, float] | None:
        """The smaller type of the tensor of the model that a tensor stands for."""
        stands = self._names.stands(key)
        return self.type_of(stands) if stands and stands in self._types else None

    def type_of(self, key: Key) -> tuple[str, float]:
        """The declared type of a tensor of the model, and its largest finite number."""
        type_ = self._types[key]
        return FLOATS[type_], HALVES[type_][0]
