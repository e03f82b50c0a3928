# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Where the program made a node of autograd: the line, and the module that ran.

In anomaly mode autograd calls a function of Python for each node that it makes, and keeps with the
node what the function returns. While a watch is entered, the function is ours. It takes 4 us, and
sees every node: also those of functions of C++, and inside of a compiled function's wrapper. A mode
that sees all operations would take longer, and torch.compile would look into the mode.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge

from nonfinite.torch import frames, private
from nonfinite.torch.replay import Call


class Made(list[str]):
    """What autograd keeps with a node. Autograd prints the texts if backward fails."""

    def __init__(self, place: frames.Line | None, module: nn.Module | None) -> None:
        file, line = place or ("?", 0)
        super().__init__([f'  File "{file}", line {line}\n    {frames.code_of(place) or ""}\n'])
        self.place, self.module = place, module


NOWHERE = Made(None, None)


def made(node: Any) -> Made:
    """Where a node was made. Nothing is known of nodes that were made before the watch began."""
    found = node.metadata.get(private.STACK)
    return found if isinstance(found, Made) else NOWHERE


def node_of(root: Any) -> Any:
    """The node behind a tensor, or behind an edge of autograd. None if there is none."""
    if not isinstance(root, Tensor):
        return root.node
    if root.grad_fn is not None or not root.requires_grad:
        return root.grad_fn
    return get_gradient_edge(root).node


def hooked(parameter: Tensor) -> frames.Line | None:
    """The line of the hook that the program has put on the gradient of a leaf, if there is one."""
    hooks = (private.hooks_of(parameter) or {}).values()
    codes = [getattr(each, "__code__", None) for each in hooks]
    return (codes[0].co_filename, codes[0].co_firstlineno) if len(codes) == 1 and codes[0] else None


def _is_torchs(module: nn.Module) -> bool:
    """Whether a module is one of torch. All nodes inside have the line of the call then: modules of
    the program that it calls are calls of their own."""
    return type(module).__module__.startswith("torch.nn.")


class Nodes:
    """Notes where each node is made. `call` says which call of a module runs."""

    def __init__(self, call: Callable[[], Call | None]) -> None:
        self._call = call
        self._theirs: Any = None
        self._before = (False, True)
        self._known: dict[tuple[frames.Line | None, nn.Module | None], Made] = {}

    def begin(self) -> None:
        """Nodes are noted from now on."""
        self._before = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
        self._theirs = private.set_format_stack(self._note)
        torch.set_anomaly_enabled(True, all(self._before))

    def end(self) -> None:
        """Nodes are noted no longer."""
        # The program may have set another mode meanwhile.
        ours = (True, all(self._before))
        if (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == ours:
            torch.set_anomaly_enabled(*self._before)
        private.set_format_stack(self._theirs)
        self._known.clear()

    def _note(self) -> Any:
        if private.keeps_stacks():
            # torch.compile traces, and asks for stacks of its own.
            return self._theirs()
        call = self._call()
        return self._made(frames.caller(), None) if call is None else self._inside(call)

    def _inside(self, call: Call) -> Made:
        if call.made is not None:
            return call.made
        if not _is_torchs(call.module):
            return self._made(frames.caller(), call.module)
        above = call.parent if call.parent and _is_torchs(call.parent.module) else None
        place = self._inside(above).place if above else frames.caller()
        call.made = self._made(place, call.module)
        return call.made

    def _made(self, place: frames.Line | None, module: nn.Module | None) -> Made:
        found = self._known.get((place, module))
        if found is None:
            found = self._known[place, module] = Made(place, module)
        return found
