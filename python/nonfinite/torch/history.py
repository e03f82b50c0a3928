# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""How far the training has come: steps, and how the loss and the weights have grown."""

from collections import deque
from typing import Any

import torch
from torch import Tensor, nn

from nonfinite.torch.hooked import written
from nonfinite.torch.look import largest, plain
from nonfinite.torch.report import Past
from nonfinite.torch.scaler import Scaler

# How many of the last steps a finding shows.
KEPT = 5
# A loss that has grown by more than that makes the watch look at the weights.
LOSS_GROWS = 10
# Weights that have grown by more than that diverge.
WEIGHTS_GROW = 100


class Steps:
    """A step ends when an optimizer has changed the model, when the scaler has left out a step, or
    when the program says so."""

    def __init__(self, model: nn.Module, scaler: Scaler) -> None:
        self._model, self._scaler = model, scaler
        self.begun = self.calls = 0
        self._ended = False
        self.parameters: set[int] = set()

    def enter(self) -> None:
        """The watch is entered."""
        self.parameters = {id(each) for each in self._model.parameters()}

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
        self._ended |= not changed.isdisjoint(self.parameters)

    @property
    def before(self) -> int:
        """How many steps came before this one."""
        return max(self.begun - 1, 0)


class History:
    """The losses of the last steps, and the largest weight where that may matter: in the first
    step, and where the loss is much larger than there. So a run that is well costs one look at the
    weights."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._first: Past | None = None
        self._last: deque[Past] = deque(maxlen=KEPT)

    def add(self, step: int, roots: list[Tensor]) -> None:
        """Backward begins with `roots`."""
        loss, first = _loss(roots), self._first
        if first is None:
            self._first = self._weighed(step, loss)
            self._last.append(self._first)
            return
        bound = LOSS_GROWS * max(abs(first.loss or 0), 1)
        # NaN is larger than nothing.
        grows = loss is not None and not abs(loss) <= bound
        self._last.append(self._weighed(step, loss) if grows else Past(step, loss, None, None))

    def drop(self) -> None:
        """The backward pass that began last was not one of the loss."""
        if self._last.pop() is self._first:
            self._first = None

    def diverging(self, step: int) -> tuple[Past, ...]:
        """The first step, and the last ones until now. Empty if the weights have not grown."""
        first = self._first
        if first is None or first.largest_weight is None:
            return ()
        last = list(self._last)
        loss = last.pop().loss if last[-1].step == step else None
        now = self._weighed(step, loss)
        if (now.largest_weight or 0) <= WEIGHTS_GROW * max(first.largest_weight, 1):
            return ()
        return tuple(dict.fromkeys([first, *last, now]))

    def _weighed(self, step: int, loss: float | None) -> Past:
        pairs = self._model.named_parameters()
        sizes = [(largest(each), written(name)) for name, each in pairs]
        size, name = max(sizes, default=(None, None))
        return Past(step, loss, size, name)


def _loss(roots: list[Tensor]) -> float | None:
    """The loss, if backward begins with one number."""
    if len(roots) != 1 or roots[0].numel() != 1:
        return None
    # A complex number is two real ones, and a sparse tensor may have no values.
    numbers = plain(roots[0])
    return float(numbers) if numbers is not None and numbers.numel() == 1 else None
