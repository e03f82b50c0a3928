# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The findings of a watch, and what a watch does with one."""

from collections.abc import Callable, Iterable

import torch
from torch import nn

from nonfinite.findings import INTENDED, ORIGIN, Look
from nonfinite.torch import causes, frames, notes
from nonfinite.torch.history import History, Steps
from nonfinite.torch.hooked import eager, paths
from nonfinite.torch.look import finite, look
from nonfinite.torch.operations import Cause
from nonfinite.torch.replay import Call
from nonfinite.torch.report import BACKWARD, FORWARD, UNKNOWN, BadOperation, BadValueError
from nonfinite.torch.scaler import Scaler


class Found:
    """Makes findings: at most one for each call of the model. `advises`: whether another option of
    the watch may name what this watch does not."""

    def __init__(
        self,
        model: nn.Module,
        on_bad: str | Callable[[BadOperation], None],
        steps: Steps,
        scaler: Scaler,
        advises: bool,
    ) -> None:
        if on_bad not in ("raise", "record") and not callable(on_bad):
            raise ValueError("on_bad must be 'raise', 'record' or a function")
        self._model, self._on_bad = model, on_bad
        self._steps, self._scaler, self._advises = steps, scaler, advises
        self.all: list[BadOperation] = []
        self.history = History(model)
        self.paths: dict[nn.Module, str] = {}
        self._in: int | None = None

    def enter(self) -> None:
        """The watch is entered."""
        self.paths = paths(self._model)

    @property
    def is_judged(self) -> bool:
        """Whether there is a finding for this call of the model, or an overflow that is none."""
        return self._in == self._steps.calls

    def is_expected(self, expected: bool) -> bool:
        """If so, the call is judged."""
        if expected:
            self._in = self._steps.calls
        return expected

    def add(
        self,
        phase: str,
        call: Call | None,
        found: Cause | None,
        outputs: tuple[Look, ...],
        note: str | None,
        given: Iterable[Call],
    ) -> None:
        """Makes a finding. `call`: the call that made the outputs. None: they are those of the
        program. `given`: the calls whose inputs may have been bad."""
        module = found.module if found is not None else call.module if call else None
        place = found.place if found is not None else None
        if place is None and call is not None and phase == FORWARD:
            place = call.place
        # In backward: the line that calls backward.
        place = place or frames.caller()
        file, line = place or (None, None)
        if found is not None and found.kind == INTENDED:
            note = notes.MASK.format(outputs[0].name)
        elif found is not None and self._advises:
            note = note or notes.of_entry(found, self._steps.before)
        if note is not None and not self._advises:
            note = note.removesuffix(notes.ADVICE)
        scaled = self._scaler.note(phase, found)
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        # A node of autograd may have kept what the model got.
        explains = found is None or found.kind != ORIGIN or (
            found.phase == BACKWARD and any(each.bad for each in found.inputs)
        )
        told = found and (found.kind, found.operator, found.inputs, found.outputs)
        finding = BadOperation(
            kind=found.kind if found else UNKNOWN,
            phase=phase,
            module=None if module is None else self.paths.get(module),
            module_type="" if module not in self.paths else type(eager(module)).__name__,
            operator=found.operator if found else None,
            file=file,
            line=line,
            code=frames.code_of(place),
            inputs=found.inputs if found else (),
            outputs=found.outputs if found else outputs,
            step=self._steps.before,
            call=max(self._steps.calls - 1, 0),
            rank=torch.distributed.get_rank() if distributed else None,
            parameter=found.parameter if found else None,
            cause=causes.cause(*told) if told else None,
            bad_inputs=_bad_inputs(given) if explains else (),
            note="; ".join(filter(None, (note, scaled))) or None,
            history=self.history.diverging(self._steps.before),
        )
        self._in = self._steps.calls
        self.all.append(finding)
        if callable(self._on_bad):
            self._on_bad(finding)
        elif self._on_bad == "raise":
            raise BadValueError(finding)


def _bad_inputs(calls: Iterable[Call]) -> tuple[Look, ...]:
    """What the model got that was bad."""
    return tuple(
        look(name, each) for call in calls for name, each in call.given() if not finite(each)
    )
