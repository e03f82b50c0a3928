"""Many threads at once. Where the interpreter has no GIL, they really run at the same time."""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from test_process import run

import nonfinite as nf

THREADS = 16


def in_threads(work: Callable[[int], None]) -> None:
    """Calls `work` with the number of each thread, all at once, and raises what one raises."""
    failures: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def guarded(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="a build with a GIL")
def test_the_gil_stays_off() -> None:
    assert not sys._is_gil_enabled()


FIRST_USE = """
import sys, threading
import ml_dtypes, numpy as np, nonfinite as nf

arrays = [np.array([1, np.nan], getattr(ml_dtypes, name)) for name in
          ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz")]
arrays.append(np.ones(2_000_000, np.float32))
arrays[-1][-1] = np.nan
start, failures = threading.Barrier(16), []

def work(number):
    start.wait()
    for i in range(len(arrays)):
        x = arrays[(number + i) % len(arrays)]
        threads = (None, 1, 2, 3)[(number + i) % 4]
        if nf.position(x, "nan", threads=threads) != (len(x) - 1,):
            failures.append((x.dtype, threads))
        if nf.count(x, "".join(["nan or", " +inf"])) != 1:
            failures.append(x.dtype)

threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
"""


def test_first_use() -> None:
    """All caches are filled by threads that race: types, numpy's table, the pool."""
    for _ in range(5):
        run(FIRST_USE)


def test_one_array() -> None:
    """All questions about arrays that all threads share, with pools of several sizes."""
    small = np.ones((8, 8), np.float32)
    small[7, 3] = np.inf
    half = np.ones((40, 50), ml_dtypes.bfloat16)
    half[39, 49] = np.nan
    large = np.ones((1000, 1100))
    large[999, 1099] = -np.inf

    def work(number: int) -> None:
        out, own = np.zeros(small.shape, bool), small.copy()
        for i in range(200):
            assert nf.all_finite(small) is False and nf.position(small.T, "inf") == (3, 7)
            assert nf.is_inf(small, out).sum() == 1 and out[7, 3]
            assert nf.position(half, "nan", axis=1).tolist() == [-1] * 39 + [49]
            assert nf.census(half, axis=0)["nan"]["count"].sum() == 1
            assert nf.nan_to_num(small, posinf=number)[7, 3] == number
            assert nf.unscale_and_check(own, 1.0) is True
            with pytest.raises(nf.NonFiniteError):
                nf.assert_finite(half)
            if i % 20 == 0:
                threads = (None, 2, 3, 4)[(i // 20 + number) % 4]
                assert nf.position(large, "-inf", threads=threads) == (999, 1099)
                assert nf.stats(large, threads=threads).census.neg_inf.count == 1

    in_threads(work)


def test_writers() -> None:
    """Threads that change the elements change the answers, and nothing else."""
    shared = np.ones(20_000, np.float32)

    def work(number: int) -> None:
        for i in range(200):
            if number % 2:
                shared[number::THREADS] = (np.nan, 1.0)[i % 2]
            else:
                assert 0 <= nf.count(shared, "nan") <= shared.size
                assert nf.is_nan(shared).shape == shared.shape
                assert nf.census(shared).total >= 0

    in_threads(work)
    assert nf.all_finite(shared)
