"""Which nodes of the original model a node of the optimised graph stands for.

The runtime drops the names of nodes, and keeps the names of tensors. From the outputs of an
optimised node, this walks back in the original graph until it meets tensors that the optimised
graph has too. All nodes on the way are computed by the optimised node.
"""

from nonfinite.trace.model import Graph, Place, Scope
from nonfinite.trace.results import Node


class Names:
    """The nodes of the original model, by the tensors that they make."""

    def __init__(self, original: Graph) -> None:
        makers = [
            (place, name) for place in original.places for name in place.proto.output if name
        ]
        self._makers = {(place.scope.path, name): place for place, name in makers}
        self._anywhere = {name: place for place, name in makers}

    def _maker(self, scope: Scope | None, name: str) -> Place | None:
        """The original node that makes the tensor that `name` means in a scope.

        The branches of an If may use a name twice. If the path of the scope is not in the original,
        because the runtime has changed the name of a node, any tensor of this name is taken.
        """
        while scope is not None:
            if (scope.path, name) in self._makers:
                return self._makers[scope.path, name]
            scope = scope.parent
        return self._anywhere.get(name)

    def covered(self, ran: Graph, place: Place) -> tuple[Node, ...]:
        """The nodes that `place` computes, the last one first. Empty if there is no name left."""
        here = {name for scope in ran.scopes for name in scope.names}
        start = self._known(ran, place)
        stop = here - set(place.proto.output)
        found: dict[int, Node] = {}
        waiting: list[Place | None] = [*start]
        while waiting:
            maker = waiting.pop(0)
            if maker is None or id(maker) in found:
                continue
            found[id(maker)] = Node(maker.label, maker.proto.op_type, _source(maker))
            names = [each for each in maker.proto.input if each and each not in stop]
            waiting += [self._maker(maker.scope, name) for name in names]
        return tuple(found.values())

    def makers_of(self, place: Place) -> list[Place]:
        """The original nodes that make the outputs of `place`."""
        makers = (self._maker(place.scope, name) for name in place.proto.output)
        return [maker for maker in makers if maker is not None]

    def label(self, ran: Graph, place: Place) -> str:
        """The name of a node in the original, or the name that it has if there is none."""
        known = self._known(ran, place)
        return known[0].label if known else place.label

    def _known(self, ran: Graph, place: Place) -> list[Place]:
        """The original makers of the outputs, or of those of the nearest consumers that have one.
        """
        places, seen = [place], {place}
        while places:
            known = [maker for each in places for maker in self.makers_of(each)]
            if known:
                return known
            keys = [key for each in places for key in ran.outputs_of(each)]
            # Moves have the key of their input, and their consumers are the consumers of the key.
            places = [user for key in keys for user in ran.users[key] if user not in seen]
            seen.update(places)
        return []


def _source(place: Place) -> str | None:
    """The lines of Python that torch's exporter writes to a node."""
    for each in place.proto.metadata_props:
        if each.key == "pkg.torch.onnx.stack_trace":
            return str(each.value)
    return None
