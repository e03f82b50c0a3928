"""The options of a check."""

from collections.abc import Sequence
from typing import Any, TypedDict

Texts = str | Sequence[str]
"""One text or several."""


class Options(TypedDict, total=False):
    """The options of a check: those of `nonfinite check`, with their names and defaults.

    Except `map`, which is on here; and `places`, only here.
    """

    stats: bool
    """Measure the finite numbers of each tensor."""
    max_abs: float | None
    """A tensor with a finite number of a larger magnitude is bad."""
    places: bool
    """Look at bad tensors again, for the pattern of the places: `TensorReport.where`. On by
    default."""
    map: bool
    """Draw the places as a map, too: `Where.map`, and the page in a notebook. On by default."""
    fail_on: str
    """The kinds of numbers that make a tensor bad: "nan,inf"."""
    allow: Texts
    """PATTERN:KINDS. Tensors with such a name may hold these kinds: "*.mask:-inf"."""
    strict: bool
    """Whatever was not looked at makes `Report.exit_status` 2, even if a tensor is bad, and so do
    files of no known format in folders."""
    max_bytes: int | None
    """The most bytes of a file to download or to read from standard input, and of its decoded
    numbers. None means 16 GiB, and 1 MiB of numbers for each byte of the file."""
    threads: int | None
    """The number of threads. None means as many as the machine runs at a time."""


NAMES = frozenset(Options.__annotations__)


def checked(options: Options, function: str) -> dict[str, Any]:
    """Return the options as a dictionary.

    Raises TypeError for names that no option has.
    """
    for name in options:
        if name not in NAMES:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return {**options}
