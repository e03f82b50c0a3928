# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Which calls run again, until one of them names the operation."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import nn

from nonfinite.findings import Look
from nonfinite.torch import notes, replay
from nonfinite.torch.hooked import attach, inside_compiled
from nonfinite.torch.operations import Cause
from nonfinite.torch.replay import Call, Running
from nonfinite.torch.storages import named


@contextmanager
def inside(module: nn.Module, running: Running) -> Iterator[None]:
    """The replay sees the modules inside compiled ones, too, where the watch has no hooks."""
    with ExitStack() as exits:
        for each in inside_compiled(module):
            enter, leave = (lambda module, *_: running.enter(module)), running.leave
            exits.callback(attach(each, enter, lambda *_: leave()))
        yield


class Replays:
    """Runs calls of the modules of a model again."""

    def __init__(self, model: nn.Module, allowed: Collection[Any]) -> None:
        self._model, self._allowed = model, allowed
        self.running: Running | None = None
        """The replay that runs. The hooks of the watch tell it which modules begin and end."""

    def forward(
        self, call: Call
    ) -> tuple[Call, Cause | None, tuple[Look, ...], str | None]:
        """Runs a call with a bad output again. If the inputs were bad already, runs the caller
        again, which has not ended yet, and so on."""
        child = None
        if call.args is None:
            # The inputs are gone: the outermost call runs again.
            outermost = call.outermost()
            if outermost.inputs_changed():
                return call, None, (), notes.CHANGED
            return call, *self._again(outermost, call.module, ended=True)
        while True:
            if call.inputs_changed():
                return call, None, (), notes.CHANGED
            found, outputs, note = self._again(call, child)
            if found is None and child is not None and call.parent is None and call.inputs_bad():
                found, outputs, note = self._again(call, None)
            if found is not None or call.parent is None or not call.inputs_bad():
                return call, found and self._maker(call, found), outputs, note
            child, call = call.module, call.parent

    def _maker(self, call: Call, found: Cause) -> Cause:
        """The operation behind a tensor that `found` reads and that is no input of the module: the
        modules around may show it, which have not ended."""
        child = call.module
        while found.unseen and (around := call.parent) is not None and not around.inputs_changed():
            call = around
            found = self._again(call, child, ended=True)[0] or found
        return found

    def _again(
        self, call: Call, child: nn.Module | None, ended: bool = False
    ) -> tuple[Cause | None, tuple[Look, ...], str | None]:
        """Runs a call again, to its end or until a module inside gets bad inputs, or makes bad
        outputs if the call has `ended`."""
        running = self.running = Running(call.module)
        try:
            mode = replay.mode_of(call, named(self._model), running.module, self._allowed)
            with inside(call.module, running):
                if child is not None and ended:
                    found, again = replay.until_bad_output(call, child, mode)
                elif child is not None:
                    return replay.until_bad_input(call, child, mode), (), None
                else:
                    found, again = replay.forward(call, mode)
        except Exception as error:
            return None, (), notes.failed(error)
        finally:
            self.running = None
        return found, again, None if found or again else "the replay gave finite numbers"
