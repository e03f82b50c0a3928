# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""One backward pass: which nodes of autograd made bad gradients, and which was the first one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from nonfinite.findings import ENTRY, ORIGIN, Look
from nonfinite.torch import frames, nodes, notes, private
from nonfinite.torch.flags import Flags
from nonfinite.torch.look import finite, look
from nonfinite.torch.operations import Cause
from nonfinite.torch.report import BACKWARD
from nonfinite.torch.storages import Named, name_of

GIVEN = "the gradient that the program gave to backward"
HOOK = "register_hook"


# They give on what they got, and are not looked at.
CARRIERS = {
    "AliasBackward0", "CloneBackward0", "PermuteBackward0", "ReshapeAliasBackward0",
    "SelectBackward0", "SqueezeBackward1", "TBackward0", "TransposeBackward0",
    "UnsafeViewBackward0", "UnsqueezeBackward0", "ViewBackward0",
}  # fmt: skip


class Pass:
    """The nodes of autograd that a backward pass may come to, from `roots` on. `given`: the
    gradients of the roots that the program gave to backward, if any.

    A gradient that is bad somewhere and stopped by a later node is healthy. So the nodes only
    remember what they made, and nobody asks before a gradient is bad that the program wanted. Then
    the way of that gradient is followed back, against the direction of the pass, from node to node
    as long as what came in was bad.
    """

    def __init__(self, roots: Iterable[Any], given: Iterable[Tensor], named: Named) -> None:
        self._named, self._given = named, given
        self.nodes: dict[Any, None] = {}
        self.leaves: list[Any] = []
        """The nodes that give gradients to leaves, such as parameters."""
        self.flags = Flags()
        """The answers that stay on a device."""
        # To which several ways lead.
        self._shared: set[Any] = set()
        self._hooked: dict[Any, Any] = {}
        self._hook: Any = None
        # The node whose backward began a backward pass inside, as that of a checkpoint.
        self._around: dict[Any, Any] = {}
        # In the order of the pass: which of the gradients are bad that a node made.
        self._made: dict[Any, set[int]] = {}
        self._got: dict[Any, None] = {}
        self._looks: dict[Any, tuple[tuple[Look, ...], tuple[Look, ...]]] = {}
        self._walk(roots)

    def _walk(self, roots: Iterable[Any]) -> list[Any]:
        """Adds the nodes behind roots. Returns the nodes of the roots."""
        found = [each for each in map(nodes.node_of, roots) if each is not None]
        todo = list(found)
        while todo:
            node = todo.pop()
            if node in self.nodes:
                self._shared.add(node)
                continue
            self.nodes[node] = None
            following = node.next_functions
            if not following and hasattr(node, "variable"):
                self.leaves.append(node)
            if node.name() in CARRIERS:
                # Nobody looks at what a carrier got: a sum, or what a hook of the program returns.
                self._shared.update(each for each, _ in following if each is not None)
            todo += [each for each, _ in following if each is not None]
        return found

    def begin(self, later: bool) -> None:
        """The nodes remember from now on. `later`: the answers stay on the device."""
        self._hook = self._ask if later else self._look
        self._add(self.nodes)

    def goes_on(self, roots: Iterable[Any]) -> None:
        """A node of this pass runs a backward pass inside."""
        known, around = len(self.nodes), private.current_node()
        self._around.update((each, around) for each in self._walk(roots))
        self._add(list(self.nodes)[known:])

    def _add(self, new: Iterable[Any]) -> None:
        for node in new:
            if node.name() not in CARRIERS and (node.next_functions or self._may_change(node)):
                self._hooked[node] = node.register_hook(self._hook)

    def _may_change(self, leaf: Any) -> bool:
        """Whether a leaf may get another gradient than the one node before it made: a sum, or what
        a hook of the program returns."""
        return leaf in self._shared or bool(private.hooks_of(leaf.variable))

    def end(self) -> None:
        """Lets go of the nodes, which otherwise would keep their hooks, and the hooks the nodes."""
        for each in self._hooked.values():
            each.remove()
        self._hooked.clear()
        self.nodes.clear()
        # The hook is a method of this object: without this line only the garbage collector of
        # Python would end the circle, and with it the nodes and what they have kept.
        self._hook = None

    def _look(self, made: Sequence[Tensor | None], got: Sequence[Tensor | None]) -> None:
        """A node has run. A node of a leaf makes nothing."""
        for each in made or got:
            if each is not None and not finite(each):
                self._remember(made, got)
                return

    def _remember(self, made: Sequence[Tensor | None], got: Sequence[Tensor | None]) -> None:
        node = private.current_node()
        bad = [each is not None and not finite(each) for each in (*made, *got)]
        if any(bad[len(made) :]):
            self._has_got(node)
        for number in range(len(made)):
            if bad[number]:
                self._has_made(node, number)
        inputs = [(f"gradient {n}" if n else "gradient", each) for n, each in enumerate(got)]
        # What the forward operation has kept is still there.
        saved = private.saved(node) if node not in self._got else []
        outputs = [(f"output {n}", each) for n, each in enumerate(made)]
        self._looks[node] = (
            tuple(look(name, each) for name, each in (*inputs, *saved) if each is not None),
            tuple(look(name, each) for name, each in outputs if each is not None),
        )

    def _ask(self, made: Sequence[Tensor | None], got: Sequence[Tensor | None]) -> None:
        """As `_look`, with answers that stay on the device."""
        node = private.current_node()
        for each in got:
            if each is not None:
                self.flags.ask(each, partial(self._has_got, node))
        for number, each in enumerate(made):
            if each is not None:
                self.flags.ask(each, partial(self._has_made, node, number))

    def _has_got(self, node: Any) -> None:
        self._got[node] = None

    def _has_made(self, node: Any, number: int) -> None:
        self._made.setdefault(node, set()).add(number)

    def first(
        self, wanted: Iterable[tuple[Any, Tensor | None]], inputs: Sequence[Any]
    ) -> tuple[Cause, str | None] | None:
        """What made the first bad gradient on the way to a bad gradient that the program wanted:
        one of those in `wanted`, each with what it is the gradient of, or that of a leaf, if there
        are `inputs` of one of them. With a note. None if all are finite."""
        asked = [(nodes.node_of(of), grad) for of, grad in wanted if grad is not None]
        bad: list[tuple[Any, Tensor]] = []
        for node, grad in asked:
            self.flags.ask(grad, partial(bad.append, (node, grad)))
        self.flags.answer()
        if not bad and not self._made and not self._got:
            return None
        fed: dict[Any, list[tuple[Any, int]]] = {}
        for node in self.nodes:
            for number, (after, _) in enumerate(node.next_functions):
                fed.setdefault(after, []).append((node, number))
        way = partial(self._above, fed)
        leaves = self.leaves
        if inputs:
            leaves = [each for each in map(nodes.node_of, inputs) if each in self.leaves]
        arrived = [each for each in leaves
                   if (each in self._got if each in self._hooked else way(each))
                   and (each.variable.grad is None or not finite(each.variable.grad))]  # fmt: skip
        ends = [*arrived, *(node for node, _ in bad)]
        if not ends:
            return None
        first = min(_origins(ends, way), key=self._time)
        grads = [(self._title(node), node.variable.grad) for node in arrived]
        grads += [(self._title(node), grad) for node, grad in bad]
        # Of those on a device nothing else is left.
        shown = [look(title, grad) for title, grad in grads if grad is not None]
        return self._cause(first, self._ways(fed, first), tuple(shown[:1]))

    def _ways(self, fed: Mapping[Any, list[tuple[Any, int]]], node: Any) -> int:
        """How many gradients are added up in what a node got, behind carriers too."""
        found, todo = 0, [node]
        while todo:
            for each, _ in fed.get(todo.pop(), ()):
                if each in self._hooked:
                    found += 1
                else:
                    todo.append(each)
        return found

    def _above(self, fed: Mapping[Any, list[tuple[Any, int]]], node: Any) -> list[Any]:
        """The nodes that gave bad gradients to a node, through carriers."""
        found = []
        todo = [node]
        while todo:
            for each, number in fed.get(todo.pop(), ()):
                if each not in self._hooked:
                    todo.append(each)
                elif number in self._made.get(each, ()):
                    found.append(each)
        around = self._around.get(node)
        return found if around is None else found + self._above(fed, around)

    def _title(self, node: Any) -> str:
        """What the gradient is that a node got."""
        if node.next_functions:
            return f"gradient of the output of {node.name()}"
        name = name_of(node.variable, self._named)
        return f"gradient of {name[0] if name else 'a tensor'}"

    def _time(self, node: Any) -> int:
        """When a node made a bad gradient: those that made none come last."""
        times = {each: number for number, each in enumerate(self._made)}
        return times.get(node, len(times))

    def _cause(self, node: Any, ways: int, shown: tuple[Look, ...]) -> tuple[Cause, str | None]:
        """What a finding says of the first node, to which `ways` lead."""
        made, name, kind, parameter, note = nodes.made(node), node.name(), ORIGIN, None, None
        place, module = made.place, made.module
        inputs, outputs = self._looks.get(node, ((), ()))
        if node in self._got or node not in self._made:
            if not ways and not all(map(finite, self._given)):
                kind, parameter, module, place = ENTRY, GIVEN, None, frames.caller()
            elif ways > 1 and not any(each.nan for each in (*inputs, *shown)):
                note = notes.SUM
            else:
                came = (each for each in inputs if each.bad and each.name.startswith("gradient"))
                outputs = tuple(replace(each, name=self._title(node)) for each in came)
                name, module, inputs = HOOK, None, ()
                line = "its forward operation"
                if not node.next_functions:
                    place, line = nodes.hooked(node.variable), "the hook"
                line = line if place else "backward"
                note = notes.HOOKED.format(self._title(node), line)
        if not node.next_functions:
            inputs = ()
        outputs = outputs or shown
        return Cause(kind, name, place, inputs, outputs, module, 0, BACKWARD, parameter), note


def _origins(ends: list[Any], way: Callable[[Any], list[Any]]) -> Iterator[Any]:
    """The nodes on the ways to the ends which got no bad gradient from another node."""
    todo, seen = list(ends), set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            above = way(node)
            todo += above
            if not above:
                yield node
