# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Answers that stay on the device until the end of a step."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nonfinite._driver import current
from nonfinite.torch import tallies
from nonfinite.torch.look import flag, real
from nonfinite.torch.tallies import DeviceTallies
from nonfinite.trace.results import Look

WhenBad = Callable[[Look | None], Any]


class Later:
    """Questions whether tensors are finite, and what to do where one is not.

    The kernels of `nonfinite.cuda` look at tensors on CUDA devices, and also say what they saw.
    Operations of torch look at other tensors, and say only whether one is finite.
    """

    def __init__(self) -> None:
        self._asked: list[tuple[Tensor | tuple[DeviceTallies, int], WhenBad]] = []
        # One for each stream: so the streams need not wait for each other.
        self._tallies: dict[tuple[int, int], DeviceTallies] = {}

    @property
    def asked(self) -> bool:
        """Whether there are questions without an answer."""
        return bool(self._asked)

    def ask(self, tensor: Tensor, when_bad: WhenBad) -> None:
        """Asks the device, and does not wait. `when_bad` gets what the device saw, if known."""
        numbers = real(tensor)
        if numbers is None:
            return
        count = tallies.elements(numbers)
        if count is None:
            self._asked.append((flag(numbers), when_bad))
            return
        stream = current(numbers.device)
        own = self._tallies.get((numbers.device.index, stream))
        if own is None:
            own = self._tallies[numbers.device.index, stream] = DeviceTallies(numbers.device)
        self._asked.append(((own, own.ask(numbers, count)), when_bad))

    def answer(self) -> None:
        """Waits once for each stream, and does what is to be done, in the order of the questions.
        A function that returns True ends that."""
        asked, self._asked = self._asked, []
        if not asked:
            return
        seen = {own: own.answers() for own in self._tallies.values()}
        by_device: dict[torch.device, list[int]] = {}
        bad: dict[int, Look | None] = {}
        for number, (answer, _) in enumerate(asked):
            if isinstance(answer, Tensor):
                by_device.setdefault(answer.device, []).append(number)
            elif answer[1] in seen[answer[0]]:
                bad[number] = seen[answer[0]][answer[1]]
        for numbers in by_device.values():
            answers = torch.stack([asked[number][0] for number in numbers]).tolist()
            bad |= {n: None for n, finite in zip(numbers, answers, strict=True) if not finite}
        for number in sorted(bad):
            if asked[number][1](bad[number]):
                return

    def forget(self) -> None:
        """Drops all questions."""
        self._asked.clear()
        for own in self._tallies.values():
            own.forget()
