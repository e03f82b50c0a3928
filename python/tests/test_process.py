"""Memory, references, threads, forks, and a process without numpy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sample_files import PATIENCE

import nonfinite as nf


def resident() -> int:
    """Bytes of this process in memory."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


X = np.ones((8, 8), np.float32)
OUT = np.zeros((8, 8), bool)
CALLS: dict[str, tuple[int, Callable[[], object]]] = {
    "all_finite": (1_000_000, lambda: nf.all_finite(X)),
    "mask with out": (1_000_000, lambda: nf.mask(X, "nan", OUT)),
    "mask": (300_000, lambda: nf.mask(X, "nan")),
    "strided": (300_000, lambda: nf.count(X[::2], "nan", axis=0)),
    "swapped": (100_000, lambda: nf.any_nan(X.astype(">f4"))),
    "census": (300_000, lambda: nf.census(X)),
    "stats": (100_000, lambda: nf.stats(X)),
    "arrow": (100_000, lambda: nf.is_nan(pa.array([1.0, None]))),
    "dlpack": (100_000, lambda: nf.is_nan(Method(X))),
    "buffer": (300_000, lambda: nf.all_finite(memoryview(X))),
    "nan_to_num": (100_000, lambda: nf.nan_to_num(X)),
    "error": (100_000, lambda: refused("abc")),
    "not finite": (50_000, lambda: refused(float("nan"))),
}


class Method:
    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __dlpack__(self, **arguments: object) -> object:
        return self.x.__dlpack__(**arguments)


def refused(x: object) -> None:
    try:
        nf.assert_finite(x)
    except (TypeError, ValueError):
        return
    raise AssertionError("no error")


@pytest.mark.parametrize("name", CALLS)
def test_memory_is_flat(name: str) -> None:
    calls, call = CALLS[name]
    for _ in range(2000):
        call()
    objects = (X, OUT, None, True, False, np.ndarray, np.dtype(bool))
    seen = []
    # What leaks does so in every round. Threads that other tests have left may grow in one round,
    # and caches of the interpreter move the counts a little.
    for _ in range(3):
        references, memory = [sys.getrefcount(o) for o in objects], resident()
        for _ in range(calls):
            call()
        grown = resident() - memory
        moved = max(abs(sys.getrefcount(o) - a) for o, a in zip(objects, references))
        if grown < 4 << 20 and moved < 100:
            return
        seen.append((grown, moved))
    raise AssertionError(f"bytes and references in each round: {seen}")


def run(program: str) -> str:
    result = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_pool_after_fork() -> None:
    program = """
import os, numpy as np, nonfinite as nf
x = np.ones(3_000_000); x[2_999_999] = np.nan
assert nf.position(x, "nan", threads=2) == (2_999_999,)
child = os.fork()
if child == 0:
    os._exit(0 if nf.position(x, "nan", threads=2) == (2_999_999,) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    run(program)


def test_without_numpy() -> None:
    program = """
import sys, array
sys.modules["numpy"] = None
import nonfinite as nf
values = array.array("f", [1, float("nan"), 3, 4, 5, float("inf")])
x = memoryview(values).cast("B").cast("f", (2, 3))
mask = nf.is_nan(x)
assert type(mask) is memoryview and mask.format == "?" and mask.shape == (2, 3)
assert mask.tolist() == [[False, True, False], [False, False, False]]
assert nf.any(x, "non-finite", axis=1).tolist() == [True, True]
assert nf.count(x, "finite", axis=0).tolist() == [2, 1, 1]
assert nf.count(array.array("f", [1]), "finite", axis=0) == 1
assert nf.is_nan(array.array("f")).tolist() == []
assert nf.all_finite([1.0]) and nf.count([1.0, float("nan")], "nan") == 1
try:
    nf.is_nan([1.0])
except TypeError as error:
    assert "numpy" in str(error)
else:
    raise AssertionError
"""
    run(program)


def test_panics_are_exceptions() -> None:
    """A panic of the native code is an exception, and the process lives: the wheel unwinds."""
    program = """
import os
os.environ["NONFINITE_BACKEND"] = "no-such-backend"
import array, nonfinite as nf
try:
    nf.all_finite(array.array("f", [1.0] * 64))
except BaseException as error:
    assert "no-such-backend" in str(error), error
    print(type(error).__name__)
"""
    assert run(program).strip() == "PanicException"
