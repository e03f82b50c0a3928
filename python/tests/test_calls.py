"""The ways to call a function have the same answers and errors, for small and large arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_process import run

import nonfinite as nf

SMALL = np.float32([[1, np.nan, np.inf], [-np.inf, 0, 2]])
# More bytes than are read with the GIL.
LARGE = np.tile(SMALL, (5000, 1))
QUESTIONS: list[Callable[..., Any]] = [nf.any, nf.all, nf.count]
MASKS: list[tuple[Callable[..., Any], str]] = [
    (nf.is_nan, "nan"),
    (nf.is_inf, "inf"),
    (nf.is_finite, "finite"),
]


@pytest.mark.parametrize("x", [SMALL, LARGE, SMALL.T, SMALL.astype(">f4")], ids=str)
def test_the_same_answers(x: np.ndarray) -> None:
    assert nf.all_finite(x) is nf.all_finite(x, threads=1) is False
    assert nf.any_nan(x) is nf.any_nan(x, threads=1) is True
    for predicate in ("nan", "+inf", "finite"):
        # Not the object that Python has interned.
        made = "".join(predicate)
        for ask in QUESTIONS:
            assert ask(x, predicate) == ask(x, made) == ask(x, made, threads=1)
        out = np.zeros(x.shape, bool)
        assert nf.mask(x, predicate, out=out) is out
        for mask in (
            nf.mask(x, predicate),
            nf.mask(x, made),
            nf.mask(x, predicate, out),
            nf.mask(x, predicate, threads=1),
            nf.mask(x, predicate, out=None),
            nf.mask(x, predicate, None),
        ):
            assert np.array_equal(mask, out)
    for is_, predicate in MASKS:
        out = np.zeros(x.shape, bool)
        assert is_(x, out=out) is out and is_(x, out) is out
        keyword = "".join("out")
        assert is_(x, **{keyword: out}) is out
        assert np.array_equal(is_(x), nf.mask(x, predicate)) and np.array_equal(is_(x), out)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: nf.all_finite(),
        lambda x: nf.all_finite(x, x),
        lambda x: nf.all_finite(x, out=x),
        lambda x: nf.all_finite(x=x),
        lambda x: nf.any(x),
        lambda x: nf.any(x, out="nan"),
        lambda x: nf.any(x, "nan", 0),
        lambda x: nf.mask(x),
        lambda x: nf.mask(x, out="nan"),
        lambda x: nf.mask(x, "nan", x.copy(), x),
        lambda x: nf.mask(x, "nan", np.zeros(x.shape, bool), out=np.zeros(x.shape, bool)),
        lambda x: nf.is_nan(),
        lambda x: nf.is_nan(out=x),
        lambda x: nf.is_nan(x, np.zeros(x.shape, bool), out=np.zeros(x.shape, bool)),
        lambda x: nf.is_nan(x, outs=np.zeros(x.shape, bool)),
        lambda x: nf.is_nan(x, np.zeros(x.shape, bool), None),
    ],
)
@pytest.mark.parametrize("x", [SMALL, LARGE], ids=["small", "large"])
def test_wrong_arguments(call: Callable[[np.ndarray], object], x: np.ndarray) -> None:
    with pytest.raises(TypeError, match="argument"):
        call(x)


@pytest.mark.skipif(sys.platform != "linux", reason="the list of threads is in /proc of Linux")
def test_no_threads_without_threads() -> None:
    """A large array is read by the calling thread, and no pool of threads is started."""
    program = """
import os, numpy as np, nonfinite as nf
x = np.ones(4 << 20, np.float32)
before = len(os.listdir("/proc/self/task"))
assert nf.all_finite(x) and nf.count(x, "nan") == 0 and not nf.is_nan(x).any()
assert nf.position(x, "nan") is None and nf.census(x).nan.count == 0
assert len(os.listdir("/proc/self/task")) == before
assert nf.all_finite(x, threads=2)
assert len(os.listdir("/proc/self/task")) == before + 2
"""
    run(program)
