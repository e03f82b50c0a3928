"""What the predicates mean, by numpy on float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]

PREDICATES: dict[str, Callable[[npt.NDArray[np.float64]], Mask]] = {
    "nan": lambda x: np.isnan(x),
    "inf": lambda x: np.isinf(x),
    "+inf": lambda x: np.isposinf(x),
    "-inf": lambda x: np.isneginf(x),
    "finite": lambda x: np.isfinite(x),
    "non-finite": lambda x: ~np.isfinite(x),
    "nan or +inf": lambda x: np.isnan(x) | np.isposinf(x),
    "never": lambda x: np.zeros(x.shape, bool),
}


def expected(x: npt.NDArray[np.generic], predicate: str) -> Mask:
    """The mask of an array of any dtype."""
    with np.errstate(all="ignore"):
        return np.asarray(PREDICATES[predicate](np.asarray(x).astype(np.float64)))


def first(mask: Mask) -> tuple[int, ...] | None:
    """The coordinate of the first True in row-major order."""
    found = np.argwhere(mask)
    return tuple(int(i) for i in found[0]) if len(found) else None
