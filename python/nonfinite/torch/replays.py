# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Which calls of a step run again, until one of them names the operation."""

from collections.abc import Sequence

from torch import nn

from nonfinite.torch import notes, replay
from nonfinite.torch.hooked import waits_for_others
from nonfinite.torch.look import finite
from nonfinite.torch.operations import Found, named
from nonfinite.torch.replay import Call, Running
from nonfinite.trace.results import Look


class Replays:
    """Runs calls of the modules of a model again."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self.running: Running | None = None
        """The replay that runs. The hooks of the watch tell it which modules begin and end."""

    def forward(
        self, call: Call
    ) -> tuple[Call, Found | None, tuple[Look, ...], str | None]:
        """Runs a call with a bad output again. If the inputs were bad already, runs the caller
        again, which has not ended yet, and so on."""
        child = None
        while True:
            if call.inputs_changed():
                return call, None, (), notes.CHANGED
            if call.parent is None and call.inputs_bad():
                child = None
            found, outputs, note = self._again(call, child)
            if found is not None or call.parent is None or not call.inputs_bad():
                return call, found, outputs, note
            child, call = call.module, call.parent

    def _again(
        self, call: Call, child: nn.Module | None
    ) -> tuple[Found | None, tuple[Look, ...], str | None]:
        """Runs a call again, to its end or until a child gets bad inputs."""
        names = named(self._model)
        running = self.running = Running(call.module)
        try:
            if child is not None:
                return replay.until_bad_input(call, child, names, running.module), (), None
            found, again = replay.forward(call, names, running.module)
        except Exception as error:
            return None, (), f"the replay failed: {error}"
        finally:
            self.running = None
        return found, again, None if found or again else "the replay gave finite numbers"

    def backward(self, calls: Sequence[Call]) -> tuple[Call | None, Found | None, str | None]:
        """Runs the outermost calls again, the last one first, as backward does, until one has a bad
        gradient."""
        if not calls:
            return None, None, notes.UNSEEN
        note, good, bad = None, False, False
        for call in reversed(calls):
            kept = {number: grad for number, grad in call.grads.items() if finite(grad)}
            bad = bad or len(kept) < len(call.grads)
            call.grads = kept
            if not kept:
                continue
            good = True
            if call.inputs_changed():
                note = notes.CHANGED
                continue
            if waits_for_others(call.module):
                note = notes.SYNCHRONISED
                continue
            running = self.running = Running(call.module)
            try:
                found = replay.backward(call, named(self._model), running)
            except Exception as error:
                note = f"the replay failed: {error}"
                continue
            finally:
                self.running = None
            if found is not None:
                return call, found, None
        from_outside = bad or not good
        return None, None, note or (notes.LOSS if from_outside else notes.NOT_FOUND)
