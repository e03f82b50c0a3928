# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Gradients that need no look of their own."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from nonfinite.torch.look import finite

# The weight's gradient is a sum of products with all elements of the output's gradient. NaN stays
# NaN, and an infinity stays one or becomes NaN (0 * Inf, Inf - Inf). So if the output's gradient is
# bad, the weight's is, too.
CARRY = {nn.Linear, nn.LayerNorm}


def carrier(module: nn.Module) -> Tensor | None:
    """The parameter whose gradient is bad if the gradient of the module's output is."""
    if type(module) not in CARRY:
        return None
    # The program may have changed the output or its gradient.
    if module._backward_hooks or module._backward_pre_hooks or len(module._forward_hooks) > 1:
        return None
    weight = module._parameters.get("weight")
    if weight is None or "forward" in module.__dict__ or not weight.numel():
        return None
    return weight if weight.requires_grad and not weight._backward_hooks else None


class Waiting:
    """Gradients of outputs, each until the gradient of its carrier has been looked at."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Tensor, Tensor, Callable[[], Any]]] = []

    def add(self, carrier: Tensor, grad: Tensor, when_bad: Callable[[], Any]) -> None:
        """Leaves a gradient to its carrier."""
        self._waiting.append((carrier, grad, when_bad))

    def settle(self, carrier: Tensor) -> None:
        """The gradient of the carrier is finite, so those that it carries are."""
        self._waiting = [each for each in self._waiting if each[0] is not carrier]

    def look(self) -> None:
        """Looks at those that are left, in the order in which they came, until one is bad."""
        waiting, self._waiting = self._waiting, []
        for _, grad, when_bad in waiting:
            if not finite(grad):
                when_bad()
                return

    def forget(self) -> None:
        """Drops all gradients."""
        self._waiting.clear()
