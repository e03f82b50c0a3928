"""Which node made the first NaN or infinity.

Every call of a sink that saw one is an event. The events of the outputs of a node are compared with
the inputs of the same call:

- *origin*: all inputs are finite. Or they have -Inf only, the output has +Inf, and the operator
  cannot make the one of the other.
- *NaN from Inf*: the output has a NaN, and the inputs have infinities only.
- *entry*: a weight or an input of the model is bad.
- *intended*: the bad values are -Inf, and come from a constant that has only -Inf, from an
  operation that fills with -Inf, or from a name of the allow-list. The same holds for what becomes
  of these values, as long as no NaN does.
- *propagation*: everything else.

A finding *reaches* an output if there is a path of bad tensors from the node to an output of the
model, to an operation that makes integers of the values (ArgMax, Cast), or to one that decides by
a NaN and gives none (Greater, MaxPool).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from nonfinite.findings import ENTRY, INTENDED, NAN_FROM_INF, ORIGIN, PROPAGATION, Look
from nonfinite.trace.model import Graph, Key, NodePlace, attribute
from nonfinite.trace.native import FLOATS, Event

# They make integers of floats, so that a NaN leaves no trace in the output.
TO_INTEGERS = set(
    "ArgMax ArgMin TopK NonMaxSuppression Cast QuantizeLinear DynamicQuantizeLinear "
    "DynamicQuantizeMatMul Multinomial".split()
)

# Their outputs may be finite, or truth values, where an input has a NaN: ONNX Runtime passes over
# the NaN, or compares with it.
HIDE_NAN = set(
    "Equal Greater GreaterOrEqual Less LessOrEqual NonZero Unique Hardmax MaxPool GlobalMaxPool "
    "ReduceMax ReduceMin ThresholdedRelu Shrink GridSample DeformConv".split()
)

# They make no +Inf of -Inf.
KEEP_MINUS = set(
    "Add Sum Mean Cast Exp Softplus Reciprocal Sinh CumSum ReduceSum ReduceMean ReduceLogSumExp "
    "AveragePool GlobalAveragePool".split()
)

# They can make -Inf of nothing. In Pad, Where and others the -Inf is a constant among the inputs.
FILLS = {"ConstantOfShape"}

RANKING = (ORIGIN, ENTRY, NAN_FROM_INF, INTENDED, PROPAGATION)


@dataclass(eq=False)
class Judged:
    """An event at a node, and its kind."""

    kind: str
    place: NodePlace
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
        allowed: Callable[[NodePlace], bool],
    ) -> None:
        self._graph = graph
        self._constants = constants
        self._allowed = allowed
        self._events: dict[Key, list[Event]] = defaultdict(list)
        for event in events:
            self._events[keys[event.number]].append(event)
        self.intended: set[tuple[Key, int]] = set()
        """The events of intended masks: tensors, and the numbers in the sequence of all calls."""
        self._passed = {
            formal: actual for scope in graph.scopes for formal, actual in graph.arguments(scope)
        }
        outputs = [value.name for value in graph.main.graph.output]
        self._results = {graph.key(graph.main, name) for name in outputs}
        self.judged = self._judge()

    def _judge(self) -> list[Judged]:
        found: dict[NodePlace, Judged] = {}
        events = [(event, key) for key, each in self._events.items() for event in each]
        for event, key in sorted(events, key=lambda pair: pair[0].sequence):
            place = self._graph.makers.get(key)
            if place is None:
                # A formal input of a body.
                if self._carries_intended(key, event):
                    self.intended.add((key, event.sequence))
                continue
            judged = self._kind(place, key, event)
            if judged.intended:
                self.intended.add((key, event.sequence))
            before = found.get(place)
            if before is None or RANKING.index(judged.kind) < RANKING.index(before.kind):
                found[place] = judged
        return sorted(found.values(), key=lambda each: each.event.sequence)

    def _kind(self, place: NodePlace, key: Key, event: Event) -> Judged:
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
        minus = all(tensor.look.pos_inf == tensor.look.nan == 0 for _, tensor in tensors)
        if look.pos_inf and minus and place.proto.op_type in KEEP_MINUS:
            return Judged(ORIGIN, place, event)
        intended = not look.nan and all(
            (source, tensor.sequence) in self.intended for source, tensor in tensors
        )
        if constants and intended:
            return Judged(INTENDED, place, event, tuple(constants), intended=True)
        return Judged(PROPAGATION, place, event, intended=intended)

    def bad_inputs(
        self, place: NodePlace, event: Event
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

    def _read(self, place: NodePlace) -> list[Key]:
        """The tensors that a node reads. In the place of a sequence: the tensors in it."""
        graph = self._graph
        waiting = graph.inputs_of(place)
        found: list[Key] = []
        seen: set[Key] = set()
        while waiting:
            key = waiting.pop(0)
            if key not in graph.sequences:
                found.append(key)
            elif key not in seen:
                seen.add(key)
                maker = graph.makers.get(key)
                if maker is None or maker.inner:
                    waiting += graph.origins[key]
                else:
                    waiting += graph.inputs_of(maker)
        return found

    def _bad(self, scope: str, key: Key, event: Event) -> Look | Event | None:
        """What was bad in a tensor when a node of `scope` read it."""
        if key in self._constants:
            return self._constants[key]
        events = self._events[key]
        before = bisect_left(events, event.sequence, key=lambda each: each.sequence)
        if before == 0:
            return None
        # All sinks of a scope run equally often. A tensor of a scope outside was made before.
        if key[0] == scope and events[before - 1].call != event.call:
            return None
        return events[before - 1]

    def _carries_intended(self, key: Key, event: Event) -> bool:
        passed = self._passed.get(key)
        if event.look.nan or passed is None:
            return False
        constant = self._constants.get(passed)
        if constant is not None:
            return constant.only_minus_inf
        return self._last_intended([passed], event)

    def _inner_intended(self, place: NodePlace, event: Event) -> bool:
        keys = [key for scope in place.inner for key in self._graph.results(scope)]
        return not event.look.nan and self._last_intended(keys, event)

    def _last_intended(self, keys: list[Key], event: Event) -> bool:
        found = [
            (key, each.sequence)
            for key in keys
            for each in self._events[key]
            if each.sequence < event.sequence
        ]
        return bool(found) and all(each in self.intended for each in found)

    def reached(self, start: NodePlace) -> list[NodePlace]:
        """The nodes that the values of a node reached."""
        walk = self._walk(self._graph.outputs_of(start))
        places = dict.fromkeys(user for _, users, _, _ in walk for user in users)
        places.pop(start, None)
        return list(places)

    def reaches(self, start: NodePlace) -> bool:
        """Whether the values of a node reach an output of the model or an operation that hides
        them. Intended masks do not count as reached outputs. One walk answers for all nodes."""
        return not self._reaching.isdisjoint(self._graph.outputs_of(start))

    @cached_property
    def _reaching(self) -> set[Key]:
        """The tensors whose values come to an end."""
        before: dict[Key, list[Key]] = defaultdict(list)
        found: dict[Key, None] = {}
        starts = [key for each in self.judged for key in self._graph.outputs_of(each.place)]
        for key, _, is_end, onward in self._walk(starts):
            for each in onward:
                before[each].append(key)
            if is_end:
                found[key] = None
        waiting = list(found)
        while waiting:
            more = [key for key in before[waiting.pop()] if key not in found]
            found.update(dict.fromkeys(more))
            waiting += more
        return set(found)

    def _walk(self, starts: list[Key]) -> Iterator[tuple[Key, list[NodePlace], bool, list[Key]]]:
        """The bad tensors on the way from these. For each the nodes that it made bad, whether its
        values come to an end, and the tensors to which they go."""
        graph = self._graph
        waiting = list(dict.fromkeys(starts))
        seen = set(waiting)
        for key in waiting:
            if not self._events[key] and key not in graph.sequences:
                continue
            places: list[NodePlace] = []
            is_end = key in self._results
            onward = [*graph.onward[key]]
            for user in graph.users[key]:
                outputs = graph.outputs_of(user)
                is_end = is_end or self._hides(user, key)
                sequence = not user.inner and not graph.sequences.isdisjoint(outputs)
                if sequence or any(self._events[out] for out in outputs):
                    places.append(user)
                    onward += outputs
            yield key, places, is_end, onward
            waiting += [each for each in dict.fromkeys(onward) if each not in seen]
            seen.update(onward)

    def _hides(self, place: NodePlace, key: Key) -> bool:
        """Whether a node makes finite values of a tensor in which these leave no trace."""
        operator = place.proto.op_type
        if operator == "Cast":
            return attribute(place.proto, "to") not in FLOATS
        if operator not in HIDE_NAN:
            return operator in TO_INTEGERS
        # `x == x` asks for NaN.
        same = operator == "Equal" and len(set(self._graph.inputs_of(place))) == 1
        outputs = self._graph.outputs_of(place)
        return not same and self._has_nan([key]) and not self._has_nan(outputs)

    def _has_nan(self, keys: list[Key]) -> bool:
        return any(each.look.nan for key in keys for each in self._events[key])
