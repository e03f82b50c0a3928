# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""How many steps of training, and calls of the model, a watch has seen."""

from typing import Any

import torch
from torch import nn

from nonfinite.torch.scaler import Scaler


class Steps:
    """A step ends when an optimizer has changed the model, when the scaler has left out a step, or
    when the program says so."""

    def __init__(self, model: nn.Module, scaler: Scaler) -> None:
        self._model, self._scaler = model, scaler
        self.begun = self.calls = 0
        self._ended = False
        self._parameters: set[int] = set()

    def enter(self) -> None:
        """The watch is entered."""
        self._parameters = {id(each) for each in self._model.parameters()}

    def end(self) -> None:
        """The program ends a step."""
        self.begun += 1
        self._ended = False

    def called(self) -> None:
        """The model is called."""
        self.calls += 1
        self.begun = self.begun or 1
        if torch.is_grad_enabled() and self._model.training:
            self.trains()

    def trains(self) -> None:
        """Training goes on: in a new step, if the one before has ended."""
        if self._ended or self._scaler.skipped():
            self.end()

    def changed(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        """An optimizer has made a step."""
        changed = {id(each) for group in optimizer.param_groups for each in group["params"][:1]}
        self._ended |= not changed.isdisjoint(self._parameters)

    @property
    def before(self) -> int:
        """How many steps came before this one."""
        return max(self.begun - 1, 0)
