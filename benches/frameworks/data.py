"""Formats, tensors, and the answers by plain bit arithmetic."""

import ml_dtypes
import numpy as np

# name: (number type, type of its bits, exponent mask), in the order of the numbers in
# ours/src/lib.rs.
FORMATS = {
    "f32": (np.float32, np.uint32, 0x7F80_0000),
    "f64": (np.float64, np.uint64, 0x7FF0_0000_0000_0000),
    "f16": (np.float16, np.uint16, 0x7C00),
    "bf16": (ml_dtypes.bfloat16, np.uint16, 0x7F80),
}

ASKS = ("mask/finite", "mask/nan", "all/finite", "any/nan")


def aligned(n, dtype):
    """n elements at a multiple of 64 bytes, so that the allocator favours nobody."""
    size = n * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype)


def tensor(fmt, kind, n):
    """clean: only finite; dirty: one in a thousand is not; random: all bits; allnan."""
    number, bits, exponent = FORMATS[fmt]
    finfo = ml_dtypes.finfo(number)
    values = np.array([finfo.max, finfo.min, finfo.smallest_normal, finfo.eps], number)
    random = np.random.default_rng(1)
    x = aligned(n, number)
    x[:] = values[random.integers(0, 4, n)]
    if kind == "dirty":
        at = random.random(n) < 0.001
        x[at] = np.array([np.nan, np.inf, -np.inf], number)[random.integers(0, 3, at.sum())]
    elif kind == "random":
        raw = random.integers(0, 1 << 64, n, np.uint64).astype(bits)
        raw[random.random(n) < 0.25] |= bits(exponent)
        x.view(bits)[:] = raw
    elif kind == "allnan":
        x[:] = number(np.nan)
    return x


def expected(fmt, ask, x):
    _, bits, exponent = FORMATS[fmt]
    raw = x.view(bits)
    exponent = bits(exponent)
    if ask.endswith("finite"):
        answers = (raw & exponent) != exponent
    else:
        answers = (raw << bits(1)) > (exponent << bits(1))
    if ask.startswith("all"):
        return bool(answers.all())
    if ask.startswith("any"):
        return bool(answers.any())
    return answers
