# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Answers that stay on the device until the program waits for the device."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nonfinite.torch.look import flag, real


class Flags:
    """Questions whether tensors are bad, and what to do where one is. Operations of torch look at
    the tensors on their device, and leave one flag for each there."""

    def __init__(self) -> None:
        self._asked: list[tuple[Tensor, Callable[[], Any]]] = []

    def ask(self, tensor: Tensor, when_bad: Callable[[], Any], bad: str = "non-finite") -> None:
        """Asks whether an element is `bad`, as `look.flag` does, and does not wait."""
        numbers = real(tensor)
        if numbers is not None:
            self._asked.append((flag(numbers, bad), when_bad))

    def answer(self) -> None:
        """Waits once for each device, and does what is to be done, in the order of the questions.
        A function that returns True ends that."""
        asked, self._asked = self._asked, []
        devices = dict.fromkeys(each.device for each, _ in asked)
        answers = {
            device: iter(torch.stack([each for each, _ in asked if each.device == device]).tolist())
            for device in devices
        }
        for each, when_bad in asked:
            if next(answers[each.device]) and when_bad():
                return

    def forget(self) -> None:
        """Drops all questions."""
        self._asked.clear()
