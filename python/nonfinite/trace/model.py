# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""A model as a graph: scopes, places (nodes) and the tensors that flow between them.

A tensor is named by a key: the path of the scope where the tensor is made, and its name. Nodes that
only give elements another shape or order (`MOVES`) make no tensor of their own: the key of their
output is the key of their input.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from nonfinite.trace.native import FLOATS

Key = tuple[str, str]

# These keep every element. A sink behind them would see what the sink before them saw.
MOVES = {
    *[("", name) for name in "Reshape Transpose Squeeze Unsqueeze Flatten Identity".split()],
    # Into the blocked layout of the CPU provider and back. The padding is 0.
    ("com.microsoft.nchwc", "ReorderInput"),
    ("com.microsoft.nchwc", "ReorderOutput"),
}

# Of finite inputs, these make finite outputs. The first run has no sinks behind them. ReduceMax and
# ReduceMin are not among them: of no elements they make -Inf and +Inf.
KEEP_FINITE = set(
    "Relu Clip Sigmoid HardSigmoid Tanh Softmax Erf Softsign Abs Neg Sign Floor Ceil "
    "Round Max Min MaxPool GlobalMaxPool Concat Split Slice Gather GatherElements GatherND "
    "Expand Tile DepthToSpace SpaceToDepth Where Sin Cos".split()
)

# A bad element of an input makes at least one element of the output bad: NaN stays NaN, and an
# infinity stays one or becomes NaN (0 * Inf, Inf - Inf). The first run looks at the output only.
# Outputs without elements carry nothing: a second run follows then.
CARRY = {"Add", "Sub", "Mul", "MatMul"}

# They make sequences and optionals of tensors. Sinks cannot look at these.
MAKE_SEQUENCES = set(
    "SequenceConstruct SequenceEmpty SequenceInsert SequenceErase SplitToSequence Optional".split()
)

# Outputs that are no floating-point numbers. Sinks cost time there and see nothing.
NO_FLOATS = set(
    "Shape Size NonZero ArgMax ArgMin Equal Less LessOrEqual Greater GreaterOrEqual And Or Not Xor "
    "IsNaN IsInf StringNormalizer NonMaxSuppression QuantizeLinear "
    "ConvInteger MatMulInteger QLinearConv QLinearMatMul BitShift OneHotEncoder "
    "SequenceMap".split()
)


@dataclass(eq=False)
class Scope:
    """A graph: the main graph, or the graph of a branch or a body."""

    path: str
    """"" for the main graph, else as "loop.body"."""
    graph: GraphProto
    name: str = ""
    """The attribute of the owner that has the graph, as "body"."""
    parent: "Scope | None" = None
    owner: "NodePlace | None" = None
    names: set[str] = field(default_factory=set)
    """The tensors that are made in this scope, weights and formal inputs included."""
    places: "list[NodePlace]" = field(default_factory=list)


@dataclass(eq=False)
class NodePlace:
    """A node in its scope."""

    scope: Scope
    proto: NodeProto
    label: str
    """The name of the node, or of its first output if the node has none."""
    inner: list[Scope] = field(default_factory=list)


class Graph:
    """The scopes, places and tensors of a model."""

    def __init__(self, model: ModelProto) -> None:
        self.scopes: list[Scope] = []
        self.places: list[NodePlace] = []
        self.weights: dict[Key, TensorProto] = {}
        self.types: dict[Key, int] = {}
        self._aliases: dict[Key, Key] = {}
        self.main = self._add(Scope("", model.graph))
        self.inputs = {("", value.name) for value in model.graph.input} - self.weights.keys()
        self.makers: dict[Key, NodePlace] = {}
        self.users: dict[Key, list[NodePlace]] = defaultdict(list)
        for place in self.places:
            for name in place.proto.output:
                self.makers[place.scope.path, name] = place
        for place in self.places:
            for key in self.inputs_of(place):
                self.users[key].append(place)
        # Where tensors go into a branch or body, out of it, and into the next call.
        self.onward: dict[Key, list[Key]] = defaultdict(list)
        self.origins: dict[Key, list[Key]] = defaultdict(list)
        for here, there in (pair for scope in self.scopes for pair in self._crossings(scope)):
            self.onward[here].append(there)
            self.origins[there].append(here)
        makers = (place for place in self.places if place.proto.op_type in MAKE_SEQUENCES)
        found = [key for place in makers for key in self.outputs_of(place)]
        found += [self._aliases.get(key, key) for key, type_ in self.types.items() if type_ == -1]
        self.sequences = set(found)
        """Tensors that are none: sequences and optionals. Sinks cannot look at them."""
        for key in found:
            found += [each for each in self.onward[key] if each not in self.sequences]
            self.sequences.update(self.onward[key])

    def _crossings(self, scope: Scope) -> Iterator[tuple[Key, Key]]:
        if scope.owner is None:
            return
        yield from ((actual, formal) for formal, actual in self.arguments(scope))
        owner = scope.owner.proto
        # A body of Loop begins with the number of the iteration, and its outputs with a condition.
        shift = int(owner.op_type == "Loop")
        states = scope.graph.input[shift:]
        del states[len(states) - (attribute(owner, "num_scan_inputs") or 0) :]
        results = [self.key(scope, value.name) for value in scope.graph.output]
        outputs = [self.key(scope.parent, name) for name in owner.output]
        formals = [self.key(scope, value.name) for value in states]
        for here, there in (*zip(results[shift:], outputs, strict=False),
                            *zip(results, formals, strict=False)):  # fmt: skip
            if here is not None and there is not None:
                yield here, there

    def _add(self, scope: Scope) -> Scope:
        self.scopes.append(scope)
        graph = scope.graph
        for value in (*graph.input, *graph.value_info, *graph.output):
            if (type_ := element_type(value)) is not None:
                self.types[scope.path, value.name] = type_
        scope.names.update(value.name for value in graph.input)
        for tensor in graph.initializer:
            self._weight(scope, tensor.name, tensor)
        for sparse in graph.sparse_initializer:
            self._weight(scope, sparse.values.name, sparse.values)
        for proto in graph.node:
            label = proto.name or next((name for name in proto.output if name), "?")
            place = NodePlace(scope, proto, label)
            if tensor := constant(proto):
                self._weight(scope, proto.output[0], tensor)
                continue
            if is_move(proto):
                source = self.key(scope, proto.input[0])
                if source is not None:
                    self._aliases[scope.path, proto.output[0]] = source
            scope.names.update(proto.output)
            scope.places.append(place)
            self.places.append(place)
            for name, inside in graphs_of(proto):
                path = ".".join(filter(None, (scope.path, place.label, name)))
                place.inner.append(self._add(Scope(path, inside, name, scope, place)))
        return scope

    def _weight(self, scope: Scope, name: str, tensor: TensorProto) -> None:
        scope.names.add(name)
        self.weights[scope.path, name] = tensor
        self.types[scope.path, name] = tensor.data_type

    def key(self, scope: Scope | None, name: str) -> Key | None:
        """The key of the tensor that `name` means in a scope. None if there is none."""
        while scope is not None and name not in scope.names:
            scope = scope.parent
        if scope is None or not name:
            return None
        key = (scope.path, name)
        return self._aliases.get(key, key)

    def inputs_of(self, place: NodePlace) -> list[Key]:
        """The tensors that a node reads, without those that only its graphs read."""
        keys = (self.key(place.scope, name) for name in place.proto.input)
        return [key for key in keys if key is not None]

    def outputs_of(self, place: NodePlace) -> list[Key]:
        """The tensors that a node makes."""
        keys = (self.key(place.scope, name) for name in place.proto.output)
        return [key for key in keys if key is not None]

    def results(self, scope: Scope) -> list[Key]:
        """The outputs of a scope."""
        keys = (self.key(scope, value.name) for value in scope.graph.output)
        return [key for key in keys if key is not None]

    def arguments(self, scope: Scope) -> list[tuple[Key, Key]]:
        """For a body of Loop or Scan: each formal input, and the tensor that the owner passes."""
        if scope.owner is None:
            return []
        formal = [value.name for value in scope.graph.input]
        passed = zip(formal, scope.owner.proto.input, strict=False)
        pairs = ((name, self.key(scope.parent, actual)) for name, actual in passed)
        return [((scope.path, name), actual) for name, actual in pairs if actual is not None]

    def may_be_float(self, place: NodePlace, name: str) -> bool:
        """Whether an output of a node needs a sink."""
        key = (place.scope.path, name)
        if key in self.sequences:
            return False
        type_ = self.types.get(key)
        if type_ is not None:
            return type_ in FLOATS
        if place.proto.op_type == "Cast":
            return attribute(place.proto, "to") in FLOATS
        return place.proto.op_type not in NO_FLOATS


def element_type(value: ValueInfoProto) -> int | None:
    """ONNX's number of the element type. -1: no tensor. None: the model does not say."""
    kind = value.type.WhichOneof("value")
    if kind is None:
        return None
    return (value.type.tensor_type.elem_type or None) if kind == "tensor_type" else -1


def attribute(proto: NodeProto, name: str) -> int | None:
    """An integer attribute."""
    return next((each.i for each in proto.attribute if each.name == name), None)


def is_loop(proto: NodeProto) -> bool:
    """Whether the node runs its graph several times."""
    return proto.op_type in ("Loop", "Scan")


def path_of(place: NodePlace) -> str:
    """The path of a node, as that of its graph without the last name."""
    return ".".join(filter(None, (place.scope.path, place.label)))


def outer(scope: Scope) -> Iterator[Scope]:
    """The scopes around a scope, the nearest one first."""
    while scope.parent is not None:
        scope = scope.parent
        yield scope


def is_move(proto: NodeProto) -> bool:
    """Whether the node keeps every element of its first input, and makes no other."""
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    return (domain, proto.op_type) in MOVES and len(proto.input) > 0


def keeps_finite(proto: NodeProto) -> bool:
    """Whether the outputs are finite if the inputs are."""
    return proto.op_type in KEEP_FINITE and proto.domain in ("", "ai.onnx")


def constant(proto: NodeProto) -> TensorProto | None:
    """The tensor of a node Constant: from `value` of any type, else if floating-point."""
    if proto.op_type != "Constant" or proto.domain not in ("", "ai.onnx"):
        return None
    for each in proto.attribute:
        if each.name == "value":
            return each.t
        if each.name == "value_float":
            return onnx.helper.make_tensor("", TensorProto.FLOAT, [], [each.f])
        if each.name == "value_floats":
            return onnx.helper.make_tensor("", TensorProto.FLOAT, [len(each.floats)], each.floats)
    return None


def graphs_of(proto: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs of an If, Loop or Scan, with their names."""
    for each in proto.attribute:
        if each.type == AttributeProto.GRAPH:
            yield each.name, each.g
        for number, graph in enumerate(each.graphs):
            yield f"{each.name}.{number}", graph
