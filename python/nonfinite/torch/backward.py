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
from nonfinite.torch.look import number as look_of_number
from nonfinite.torch.operations import Cause
from nonfinite.torch.report import BACKWARD
from nonfinite.torch.storages import Named, name_of

GIVEN = "the gradient that the program gave to backward"
HOOK = "register_hook"

Sources = list[tuple[Any, int]]
"""Gradients: the node that made each, and which output of the node. In place of a node, None stands
for the program, and for the backward passes before."""

# Nodes that change no number of a gradient, and get no hook.
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
        # Nodes that may get a sum.
        self._shared: set[Any] = set()
        self._hooked: dict[Any, Any] = {}
        self._later = False
        # The leaves that had a gradient before this pass adds one, and whether that was bad.
        self._before: dict[Any, bool] = {}
        # The node whose backward began a backward pass inside, as that of a checkpoint.
        self._around: dict[Any, Any] = {}
        # In the order of the pass: which of the gradients are bad that a node made.
        self._made: dict[Any, set[int]] = {}
        self._got: dict[Any, None] = {}
        self._looks: dict[Any, tuple[tuple[Look, ...], tuple[Look, ...]]] = {}
        self._roots = self._walk(roots)

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
            following = [each for each, _ in node.next_functions if each is not None]
            if not following and hasattr(node, "variable"):
                self.leaves.append(node)
            if node.name() in CARRIERS:
                # Nobody looks at what a carrier got: a sum, or what a hook of the program returns.
                self._shared.update(following)
            todo += following
        return found

    def begin(self, later: bool) -> None:
        """The nodes remember from now on. `later`: the answers stay on the device."""
        self._later = later
        self._add(0, 0)

    def goes_on(self, roots: Iterable[Any]) -> None:
        """A node of this pass runs a backward pass inside."""
        known, around = (len(self.nodes), len(self.leaves)), private.current_node()
        self._around.update((each, around) for each in self._walk(roots))
        self._add(*known)

    def _add(self, known: int, leaves: int) -> None:
        """Adds hooks to the nodes after the first ones, which have theirs."""
        hook = self._ask if self._later else self._look
        for node in list(self.nodes)[known:]:
            if node.name() not in CARRIERS and (node.next_functions or self._may_change(node)):
                self._hooked[node] = node.register_hook(hook)
        for leaf in self.leaves[leaves:]:
            if leaf.variable.grad is not None:
                self._before[leaf] = False
                self._when_bad(leaf.variable.grad, partial(self._before.__setitem__, leaf, True))

    def _when_bad(self, tensor: Tensor, then: Callable[[], Any]) -> None:
        """Calls a function if a tensor is bad: now, or when the device answers."""
        if self._later:
            self.flags.ask(tensor, then)
        elif not finite(tensor):
            then()

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
        self.flags.forget()

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
            self._got[node] = None
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
                self.flags.ask(each, partial(self._got.setdefault, node))
        for number, each in enumerate(made):
            if each is not None:
                self.flags.ask(each, partial(self._has_made, node, number))

    def _has_made(self, node: Any, number: int) -> None:
        self._made.setdefault(node, set()).add(number)

    def first(
        self, wanted: Iterable[tuple[Any, Tensor | None]], inputs: Sequence[Any]
    ) -> tuple[Cause, str | None] | None:
        """What made the first bad gradient on the way to a bad gradient that the program wanted:
        one of those in `wanted`, each with what it is the gradient of, or that of a leaf, if there
        are `inputs` of one of them. With a note. None if all are finite."""
        asked = [(nodes.node_of(of), grad) for of, grad in wanted]
        asked += [(leaf, leaf.variable.grad) for leaf in self._before]
        bad: list[tuple[Any, Tensor]] = []
        for node, grad in asked:
            if grad is not None:
                self._when_bad(grad, partial(bad.append, (node, grad)))
        self.flags.answer()
        bad = [pair for pair in bad if not self._before.get(pair[0])]
        if not bad and not self._made and not self._got:
            return None
        added = self._before.keys() - self._got.keys()
        fed: dict[Any, Sources] = {node: [(None, 0)] for node in (*self._roots, *added)}
        for node in self.nodes:
            for number, (after, _) in enumerate(node.next_functions):
                fed.setdefault(after, []).append((node, number))

        def way(node: Any) -> list[Any]:
            sources = self._sources(fed, node)
            return [each for each, number in sources if number in self._made.get(each, ())]

        leaves = self.leaves
        if inputs:
            leaves = [each for each in map(nodes.node_of, inputs) if each in self.leaves]
        arrived = [each for each in leaves
                   if (each in self._got if each in self._hooked else way(each))
                   and (each.variable.grad is None or not finite(each.variable.grad))]  # fmt: skip
        ends = [*arrived, *(node for node, _ in bad)]
        if not ends:
            return None
        times = {each: number for number, each in enumerate(self._made)}
        first = min(_origins(ends, way), key=lambda node: times.get(node, len(times)))
        grads = [*((node, node.variable.grad) for node in arrived), *bad]
        grads.sort(key=lambda pair: pair[0] is not first)
        # On a device nothing else is left to show.
        shown = [look(self._title(node), grad) for node, grad in grads if grad is not None]
        return self._cause(first, self._sources(fed, first), tuple(shown[:1]))

    def _sources(self, fed: Mapping[Any, Sources], node: Any) -> Sources:
        """The gradients whose sum a node got, directly or through carriers."""
        found, todo = [], [node]
        while todo:
            node = todo.pop()
            if node in self._around:
                todo.append(self._around[node])
            for pair in fed.get(node, ()):
                if pair[0] is None or pair[0] in self._hooked:
                    found.append(pair)
                else:
                    todo.append(pair[0])
        return found

    def _title(self, node: Any) -> str:
        """What the gradient is that a node got."""
        if node.next_functions:
            return f"gradient of the output of {node.name()}"
        name = name_of(node.variable, self._named)
        return f"gradient of {name[0] if name else 'a tensor'}"

    def _cause(
        self, node: Any, sources: Sources, shown: tuple[Look, ...]
    ) -> tuple[Cause, str | None]:
        """What a finding says of the first node."""
        made, name, kind, parameter, note = nodes.made(node), node.name(), ORIGIN, None, None
        place, module = made.place, made.module
        inputs, outputs = self._looks.get(node, ((), ()))
        exponent = private.exponent(node)
        if node in self._got or node not in self._made:
            exponent = None
            # A sum of finite numbers has no NaN.
            got = inputs if node.next_functions else (*inputs, *shown)
            if (None, 0) in sources and not all(map(finite, self._given)):
                kind, parameter, module, place = ENTRY, GIVEN, None, frames.caller()
            elif len(sources) > 1 and not any(each.nan for each in got):
                note = notes.SUM
            else:
                came = (each for each in inputs if each.bad and each.name.startswith("gradient"))
                outputs = tuple(replace(each, name=self._title(node)) for each in came)
                name, module, inputs = HOOK, None, ()
                line = "its forward operation"
                if not node.next_functions:
                    place, line = nodes.hooked(node.variable), "the hook"
                line = line if place else "backward"
                note = notes.HOOKED.format(HOOK, self._title(node), line)
        elif name == "BackwardHookFunctionBackward":
            name, module = "register_full_backward_hook", None
            hooks = f"{name} or register_full_backward_pre_hook"
            note = notes.HOOKED.format(hooks, "gradient", "the module's call")
        elif made is nodes.NOWHERE:
            note = notes.BEFORE_WATCH
        if exponent is not None:
            inputs += (look_of_number("exponent", exponent),)
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
