# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Answers that stay on the device until the end of a step."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nonfinite.torch.look import flag


class Later:
    """Questions whether tensors are finite, and what to do where one is not."""

    def __init__(self) -> None:
        self._asked: list[tuple[Tensor, Callable[[], Any]]] = []

    @property
    def asked(self) -> bool:
        """Whether there are questions without an answer."""
        return bool(self._asked)

    def ask(self, tensor: Tensor, when_bad: Callable[[], Any]) -> None:
        """Asks the device, and does not wait."""
        answer = flag(tensor)
        if answer is not None:
            self._asked.append((answer, when_bad))

    def answer(self) -> None:
        """Waits once for each device, and does what is to be done, in the order of the questions.
        A function that returns True ends that."""
        asked, self._asked = self._asked, []
        by_device: dict[torch.device, list[int]] = {}
        for number, (answer, _) in enumerate(asked):
            by_device.setdefault(answer.device, []).append(number)
        bad: list[int] = []
        for numbers in by_device.values():
            answers = torch.stack([asked[number][0] for number in numbers]).tolist()
            bad += [n for n, finite in zip(numbers, answers, strict=True) if not finite]
        for number in sorted(bad):
            if asked[number][1]():
                return

    def forget(self) -> None:
        """Drops all questions."""
        self._asked.clear()
