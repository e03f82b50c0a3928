"""Which nodes of the original model a node of the optimised graph stands for.

The runtime drops the names of nodes, and keeps the names of tensors. From the outputs of an
optimised node, this walks back in the original graph until it meets tensors that the optimised
graph has too. All nodes on the way are computed by the optimised node.
"""

from nonfinite.trace.model import Graph, Place
from nonfinite.trace.report import Node


class Names:
    """The nodes of the original model, by the tensors that they make."""

    def __init__(self, original: Graph) -> None:
        self._makers = {
            name: place for place in original.places for name in place.proto.output if name
        }
        self.tensors = set(self._makers) | {name for _, name in original.weights}

    def covered(self, ran: Graph, place: Place) -> tuple[Node, ...]:
        """The nodes that `place` computes, the last one first. Empty if there is no name left."""
        here = {name for scope in ran.scopes for name in scope.names}
        start = self._known(ran, place)
        stop = here - set(place.proto.output)
        found: dict[int, Node] = {}
        waiting = [name for name in start if name in self._makers]
        while waiting:
            name = waiting.pop(0)
            maker = self._makers.get(name)
            if maker is None or id(maker) in found:
                continue
            found[id(maker)] = Node(maker.label, maker.proto.op_type, _source(maker))
            waiting += [each for each in maker.proto.input if each and each not in stop]
        return tuple(found.values())

    def makers_of(self, place: Place) -> list[Place]:
        """The original nodes that make the outputs of `place`."""
        return [self._makers[name] for name in place.proto.output if name in self._makers]

    def label(self, ran: Graph, place: Place) -> str:
        """The name of a node in the original, or the name that it has if there is none."""
        known = self._known(ran, place)
        return self._makers[known[0]].label if known else place.label

    def _known(self, ran: Graph, place: Place) -> list[str]:
        """The outputs, or those of the nearest consumers whose names the original has."""
        places, seen = [place], {place}
        while places:
            known = [
                name for each in places for name in each.proto.output if name in self._makers
            ]
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
