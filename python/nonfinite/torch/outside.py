# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What a program computes between its models and backward, and how backward begins."""

import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from nonfinite.torch import frames, private
from nonfinite.torch.backward import Pass
from nonfinite.torch.flags import Flags
from nonfinite.torch.look import finite, in_transform, is_away, look, tensors
from nonfinite.torch.nodes import Nodes
from nonfinite.torch.operations import Before, Cause, Operations, mutates
from nonfinite.torch.storages import Named

# A program that never runs backward may make bad tensors all the time.
MANY = 100_000
RETAIN = "retain_grad"


def in_backward() -> bool:
    """Whether this thread runs a backward pass."""
    return private.current_node() is not None


class _Window(Operations):
    """Compiled functions of the program stay compiled, and what they compute is not seen.

    Answers about tensors on other devices than the CPU stay there until somebody asks what made a
    tensor bad, or until an operation changes a tensor. The tensors are kept until then.
    """

    def __init__(self, names: Named) -> None:
        super().__init__(names, lambda: None, whole=True)
        self._flags = Flags()

    def settle(self) -> None:
        """Judges the operations whose answers are on a device, in their order."""
        self._flags.answer()

    def forget(self) -> None:
        """Nothing that was seen matters any longer."""
        self._flags.forget()
        self.causes.clear()

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


class Outside:
    """Looks at the operations after the call of a watched model until backward, which are few, at
    the tensor that backward begins with, and at backward. One for all watches, as one loss may have
    several models: the first watch that is entered replaces the function of torch that begins
    backward, and the last one puts it back.

    Operations are looked at in the thread that entered the first watch only. What is called a watch
    here is its `Gradients`.
    """

    def __init__(self) -> None:
        self._watches: list[Any] = []
        self._mode: _Window | None = None
        self._nodes = Nodes(self._call)
        self._passes: list[Pass] = []
        # The tensors inside of a graph whose gradients the program keeps.
        self._retained: list[weakref.ref[Tensor]] = []
        self._retain_grad: Any = None
        self._is_open = False
        self._thread = 0
        self._theirs: Any = None
        self._ours: Any = None
        self._names: dict[int, list[tuple[str, Tensor]]] = {}

    def join(self, watch: Any) -> None:
        """A watch is entered."""
        self.close()
        if not self._watches:
            if not self._is_open:
                self._thread = threading.get_ident()
            if private.run_backward() is not self._ours:
                self._theirs = private.run_backward()
                self._ours = self._entered(self._theirs)
                private.set_run_backward(self._ours)
            self._nodes.begin()
            # Another package may have put one there.
            self._retain_grad = Tensor.__dict__.get(RETAIN)
            setattr(Tensor, RETAIN, self._retaining(Tensor.retain_grad))
        self._watches.append(watch)
        self._name()

    def leave(self, watch: Any) -> None:
        """A watch is left."""
        try:
            # May raise what a device answers only now.
            self.close()
        finally:
            self._watches.remove(watch)
            self._name()
            if not self._watches:
                self._nodes.end()
                self._retained.clear()
                if self._retain_grad is None:
                    delattr(Tensor, RETAIN)
                else:
                    setattr(Tensor, RETAIN, self._retain_grad)
            self._end()

    def _call(self) -> Any:
        """The call of a module of a watched model that runs in this thread."""
        for watch in self._watches:
            call = watch.forward.call()
            if call is not None:
                return call
        return None

    def _retaining(self, original: Callable[[Tensor], None]) -> Callable[[Tensor], None]:
        """`retain_grad` of torch, which notes the tensor."""

        @functools.wraps(original)
        def retain_grad(tensor: Tensor) -> None:
            original(tensor)
            self._retained.append(weakref.ref(tensor))

        return retain_grad

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
        if self._mode is not None and all(each.forward.is_idle() for each in self._watches):
            self._mode.forget()

    def open(self) -> None:
        """A watched model has returned: operations are looked at from now on."""
        # The program may leave a mode of its own before backward. Modes are left in the order of
        # the stack, so ours must not lie above one.
        others = private.modes_on()
        if self._is_open or others or threading.get_ident() != self._thread:
            return
        mode = self._window()
        if len(mode.causes) > MANY:
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
            roots, grads, keeps, creates, inputs, *_ = given
            passes = torch.compiler.is_compiling() or in_transform()
            passes = passes or any(map(private.is_batched, tensors(grads)))
            if not passes and in_backward():
                self._inside(roots)
                passes = True
            if not passes and not self._watches:
                self.close()
                self._end()
            if passes or not self._watches or any(each.forward.is_busy() for each in self._watches):
                return original(*given, **named)
            was_open = self._is_open
            self.close()
            seen = Pass(roots, tensors(grads), self._names)
            reached = self._begin(seen, [each for each in roots if isinstance(each, Tensor)])
            try:
                with self._without_modes():
                    result = original(*given, **named)
                self._judge(seen, reached, inputs, result)
            finally:
                seen.end()
                if seen in self._passes:
                    self._passes.remove(seen)
                for watch in tuple(self._watches):
                    watch.ends(watch in reached, bool(keeps), bool(creates))
            # The gradients may be a part of the loss. And a model that waits has not been a part of
            # this backward.
            if was_open and (creates or not all(w.forward.is_idle() for w in self._watches)):
                self.open()
            return result

        return run

    def _inside(self, roots: Sequence[Any]) -> None:
        """A node runs a backward pass, as that of a checkpoint does. Tracers run one, too, with
        tensors that have no numbers."""
        node = private.current_node()
        for each in self._passes:
            if node in each.nodes and all(type(root) is Tensor for root in roots):
                each.goes_on(roots)

    def _begin(self, seen: Pass, roots: list[Tensor]) -> list[Any]:
        """Looks at the roots. Returns the watches to whose models backward comes."""
        bad = [each for each in roots if not finite(each)]
        # -Inf of some elements is a mask.
        bad = [each for each in bad if each.numel() == 1 or not look("", each).only_minus_inf]
        reached = [watch for watch in self._watches if watch.is_reached(seen)]
        for watch in tuple(self._watches):
            watch.begins(roots, bad, self._mode)
        if reached and not bad:
            some = [*roots, *(leaf.variable for leaf in seen.leaves[:1])]
            seen.begin(any(watch.forward.is_later(each) for watch in reached for each in some))
            self._passes.append(seen)
        return reached

    def _judge(
        self, seen: Pass, reached: list[Any], inputs: Sequence[Any], results: Any
    ) -> None:
        """Backward has ended without an error. `inputs`: of what the program wanted gradients, if
        not of all leaves. `results`: the gradients, if backward has not added them to the inputs.
        """
        if seen not in self._passes:
            return
        pairs = ((ref, ref()) for ref in self._retained)
        alive = [(ref, each) for ref, each in pairs if each is not None]
        self._retained = [ref for ref, _ in alive]
        kept = [each for _, each in alive if each.grad_fn in seen.nodes]
        if results is None:
            kept += [each for each in inputs if isinstance(each, Tensor) and not each.is_leaf]
        wanted = [*zip(inputs, results or (), strict=False), *((each, each.grad) for each in kept)]
        found = seen.first(wanted, inputs)
        if found is not None:
            for watch in reached:
                watch.bad(*found)

    @contextmanager
    def _without_modes(self) -> Iterator[None]:
        """Operations of backward are not looked at, so they need not pass by our modes."""
        if all(isinstance(each, Operations) for each in private.modes()):
            with private.without_modes():
                yield
        else:
            yield


outside = Outside()
