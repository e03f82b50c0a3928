"""Which node made the first NaN or infinity.

Every call of a sink that saw one is an event. The events of the outputs of a node are compared with
the inputs of the same call:

- *origin*: all inputs are finite.
- *NaN from Inf*: the output has a NaN, and the inputs have infinities only.
- *entry*: a weight or an input of the model is bad.
- *intended*: the bad values are -Inf, and come from a constant that has only -Inf, from an
  operation that fills with -Inf, or from a name of the allow-list. The same holds for what becomes
  of these values, as long as no NaN does.
- *propagation*: everything else.

A finding *reaches* an output if there is a path of bad tensors from the node to an output of the
model, or to an operation that makes integers of the values (ArgMax, Cast).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nonfinite.trace.model import MAKE_SEQUENCES, Graph, Key, Place, attribute
from nonfinite.trace.native import FLOATS, Event
from nonfinite.trace.results import (
    ENTRY,
    INTENDED,
    NAN_FROM_INF,
    ORIGIN,
    PROPAGATION,
    Look,
)

# They make integers of floats, so that a NaN leaves no trace in the output.
TO_INTEGERS = {"ArgMax", "ArgMin", "TopK", "NonMaxSuppression", "Cast", "QuantizeLinear"}

# They can make -Inf of nothing. In Pad, Where and others the -Inf is a constant among the inputs.
FILLS = {"ConstantOfShape"}

RANKING = (ORIGIN, ENTRY, NAN_FROM_INF, INTENDED, PROPAGATION)


@dataclass(eq=False)
class Judged:
    """An event at a node, and its kind."""

    kind: str
    place: Place
    event: Event
    sources: tuple[Look, ...] = ()
    intended: bool = False


class Judge:
    """The events of one run of a graph."""

    def __init__(
        self,
        graph: Graph,
        keys: list[Key],
        events: Iterable[Event],
        constants: dict[Key, Look],
        allowed: Callable[[Place], bool],
    ) -> None:
        self._graph = graph
        self._constants = constants
        self._allowed = allowed
        self._events: dict[Key, list[Event]] = defaultdict(list)
        for event in events:
            self._events[keys[event.number]].append(event)
        self._intended: set[tuple[Key, int]] = set()
        self._passed = {
            formal: actual for scope in graph.scopes for formal, actual in graph.arguments(scope)
        }
        self.judged = self._judge()

    def _judge(self) -> list[Judged]:
        found: dict[Place, Judged] = {}
        events = [(event, key) for key, each in self._events.items() for event in each]
        for event, key in sorted(events, key=lambda pair: pair[0].sequence):
            place = self._graph.makers.get(key)
            if place is None:
                # A formal input of a body.
                if self._carries_intended(key, event):
                    self._intended.add((key, event.sequence))
                continue
            judged = self._kind(place, key, event)
            if judged.intended:
                self._intended.add((key, event.sequence))
            before = found.get(place)
            if before is None or RANKING.index(judged.kind) < RANKING.index(before.kind):
                found[place] = judged
        return sorted(found.values(), key=lambda each: each.event.sequence)

    def _kind(self, place: Place, key: Key, event: Event) -> Judged:
        if place.inner:
            return Judged(PROPAGATION, place, event, intended=self._inner_intended(place, event))
        look = event.look
        constants, tensors = self.bad_inputs(place, event)
        if not look.nan and self._allowed(place):
            return Judged(INTENDED, place, event, intended=True)
        if not constants and not tensors:
            fills = place.proto.op_type in FILLS and look.neg_inf and not look.pos_inf
            kind = INTENDED if fills and not look.nan else ORIGIN
            return Judged(kind, place, event, intended=kind == INTENDED)
        masks = all(each.only_minus_inf for each in constants)
        if not masks:
            return Judged(ENTRY, place, event, tuple(constants))
        if look.nan and not any(tensor.look.nan for _, tensor in tensors):
            return Judged(NAN_FROM_INF, place, event, tuple(constants))
        intended = not look.nan and all(
            (source, tensor.sequence) in self._intended for source, tensor in tensors
        )
        if constants and intended:
            return Judged(INTENDED, place, event, tuple(constants), intended=True)
        return Judged(PROPAGATION, place, event, intended=intended)

    def bad_inputs(
        self, place: Place, event: Event
    ) -> tuple[list[Look], list[tuple[Key, Event]]]:
        """The bad constants and the bad tensors that a node read in the call of an event."""
        constants, tensors = [], []
        for key in self._read(place):
            bad = self._bad(place.scope.path, key, event)
            if isinstance(bad, Look):
                constants.append(bad)
            elif bad is not None:
                # A body gets the bad constant as a formal input. The nodes inside are the first
                # operations that read it.
                passed = self._passed.get(key)
                look = self._constants.get(passed) if passed else None
                if look is not None:
                    constants.append(look)
                else:
                    tensors.append((key, bad))
        return constants, tensors

    def _read(self, place: Place) -> list[Key]:
        """The tensors that a node reads. In the place of a sequence: the tensors in it."""
        waiting = self._graph.inputs_of(place)
        found: list[Key] = []
        seen: set[Key] = set()
        while waiting:
            key = waiting.pop(0)
            maker = self._graph.makers.get(key)
            if maker is None or not self._makes_sequence(maker):
                found.append(key)
            elif key not in seen:
                seen.add(key)
                waiting += self._graph.inputs_of(maker)
        return found

    def _makes_sequence(self, place: Place) -> bool:
        return place.proto.op_type in MAKE_SEQUENCES

    def _bad(self, scope: str, key: Key, event: Event) -> Look | Event | None:
        """What was bad in a tensor when a node of `scope` read it."""
        if key in self._constants:
            return self._constants[key]
        before = [each for each in self._events[key] if each.sequence < event.sequence]
        if not before:
            return None
        # All sinks of a scope run equally often. A tensor of a scope outside was made before.
        if key[0] == scope and before[-1].call != event.call:
            return None
        return before[-1]

    def _carries_intended(self, key: Key, event: Event) -> bool:
        passed = self._passed.get(key)
        if event.look.nan or passed is None:
            return False
        constant = self._constants.get(passed)
        if constant is not None:
            return constant.only_minus_inf
        return self._last_intended([passed], event)

    def _inner_intended(self, place: Place, event: Event) -> bool:
        keys = [key for scope in place.inner for key in self._graph.results(scope)]
        return not event.look.nan and self._last_intended(keys, event)

    def _last_intended(self, keys: list[Key], event: Event) -> bool:
        found = [
            (key, each.sequence)
            for key in keys
            for each in self._events[key]
            if each.sequence < event.sequence
        ]
        return bool(found) and all(each in self._intended for each in found)

    def reached(self, start: Place) -> tuple[list[Place], list[str | Place]]:
        """The nodes that the values of a node reached, and the outputs of the model or the
        operations that make integers of them. Intended masks do not count as reached outputs."""
        graph = self._graph
        outputs = [value.name for value in graph.main.graph.output]
        results = {graph.key(graph.main, name): name for name in outputs}
        places: list[Place] = []
        ends: list[str | Place] = []
        waiting = graph.outputs_of(start)
        seen = set(waiting)
        while waiting:
            key = waiting.pop(0)
            maker = graph.makers.get(key)
            if not self._events[key] and not (maker and self._makes_sequence(maker)):
                continue
            if key in results:
                ends.append(results[key])
            onward: list[Key] = []
            for user in graph.users[key]:
                if user is start or user in places:
                    continue
                if self._takes_as_integers(user):
                    ends.append(user)
                seen_bad = any(self._events[out] for out in graph.outputs_of(user))
                if seen_bad or self._makes_sequence(user):
                    places.append(user)
                    onward += graph.outputs_of(user)
                for scope in user.inner:
                    onward += [f for f, actual in graph.arguments(scope) if actual == key]
            onward += self._out_of_body(key)
            waiting += [each for each in onward if each not in seen]
            seen.update(onward)
        return places, ends

    def _out_of_body(self, key: Key) -> list[Key]:
        """Where an output of a branch or body goes: out of the owner, and into the next call."""
        for scope in self._graph.scopes:
            if scope.path == key[0] and scope.owner is not None:
                if key in self._graph.results(scope):
                    formal = [formal for formal, _ in self._graph.arguments(scope)]
                    return [*self._graph.outputs_of(scope.owner), *formal]
        return []

    def _takes_as_integers(self, place: Place) -> bool:
        operator = place.proto.op_type
        if operator == "Cast":
            return attribute(place.proto, "to") not in FLOATS
        return operator in TO_INTEGERS
