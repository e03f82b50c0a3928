"""The progress of a check, in notebooks and terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Call = Callable[[int, int], object]


def shown(progress: bool | Call) -> bool | Call:
    """Return the function to call. If there is none: whether to draw a bar on a terminal.

    Raises TypeError for what is neither a bool nor a function.
    """
    if not isinstance(progress, bool) and not callable(progress):
        kind = type(progress).__name__
        raise TypeError(f"progress is a {kind}, and must be True, False or a function")
    return _Bar() if progress is True and _in_notebook() else progress


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return hasattr(shell, "kernel")


class _Bar:
    """The progress bar of IPython, in megabytes. It appears with the first call."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            from IPython.display import ProgressBar

            self._bar = ProgressBar(1)  # type: ignore[no-untyped-call, unused-ignore]
            self._bar.display()
        self._bar.total = max(round(total / 1e6), 1)
        self._bar.progress = min(round(done / 1e6), self._bar.total)
