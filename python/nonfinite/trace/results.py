"""What a trace found, as data."""

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any

# The kinds of findings. docs/trace.md has the definitions.
ORIGIN = "origin"
NAN_FROM_INF = "NaN from Inf"
ENTRY = "entry"
INTENDED = "intended"
PROPAGATION = "propagation"
OVERFLOW = "hidden overflow"

WORDS = {
    ORIGIN: "the inputs are finite, the output is not",
    NAN_FROM_INF: "the inputs have infinities, the output has a NaN",
    ENTRY: "the first operation that reads a bad weight or input",
    INTENDED: "-Inf of a mask",
    PROPAGATION: "an input is bad already",
}


@dataclass(frozen=True)
class Look:
    """What a tensor holds."""

    name: str
    dtype: str
    """The element type, as "float16"."""
    shape: tuple[int, ...] | None
    """The sizes. None if the tensor has more than 8 dimensions, or if the runtime keeps the
    elements in another order than the model."""
    elements: int
    nan: int
    pos_inf: int
    neg_inf: int
    zeros: int
    first: int | None
    """The row-major index of the first NaN or infinity, where known."""
    min: float | None
    """The smallest finite value, or None without one."""
    max: float | None
    """The largest finite value, or None without one."""
    max_abs: float | None
    """The largest magnitude of a finite number."""
    limit: float | None
    """The largest finite number of the type."""

    @property
    def bad(self) -> int:
        """How many elements are NaN or infinite."""
        return self.nan + self.pos_inf + self.neg_inf

    @property
    def only_minus_inf(self) -> bool:
        """Whether the tensor has -Inf, no +Inf and no NaN, as a mask."""
        return self.neg_inf > 0 and self.bad == self.neg_inf

    @property
    def coordinate(self) -> tuple[int, ...] | None:
        """The coordinate of the first NaN or infinity."""
        if self.first is None or self.shape is None:
            return None
        rest, found = self.first, []
        for size in reversed(self.shape):
            rest, index = divmod(rest, size)
            found.append(index)
        return tuple(reversed(found))

    @property
    def bad_words(self) -> str:
        """How many NaN and infinities there are, and where the first one is."""
        counts = [(self.nan, "NaN"), (self.pos_inf, "+Inf"), (self.neg_inf, "-Inf")]
        parts = [f"{count} {what}" for count, what in counts if count]
        if self.first is not None:
            place = self.coordinate
            parts.append(f"first at {list(place) if place is not None else self.first}")
        return ", ".join(parts)

    def __str__(self) -> str:
        shape = "?" if self.shape is None else ", ".join(map(str, self.shape))
        parts = [f"{self.name}: {self.dtype}[{shape}]"]
        if self.bad:
            parts.append(self.bad_words)
        if self.min is not None and self.max is not None:
            parts.append(f"finite from {self.min:.6g} to {self.max:.6g}")
        if self.zeros:
            parts.append(f"{self.zeros} zeros")
        return ", ".join(parts)


@dataclass(frozen=True)
class Node:
    """A node of the original model."""

    name: str
    """The name of the node, or of its first output if the node has none."""
    operator: str
    source: str | None = None
    """The lines of the user's Python code, if the exporter of torch wrote them."""


@dataclass(frozen=True)
class Iteration:
    """An iteration of a Loop or a Scan."""

    loop: str
    """The path of the node, as "outer.body.inner"."""
    number: int
    """From 0."""


@dataclass(frozen=True)
class BadNode:
    """A finding: the node where values became bad, or too large for their type."""

    kind: str
    """"origin", "NaN from Inf", "entry", "intended" or "hidden overflow"."""
    node: str
    """The name of the node in the model, or its first output if the node has no name. Or "inside
    the fused group of" and the names of `covers`, if it is not known which of them it was."""
    operator: str
    """The operator of that node, or the fused operator."""
    graph: str
    """The subgraph, as "loop.body", or "" in the main graph."""
    call: int
    """In which call of the node in this run of the model, from 0."""
    inputs: tuple[Look, ...]
    outputs: tuple[Look, ...]
    reaches: bool
    """Whether the bad values reach an output of the model."""
    covers: tuple[Node, ...] = ()
    """All nodes of the original model that the runtime computes in this step."""
    ran_as: str = ""
    """The operator that ran, as "FusedConv"."""
    sources: tuple[Look, ...] = ()
    """The bad weights or inputs that an entry reads."""
    loops: "tuple[Iteration, ...]" = ()
    """The loops around the node, the innermost one first, with their iterations where known. In a
    loop inside of another one, `call` counts over all iterations of both."""
    overflow: "Peak | None" = None
    """For a hidden overflow: the tensor, its type in the model, and the largest value in the run.
    """


@dataclass(frozen=True)
class Peak:
    """How close a tensor came to the largest number of its type."""

    name: str
    dtype: str
    """The type in the model. The runtime may have used a wider one."""
    largest: float
    share: float
    """`largest` divided by the largest finite number of `dtype`."""


@dataclass(frozen=True)
class Results:
    """The result of a trace of an ONNX model, without the ways to show it."""

    model: str
    level: str
    """The optimisation of the graph that ran: ALL, EXTENDED, BASIC or ORIGINAL."""
    first: BadNode | None
    """The place to look at: the earliest finding, without intended ones, whose values reach an
    output."""
    findings: tuple[BadNode, ...]
    """Origins, NaN from Inf, entries, hidden overflows, and intended masks and infinities, in the
    order of execution."""
    reached: tuple[str, ...]
    """The nodes that the values of `first` reached, in the order of execution."""
    weights: tuple[Look, ...]
    """The bad initialisers of the model."""
    bad_inputs: tuple[Look, ...]
    bad_outputs: tuple[str, ...]
    peaks: tuple[Peak, ...]
    """The float tensors that were looked at, the closest to its limit first."""
    sinks: int
    """How many tensors were looked at."""
    notes: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing bad was found: no finding that reaches an output, no hidden overflow, no
        bad output, and no weight with NaN or +Inf. -Inf in a weight is taken for a mask."""
        weights = all(look.only_minus_inf for look in self.weights)
        return self.first is None and not self.bad_outputs and weights

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it. NaN and infinities do not occur."""
        return {"clean": self.clean, **as_json(self)}

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)


def as_json(value: Any) -> Any:
    """A value in the types of JSON, for reports and findings. NaN and infinities become None."""
    if dataclasses.is_dataclass(value):
        names = [name.name for name in dataclasses.fields(value)]
        names += ["coordinate"] * isinstance(value, Look)
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
