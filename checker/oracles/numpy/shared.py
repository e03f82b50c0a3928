"""Shared by the parts of the oracle: arrays of random bits, and comparisons with numpy."""

import ml_dtypes
import numpy as np

from expected import compare

RNG = np.random.default_rng(20261121)
SHAPES = [(), (1,), (63,), (64, 65), (3, 5, 127), (0, 4), (70_001,)]
FLOATS = [np.float16, np.float32, np.float64]
SMALL = [
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e8m0fnu,
]
failures, compared = [], 0


def random(dtype, shape):
    """Random bits: of 16 bits and fewer many are special; in wider formats some are made so."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    array = np.frombuffer(RNG.bytes(count * dtype.itemsize), dtype=dtype).copy().reshape(shape)
    if dtype.itemsize >= 4 and dtype.kind == "f" and count:
        flat = array.reshape(-1)
        for value in (np.nan, np.inf, -np.inf):
            flat[RNG.integers(0, count, max(1, count // 50))] = value
    return array


def check(what, report, array, order="C"):
    global compared
    compared += 1
    message = compare(what, report, array, order)
    if message:
        failures.append(message)
