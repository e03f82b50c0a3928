"""The ways to call a function have the same answers and errors, for small and large arrays."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from test_process import run

import nonfinite as nf

SMALL = np.float32([[1, np.nan, np.inf], [-np.inf, 0, 2]])
# More bytes than are read with the GIL.
LARGE = np.tile(SMALL, (5000, 1))


@pytest.mark.parametrize("x", [SMALL, LARGE, SMALL.T, SMALL.astype(">f4")], ids=str)
def test_the_same_answers(x: np.ndarray) -> None:
    assert nf.all_finite(x) is nf.all_finite(x, threads=1) is False
    assert nf.any_nan(x) is nf.any_nan(x, threads=1) is True
    for predicate, is_ in (("nan", nf.is_nan), ("inf", nf.is_inf), ("finite", nf.is_finite)):
        # Not the object that Python has interned.
        made = "".join(predicate)
        for ask in (nf.any, nf.all, nf.count):
            assert ask(x, predicate) == ask(x, made) == ask(x, made, threads=1)
        out = np.zeros(x.shape, bool)
        assert nf.mask(x, predicate, out=out) is out
        for mask in (nf.mask(x, made), nf.mask(x, predicate, None, threads=1), is_(x)):
            assert np.array_equal(mask, out)
        for again in (nf.mask(x, predicate, out), is_(x, out), is_(x, out=out)):
            assert again is out and np.array_equal(out, is_(x))


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
