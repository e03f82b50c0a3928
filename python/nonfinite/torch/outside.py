# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What a program computes between the calls of its models and backward: the loss."""

import functools
import threading
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from nonfinite.findings import ORIGIN
from nonfinite.torch import frames, private
from nonfinite.torch.flags import Flags
from nonfinite.torch.look import finite, in_transform, is_away, is_batched, look, tensors
from nonfinite.torch.operations import Before, Cause, Operations, mutates
from nonfinite.torch.report import BACKWARD
from nonfinite.torch.storages import Named

# A program that never runs backward makes nodes all the time.
MANY = 100_000


class Watching(Protocol):
    """What a watch is for this module."""

    names: Named

    def is_busy(self) -> bool:
        """Whether a call of a module runs, or a replay."""

    def is_idle(self) -> bool:
        """Whether no call of a module waits for backward."""

    def backward_begins(
        self, roots: list[Tensor], bad: list[Tensor], seen: Operations | None
    ) -> None:
        """Backward begins with `roots`, of which some may be bad. `seen`: the operations outside of
        the models."""

    def backward_ends(self, ran: bool, keeps: bool, creates: bool) -> None:
        """Backward ends. `ran`: without an error. `keeps`: the graph. `creates`: a graph of the
        gradients, which are a part of the step then."""

    def bad_outside(self, found: Cause) -> None:
        """An operation outside of the models made a bad gradient."""


def in_backward() -> bool:
    """Whether this thread runs a backward pass."""
    return private.current_node() is not None


class _Window(Operations):
    """Compiled functions of the program stay compiled, and what they compute is not seen.

    Of tensors on other devices than the CPU, the answers stay there until somebody asks what made a
    tensor bad, or until an operation changes a tensor. The tensors are kept until then.
    """

    def __init__(self, names: Named) -> None:
        super().__init__(names, lambda: None, lambda: False, whole=True)
        self._flags = Flags()

    def settle(self) -> None:
        """Judges the operations whose answers are on a device, in their order."""
        self._flags.answer()

    def forget(self) -> None:
        self._flags.forget()
        super().forget()

    def cause_of(self, outputs: Any, *, masks: bool = False) -> Cause | None:
        self.settle()
        return super().cause_of(outputs, masks=masks)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        if mutates(func):
            self.settle()
        return super()._run(func, args, kwargs)

    def _look_at(
        self, func: Any, args: Any, kwargs: Any, result: Any, before: list[tuple[Tensor, Before]]
    ) -> None:
        results = tensors(result)
        if mutates(func) or not any(map(is_away, results)):
            if not all(map(finite, results)):
                # What is on a device may have made it bad.
                self.settle()
            super()._look_at(func, args, kwargs, result, before)
            return
        place = frames.caller()
        judged: list[bool] = []

        def judge() -> None:
            if not judged:
                judged.append(True)
                bad = [each for each in results if not finite(each)]
                self._judge(func, args, kwargs, bad, [], place)

        for each in results:
            self._flags.ask(each, judge)

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True


def _may_wait(node: Any) -> bool:
    """Whether a node that runs again may wait for other ranks, which do not run theirs again: a
    function of the program or of a library."""
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    return distributed and (isinstance(node, private.BackwardCFunction) or "::" in node.name())


class Outside:
    """Looks at the operations after the call of a watched model until backward, which are few, and
    at the tensor that backward begins with. One for all watches, as one loss may have several
    models: the first watch that is entered replaces the function of torch that begins backward, and
    the last one puts it back.

    Only the thread that entered the first watch is looked at.
    """

    def __init__(self) -> None:
        self._watches: list[Watching] = []
        self._mode: _Window | None = None
        # About the gradients that the operations outside make, and get.
        self._flags = Flags()
        self._is_open = False
        self._thread = 0
        self._theirs: Any = None
        self._ours: Any = None
        self._names: dict[int, list[tuple[str, Tensor]]] = {}

    def join(self, watch: Watching) -> None:
        """A watch is entered."""
        self.close()
        if not self._watches:
            if not self._is_open:
                self._thread = threading.get_ident()
            if private.run_backward() is not self._ours:
                self._theirs = private.run_backward()
                self._ours = self._entered(self._theirs)
                private.set_run_backward(self._ours)
        self._watches.append(watch)
        self._name()

    def leave(self, watch: Watching) -> None:
        """A watch is left."""
        self.close()
        self._watches.remove(watch)
        self._name()
        self._end()

    def _name(self) -> None:
        """The mode, which may be on the stack of another thread, gets the names of all watches."""
        self._names.clear()
        for watch in self._watches:
            self._names.update(watch.names)

    def _end(self) -> None:
        """Undoes everything if there are no watches. Where another thread has the mode open,
        the next backward of that thread closes the mode."""
        if self._watches or self._is_open:
            return
        self._mode = None
        # Another package may have replaced ours. Without watches ours does nothing.
        if private.run_backward() is self._ours:
            private.set_run_backward(self._theirs)

    def forget(self) -> None:
        """A step begins. Forgets what was seen, unless a watch waits for backward."""
        if self._mode is not None and all(each.is_idle() for each in self._watches):
            self._mode.forget()

    def open(self) -> None:
        """A watched model has returned: operations are looked at from now on."""
        # The program may leave a mode of its own before backward. Modes are left in the order of
        # the stack, so ours must not lie above one.
        others = private.modes_on()
        if self._is_open or others or threading.get_ident() != self._thread:
            return
        mode = self._window()
        if len(mode.places) + len(mode.causes) > MANY:
            mode.forget()
        self._is_open = True
        mode.__enter__()

    def _window(self) -> _Window:
        if self._mode is None:
            self._mode = _Window(self._names)
        return self._mode

    def explain(self, bad: list[Tensor], found: Cause) -> None:
        """An operation of a watched model made the infinities of these tensors as told."""
        if self._watches and threading.get_ident() == self._thread:
            for each in bad:
                self._window().causes.set(each, found)

    def close(self) -> bool:
        """A watched model is called, or backward begins. Returns whether operations were looked at
        until now."""
        if not self._is_open or threading.get_ident() != self._thread:
            return False
        stack = private.modes()
        if self._mode is None or self._mode not in stack:
            # Torch has set all modes aside, and will put them back.
            return False
        self._is_open = False
        # Modes that the program has entered since lie above, and stay.
        above = stack[stack.index(self._mode) + 1 :]
        for each in (*reversed(above), self._mode):
            private.TorchDispatchMode.__exit__(each, None, None, None)
        for each in above:
            private.TorchDispatchMode.__enter__(each)
        # A program that never runs backward would keep more tensors with each call of the model.
        self._mode.settle()
        return True

    def _entered(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that runs backward, with a look at what it begins with."""

        @functools.wraps(original)
        def run(*given: Any, **named: Any) -> Any:
            if run is not self._ours:
                # Another package calls the function of an earlier watch, inside of ours.
                return original(*given, **named)
            roots, grads, keeps, creates, *_ = given
            passes = torch.compiler.is_compiling() or in_transform() or in_backward()
            passes = passes or any(map(is_batched, tensors(grads)))
            if not passes and not self._watches:
                self.close()
                self._end()
            if passes or not self._watches or any(each.is_busy() for each in self._watches):
                return original(*given, **named)
            was_open, ran = self._is_open, False
            self.close()
            hooks = self._begin([each for each in roots if isinstance(each, Tensor)])
            try:
                result = original(*given, **named)
                ran = True
            finally:
                for each in hooks:
                    each.remove()
                try:
                    if ran:
                        self._flags.answer()
                finally:
                    self._flags.forget()
                    for watch in tuple(self._watches):
                        watch.backward_ends(ran, bool(keeps), bool(creates))
            # The gradients may be a part of the loss. And a model that waits has not been a part of
            # this backward.
            if was_open and (creates or not all(each.is_idle() for each in self._watches)):
                self.open()
            return result

        return run

    def _begin(self, roots: list[Tensor]) -> list[Any]:
        """Looks at the roots, and at the gradients that the operations outside make."""
        bad = [each for each in roots if not finite(each)]
        # -Inf of some elements is a mask.
        bad = [each for each in bad if each.numel() == 1 or not look("", each).only_minus_inf]
        for watch in tuple(self._watches):
            watch.backward_begins(roots, bad, self._mode)
        if self._mode is None or bad:
            return []
        places, seen, hooks = self._mode.places, set(), []
        nodes = [each.grad_fn for each in roots]
        while nodes:
            node = nodes.pop()
            if node is None or node in seen or private.number_of(node) not in places:
                continue
            seen.add(node)
            hooks.append(node.register_hook(functools.partial(self._look, node)))
            nodes += [each for each, _ in node.next_functions]
        return hooks

    def _look(self, node: Any, made: Any, got: Any) -> None:
        """A node has run. Names it, if it made the first bad gradient."""
        seen = self._mode
        if seen is None:
            # The last watch was left during this backward pass.
            return
        place = seen.places[private.number_of(node)]
        if any(map(is_away, tensors(made))):
            # What the node reads is gone when the answer is there: the node itself is named.
            for each in tensors(got):
                self._flags.ask(each, lambda: True)
            for each in tensors(made):
                self._flags.ask(each, functools.partial(self._bad_later, node.name(), place))
            return
        if all(map(finite, tensors(made))) or not all(map(finite, tensors(got))):
            return
        # The tensors that the node reads are still there.
        mode = Operations(seen._named, lambda: None, lambda: True, whole=True)
        mode.places = seen.places
        found = None
        try:
            if not _may_wait(node):
                with mode, torch.no_grad():
                    found = mode.cause_of(getattr(node, "apply", node)(*got))
        except Exception:
            # A node that cannot run alone is named itself.
            pass
        if found is None:
            inputs, outputs = (
                tuple(look(f"{name} {n}", each) for n, each in enumerate(tensors(value)))
                for name, value in (("gradient", got), ("output", made))
            )
            found = Cause(ORIGIN, node.name(), place, inputs, outputs, None, 0, BACKWARD)
        self._tell(found)

    def _bad_later(self, name: str, place: frames.Line | None) -> bool:
        """A node made a bad gradient of good ones."""
        self._tell(Cause(ORIGIN, name, place, (), (), None, 0, BACKWARD))
        return True

    def _tell(self, found: Cause) -> None:
        for watch in tuple(self._watches):
            watch.bad_outside(found)


outside = Outside()
