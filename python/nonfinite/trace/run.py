# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""One run of a model at a level of optimisation, and what it found in the names of the model."""

import dataclasses
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from nonfinite.findings import (
    ENTRY,
    INTENDED,
    NAN_FROM_INF,
    ORIGIN,
    OVERFLOW,
    PROPAGATION,
    Look,
)  # fmt: skip
from nonfinite.trace import inputs as inputs_
from nonfinite.trace.model import Key, NodePlace, Scope, is_loop, outer, path_of
from nonfinite.trace.names import group_of
from nonfinite.trace.native import FLOATS, Event, look_of
from nonfinite.trace.origin import Judge, Judged
from nonfinite.trace.prepare import Prepared
from nonfinite.trace.results import BadNode, Iteration, Node, Peak
from nonfinite.trace.source import Source
from nonfinite.trace.weights import bad_weights, weight_look

BAD = (ORIGIN, NAN_FROM_INF, ENTRY, OVERFLOW)


@dataclass(eq=False)
class Located:
    """A finding, and the nodes that it is about."""

    place: NodePlace
    """In the graph that ran."""
    nodes: tuple[NodePlace, ...]
    """In the model. The finding names the first one."""
    event: Event | None
    """None if all values are finite."""
    sequence: int
    finding: BadNode
    exact: bool
    """Whether the node is known, and the tensors are as in the model."""


class Run:
    """One run of the model, with its findings. Ends with `close`."""

    def __init__(self, source: Source, prepared: Prepared, arrays: dict[str, Any]) -> None:
        assert prepared.table is not None
        self.prepared = prepared
        self._source = source
        self.graph, self.names = prepared.graph, prepared.names
        library, folder = source.options.library, prepared.weights_folder
        self.weights = self._named(bad_weights(library, self.graph, folder))
        self._looks = source.looks(arrays)
        self.bad_inputs = {key: look for key, look in self._looks.items() if look.bad}
        prepared.run(inputs_.feeds(source.model.graph, arrays))
        self.events = prepared.table.events()
        self.rows = prepared.table.rows()
        self._calls: dict[tuple[str, int], dict[Key, Event]] = defaultdict(dict)
        for event in self.events:
            key = prepared.keys[event.number]
            self._calls[key[0], event.call][key] = event
        self.judge = Judge(
            self.graph, prepared.keys, self.events, self.weights | self.bad_inputs,
            lambda place: source.allowed(self.names.nodes(place)),
        )  # fmt: skip
        found = [self._found(each) for each in self.judge.judged if each.kind != PROPAGATION]
        self.found = sorted(self._with_overflows(found), key=lambda each: each.sequence)

    def close(self) -> None:
        """Ends the session and removes its files."""
        self.prepared.close()

    @property
    def settled(self) -> bool:
        """Whether a run that did not look at all tensors has shown that nothing is bad.

        A bad element is carried on to the tensors that were looked at, except to one without
        elements.
        """
        empty = any(row.calls and not row.look.elements for row in self.rows)
        return not (self.events or self.weights or self.bad_inputs or self.found or empty)

    @property
    def first(self) -> Located | None:
        """The earliest finding that is bad and reaches an output.

        An input with -Inf only, such as a mask, is passed over if a NaN came later.
        """
        bad = (each for each in self.found if each.finding.kind in BAD and each.finding.reaches)
        return next(bad, None)

    def bad_outputs(self) -> list[str]:
        """The outputs of the model that are bad, without intended masks."""
        events = [(self.prepared.keys[event.number], event.sequence) for event in self.events]
        bad = {event[0] for event in events if event not in self.judge.intended}
        # Those for which the table had no room. Nobody has judged them.
        rows = zip(self.prepared.keys, self.rows, strict=True)
        bad |= {key for key, row in rows if row.bad_calls} - {key for key, _ in events}
        constants = self.weights | self.bad_inputs
        bad |= {key for key, look in constants.items() if not look.only_minus_inf}
        graph = self.graph
        outputs = graph.main.graph.output
        return [value.name for value in outputs if graph.key(graph.main, value.name) in bad]

    def peaks(self) -> list[Peak]:
        """How close the tensors came to the limits of their types, the closest one first."""
        found: dict[str, Peak] = {}
        for row, key in zip(self.rows, self.prepared.keys, strict=True):
            if math.isfinite(row.largest) and math.isfinite(row.look.limit):
                dtype, limit = FLOATS.get(row.shape.element, "?"), row.look.limit
                dtype, limit = self.prepared.overflows.declared(key) or (dtype, limit)
                name = self.names.tensor(key)
                peak = Peak(name, dtype, row.largest, row.largest / limit)
                if name not in found or found[name].share < peak.share:
                    found[name] = peak
        return sorted(found.values(), key=lambda peak: -peak.share)

    def unclear(self) -> bool:
        """Whether a run of the graph as it is may say more."""
        if self.first is None:
            # Nodes may have become a bad constant, which is an output of the model.
            return bool(self.bad_outputs()) and any(map(self._folded, self.weights.values()))
        return any(each.finding.kind in BAD and not each.exact for each in self.found)

    def refine(self, inner: "Run") -> None:
        """Takes from a run of the graph as it is which node of a fused node it was, or of those
        that became a constant."""
        first = self.first
        known = {one.nodes[0]: one for one in reversed(inner.found) if one.nodes}
        for index, each in enumerate(self.found):
            ones = [known[node] for node in each.nodes if node in known]
            same = min(ones, key=lambda one: one.sequence, default=None)
            if not same and each is first and any(map(self._folded, each.finding.sources)):
                same = inner.first
            if each.exact or not same:
                continue
            nodes = tuple(dict.fromkeys([same.nodes[0], *each.nodes]))
            folded = same.nodes[0] not in each.nodes
            finding = dataclasses.replace(
                same.finding,
                covers=same.finding.covers if folded else _covers(nodes),
                ran_as="constant" if folded else each.finding.ran_as,
                reaches=each.finding.reaches,
            )
            self.found[index] = dataclasses.replace(each, finding=finding, nodes=nodes)

    def _folded(self, look: Look) -> bool:
        """Whether a bad constant is none of the model."""
        return look.name not in self._source.given

    def _named(self, looks: dict[Key, Look], reader: NodePlace | None = None) -> dict[Key, Look]:
        """With the names of the model. A tensor that the runtime keeps in another order has no
        shape and no coordinate."""
        named = {}
        for key, look in looks.items():
            named[key] = dataclasses.replace(look, name=self.names.tensor(key, reader))
            if not self.names.same(key):
                named[key] = dataclasses.replace(named[key], shape=None, first=None)
        return named

    def _seen(self, place: NodePlace, event: Event | None) -> tuple[list[Look], list[Look], bool]:
        """The statistics of the inputs and outputs of a node, in the call of the event where kept.
        And whether all of them have the order of the model."""
        looks = dict(self._looks)
        inputs, outputs = self.graph.inputs_of(place), self.graph.outputs_of(place)
        library, folder = self._source.options.library, self.prepared.weights_folder
        for key in (*inputs, *outputs):
            number = self.prepared.numbers.get(key)
            if key in self.graph.weights:
                look = weight_look(library, self.graph, key, folder)
            elif number is not None and self.rows[number].shape.element:
                look = look_of(key[1], self.rows[number])
            else:
                continue
            if look is not None:
                looks[key] = look
        bad = self._calls[place.scope.path, event.call] if event else {}
        looks |= {key: look_of(key[1], bad[key]) for key in (*inputs, *outputs) if key in bad}
        read = self._named({key: looks[key] for key in inputs if key in looks}, place)
        made = self._named({key: looks[key] for key in outputs if key in looks})
        same = all(map(self.names.same, [*read, *made]))
        return [*read.values()], [*made.values()], same

    def _found(self, judged: Judged) -> Located:
        place, nodes = judged.place, self.names.nodes(judged.place)
        inputs, outputs, same = self._seen(place, judged.event)
        names = {look.name for look in judged.sources}
        model = self._source.original
        reads = [n for n in nodes if any(key[1] in names for key in model.inputs_of(n))]
        nodes = tuple(dict.fromkeys([*reads, *nodes]))
        known = len(nodes) == 1 or bool(reads)
        finding = BadNode(
            kind=judged.kind,
            node=nodes[0].label if known else f"inside {group_of(nodes)}",
            operator=nodes[0].proto.op_type if known else place.proto.op_type,
            graph=nodes[0].scope.path if nodes else place.scope.path,
            call=judged.event.call,
            loops=self._loops(place.scope, judged.event),
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            reaches=self.judge.reaches(place),
            covers=_covers(nodes),
            ran_as=place.proto.op_type,
            sources=judged.sources,
        )
        exact = len(nodes) == 1 and same and not any(map(self._folded, judged.sources))
        return Located(place, nodes, judged.event, judged.event.sequence, finding, exact)

    def _loops(self, scope: Scope, event: Event | None) -> tuple[Iteration, ...]:
        """The iterations of the loops around an event, the innermost one first.

        A sink counts the calls of its scope. So a loop in no other loop has the iteration of the
        call. In a branch, or in a loop inside, the next event of the node that owns the scope tells
        the call of the scope around, if the bad values came out of the scope.
        """
        found = []
        while event is not None and scope.owner is not None and scope.parent is not None:
            owner, around = scope.owner, scope.parent
            alone = not any(each.owner and is_loop(each.owner.proto) for each in outer(scope))
            if is_loop(owner.proto) and alone:
                nodes = self.names.nodes(owner) or (owner,)
                found.append(Iteration(path_of(nodes[0]), event.call))
            event = self._left(scope, event)
            scope = around
        return tuple(found)

    def _left(self, scope: Scope, event: Event) -> Event | None:
        """The event of the owner of a scope to which an event in the scope has led."""
        results, events = set(self.graph.results(scope)), self._calls[scope.path, event.call]
        if scope.owner is None or results.isdisjoint(events):
            return None
        made = set(self.graph.outputs_of(scope.owner))
        later = (each for each in self.events if each.sequence > event.sequence)
        return next((each for each in later if self.prepared.keys[each.number] in made), None)

    def _with_overflows(self, found: list[Located]) -> list[Located]:
        """Adds values that the types of the model do not hold, where the runtime has wider ones.

        A cast that the runtime inserted may show such a value as an infinity. Then the node has an
        origin, at the time of the wider tensor. The nodes behind have none.
        """
        overflows, numbers = self.prepared.overflows, self.prepared.numbers
        largest = {key: look.max_abs or 0 for key, look in self._looks.items()}
        largest |= {key: self.rows[number].largest for key, number in numbers.items()}
        shown = {
            self.names.stands(key): each
            for each in found
            for key in self.graph.outputs_of(each.place)
            if each.finding.kind == ORIGIN
        }
        for stands, (key, first) in overflows.found(largest).items():
            sequence = self.rows[numbers[key]].sequence if key in numbers else 0
            if stands in shown and first:
                shown[stands].sequence = sequence
            elif stands in shown:
                found.remove(shown[stands])
            elif first:
                found.append(self._overflow(stands, key, largest[key], sequence))
        return found

    def _overflow(self, stands: Key, key: Key, largest: float, sequence: int) -> Located:
        node = self._source.original.makers[stands]
        place = self.graph.makers.get(key) or self.graph.users[key][0]
        inputs, outputs, _ = self._seen(place, None)
        declared, limit = self.prepared.overflows.type_of(stands)
        finding = BadNode(
            kind=INTENDED if self._source.allowed([node]) else OVERFLOW,
            node=node.label,
            operator=node.proto.op_type,
            graph=node.scope.path,
            call=0,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            reaches=True,
            covers=_covers((node,)),
            ran_as=place.proto.op_type,
            overflow=Peak(stands[1], declared, largest, largest / limit),
        )
        return Located(place, (node,), None, sequence, finding, True)


def _covers(nodes: tuple[NodePlace, ...]) -> tuple[Node, ...]:
    return tuple(Node(node.label, node.proto.op_type, _source(node)) for node in nodes)


def _source(place: NodePlace) -> str | None:
    """The lines of Python that torch's exporter writes to a node."""
    for each in place.proto.metadata_props:
        if each.key == "pkg.torch.onnx.stack_trace":
            return str(each.value)
    return None
