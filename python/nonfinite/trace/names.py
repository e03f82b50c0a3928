# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Which nodes and tensors of the model those of an optimised graph stand for.

Before the runtime optimises the model, `tag` writes a number into the name and the doc string of
each node. The runtime keeps both for a node that stays. It puts the name into the name of most
fused nodes, and into the names of tensors that it moves a Transpose across. A node of the blocked
layout has the name of a tensor. So a node of the optimised graph claims nodes of the model. A
tensor stands for the tensor of the model

1. that has the same name,
2. whose name the runtime extended, such as `InsertedPrecisionFreeCast_y`,
3. that a consumer reads at this place, or the maker writes at this place, if they are one node of
   the model with the same operator.

A node of the optimised graph computes the nodes that it claims, and those from its outputs back to
tensors that are known or to nodes that others claim. A node that claims nothing and computes
nothing, such as a Cast that the runtime inserted, is told as the node of the model whose tensor it
passes on.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from nonfinite.trace.model import Graph, Key, NodePlace, Scope, is_move

_TAG = re.compile(r"<node (\d+)>")
# What the runtime puts around the name of a tensor, and behind the name of a node.
_COPY = re.compile(r"(?:InsertedPrecisionFreeCast_|InsertedCast_|FusedBack_)(.+?)(?:_token_\d+)?")
_TAGGED = re.compile(r"<node (\d+)>(?:_token_\d+)?")
_BLOCKED = "_nchwc"


def tag(model: Graph) -> None:
    """Writes its number into each node of a model, in place. `NodePlace.label` keeps the name."""
    for number, place in enumerate(model.places):
        place.proto.name = place.proto.doc_string = f"<node {number}>"


def untagged(model: Graph, text: str) -> str:
    """A text of the runtime with the names of the model."""
    return _TAG.sub(lambda found: model.places[int(found[1])].label, text)


class Names:
    """The nodes and tensors of a model, for those of a graph that the runtime made of it."""

    def __init__(self, model: Graph, ran: Graph) -> None:
        self._model, self._ran = model, ran
        self._makers = {key[1]: place for key, place in model.makers.items()}
        self._claims = {place: self._claimed(place) for place in ran.places}
        self._scopes = self._find_scopes()
        self._aliases = self._find_aliases()
        self._same = {key for key in self._aliases if self._named(key, [key[1]]) is not None}
        self._exact = {
            key: found
            for key, names in self._aliases.items()
            if (found := self._named(key, names)) is not None
        }
        self._read: dict[tuple[NodePlace, Key], Key] = {}
        self._written: dict[tuple[NodePlace, Key], Key] = {}
        self._by_place()
        self._stands = {**_agreed(self._written), **_agreed(self._read), **self._exact}
        self._pass_on()
        self._nodes = self._find_nodes()

    def nodes(self, place: NodePlace) -> tuple[NodePlace, ...]:
        """The nodes of the model that a node computes or stands for, in the order of the model."""
        return self._nodes[place]

    def stands(self, key: Key) -> Key | None:
        """The tensor of the model that a tensor stands for."""
        return self._stands.get(key)

    def tensor(self, key: Key, reader: NodePlace | None = None) -> str:
        """The name in the model, or where the tensor is. The runtime may make one weight of those
        that several nodes read, or of those that a fused node reads."""
        place = self._ran.makers.get(key) or reader or next(iter(self._ran.users[key]), None)
        fused = place is not None and len(self.nodes(place)) > 1
        known = self._stands.get(key)
        if key not in self._exact and key in self._ran.weights:
            known = None if fused else self._read.get((place, key), known) if place else known
        if known is not None:
            return known[1]
        return f"inside {group_of(self.nodes(place))}" if place else key[1]

    def same(self, key: Key) -> bool:
        """Whether the elements have the shape and the order of the tensor in the model."""
        return key in self._same

    def copies(self) -> Iterator[tuple[Key, Key]]:
        """Tensors of other names, types or orders, and the tensors of the model they stand for."""
        placed = [(key, stands) for (_, key), stands in (self._read | self._written).items()]
        for key, stands in [*self._stands.items(), *placed]:
            if (self._scopes[key[0]].path, key[1]) != stands:
                yield key, stands
        # Casts that the runtime left out.
        claimed = {each for claims in self._claims.values() for each in claims}
        sources = defaultdict(list)
        for key, stands in self._stands.items():
            sources[stands].append(key)
        for place in self._model.places:
            if place.proto.op_type == "Cast" and place not in claimed:
                for source in self._model.inputs_of(place):
                    for out in self._model.outputs_of(place):
                        yield from ((key, out) for key in sources[source])

    def _claimed(self, place: NodePlace) -> list[NodePlace]:
        text = f"{place.proto.name} {place.proto.doc_string}"
        numbers = dict.fromkeys(map(int, _TAG.findall(text)))
        if not numbers and place.proto.name.endswith(_BLOCKED):
            name = place.proto.name.removesuffix(_BLOCKED)
            copy = _COPY.fullmatch(name)
            maker = self._makers.get(copy[1] if copy else name)
            return [maker] if maker else []
        return [self._model.places[number] for number in numbers]

    def _find_scopes(self) -> dict[str, Scope]:
        """The scopes of the model, by the paths of the graph that ran."""
        found = {"": self._model.main}
        for scope in self._ran.scopes:
            if scope.owner is None or scope.parent is None:
                continue
            inner = [each for owner in self._claims[scope.owner] for each in owner.inner]
            same = [each for each in inner if each.name == scope.name]
            found[scope.path] = same[0] if same else found[scope.parent.path]
        return found

    def _find_aliases(self) -> dict[Key, list[str]]:
        """The names of each tensor. Nodes that only move elements give further names."""
        found: dict[Key, list[str]] = {}
        for scope in self._ran.scopes:
            for name in sorted(scope.names):
                key = self._ran.key(scope, name)
                if key is not None:
                    found.setdefault(key, [key[1]]).append(name)
        return found

    def _named(self, key: Key, names: list[str]) -> Key | None:
        """What a tensor stands for by its names."""
        scope = self._scopes[key[0]]
        for name in names:
            found = self._model.key(scope, name)
            if found is None and (copy := _COPY.fullmatch(name)):
                found = self._model.key(scope, copy[1])
            if found is not None:
                return found
        return None

    def _by_place(self) -> None:
        """What tensors stand for by the places where nodes read and write them."""
        for place, claims in self._claims.items():
            if len(claims) != 1 or claims[0].proto.op_type != place.proto.op_type:
                continue
            (claim,) = claims
            for found, here, there in (
                (self._read, place.proto.input, claim.proto.input),
                (self._written, place.proto.output, claim.proto.output),
            ):
                for name, original in zip(here, there, strict=False):
                    key = self._ran.key(place.scope, name)
                    known = self._model.key(claim.scope, original)
                    if key is not None and known is not None:
                        found[place, key] = known

    def _pass_on(self) -> None:
        """The rest: what an inserted Cast passes on, and names made of the names of nodes."""
        casts = [
            pair
            for place, claims in self._claims.items()
            if not claims and place.proto.op_type == "Cast"
            for pair in zip(self._ran.inputs_of(place), self._ran.outputs_of(place), strict=False)
        ]
        for pair in [*casts, *reversed(casts)]:
            for here, there in (pair, pair[::-1]):
                if here not in self._stands and there in self._stands:
                    self._stands[here] = self._stands[there]
        for key in self._aliases:
            if key not in self._stands and (tagged := _TAGGED.fullmatch(key[1])):
                self._stands[key] = self._model.outputs_of(self._model.places[int(tagged[1])])[0]

    def _find_nodes(self) -> dict[NodePlace, tuple[NodePlace, ...]]:
        claimed = {each for claims in self._claims.values() for each in claims}
        order = {place: number for number, place in enumerate(self._model.places)}
        known = set(self._stands.values())
        found: dict[NodePlace, tuple[NodePlace, ...]] = {}
        for place, claims in self._claims.items():
            ends = [self._stands[key] for key in self._ran.outputs_of(place) if key in self._stands]
            if is_move(place.proto) or (
                len(claims) == 1 and claims[0].proto.op_type == place.proto.op_type
                and set(ends) <= set(self._model.outputs_of(claims[0]))
            ):
                found[place] = tuple(claims)
                continue
            stop, inside = claimed - set(claims), dict[NodePlace, None]()
            waiting = [*ends]
            while waiting:
                key = waiting.pop(0)
                maker = self._model.makers.get(key)
                if maker is None or maker in stop or maker in inside:
                    continue
                if (key in known and key not in ends) or (maker.inner and claims):
                    continue
                inside[maker] = None
                waiting += self._model.inputs_of(maker)
            found[place] = tuple(sorted({*inside, *claims}, key=order.__getitem__))
        return {place: nodes or self._passed(place, found) for place, nodes in found.items()}

    def _passed(
        self, place: NodePlace, found: dict[NodePlace, tuple[NodePlace, ...]]
    ) -> tuple[NodePlace, ...]:
        """For a node that computes none: the maker of its tensor, or the nearest consumer."""
        for key in self._ran.outputs_of(place):
            maker = self._model.makers.get(self._stands.get(key, key))
            if key in self._stands and maker is not None:
                return (maker,)
        places, seen = [place], {place}
        while places:
            for each in places:
                if found[each]:
                    return found[each]
            keys = [key for each in places for key in self._ran.outputs_of(each)]
            places = [user for key in keys for user in self._ran.users[key] if user not in seen]
            seen.update(places)
        return ()


def group_of(nodes: tuple[NodePlace, ...]) -> str:
    """Nodes of the model as words."""
    labels = ", ".join(node.label for node in nodes)
    return labels if len(nodes) == 1 else f"the fused group of {labels}"


def _agreed(placed: Mapping[tuple[NodePlace, Key], Key]) -> dict[Key, Key]:
    """What tensors stand for, where all places say the same."""
    found: dict[Key, set[Key]] = defaultdict(set)
    for (_, key), stands in placed.items():
        found[key].add(stands)
    return {key: next(iter(stands)) for key, stands in found.items() if len(stands) == 1}
