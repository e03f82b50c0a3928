"""What a trace found, as data."""

import json
from dataclasses import dataclass
from typing import Any

from nonfinite.findings import Look, as_json


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
