# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Answers that stay on the device until the program waits for the device."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nonfinite.torch.look import extremes, real


class Flags:
    """Questions whether tensors are bad, and what to do where one is. An operation of torch looks
    at the tensors on their device, and leaves two numbers for each there."""

    def __init__(self) -> None:
        self._asked: list[tuple[tuple[Tensor, Tensor], str, Callable[[], Any]]] = []

    def ask(self, tensor: Tensor, when_bad: Callable[[], Any], bad: str = "non-finite") -> None:
        """Asks whether an element is `bad`, and does not wait. `bad`: "non-finite", "nan or +inf"
        or "nan"."""
        numbers = real(tensor)
        if numbers is not None:
            self._asked.append((extremes(numbers), bad, when_bad))

    def answer(self) -> None:
        """Waits once for each device and type, and does what is to be done, in the order of the
        questions. A function that returns True ends that."""
        asked, self._asked = self._asked, []
        kinds: dict[Any, list[Tensor]] = {}
        for pair, _, _ in asked:
            kinds.setdefault((pair[0].device, pair[0].dtype), []).extend(pair)
        answers = {kind: iter(torch.stack(each).tolist()) for kind, each in kinds.items()}
        for (low, _), bad, when_bad in asked:
            answer = answers[low.device, low.dtype]
            if _is_bad(next(answer), next(answer), bad) and when_bad():
                return

    def forget(self) -> None:
        """Drops all questions."""
        self._asked.clear()


def _is_bad(low: float, high: float, bad: str) -> bool:
    if bad == "nan":
        return math.isnan(high)
    return not high < math.inf or bad == "non-finite" and low == -math.inf
