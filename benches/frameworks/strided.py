#!/usr/bin/env python3
"""Strided tensors: `numpy.isfinite(x, out=..)` of a view against our TensorView.

Both run in one process, on one thread.

    benches/frameworks/run.sh makes the environment; then
    cd benches/frameworks
    VENV/bin/python strided.py --library TARGET/release/libnonfinite_frameworks.so

Every answer is compared with numpy's first. The tasks of a row take turns; medians over the rounds.
"""

import argparse
import ctypes
import statistics
import time

import numpy as np


def cases(elements):
    """Yields names, and views of f32 with about `elements` elements."""
    rng = np.random.default_rng(1)

    def data(*shape):
        x = rng.standard_normal(shape, dtype=np.float32)
        x.reshape(-1)[rng.integers(0, x.size, 3)] = [np.nan, np.inf, -np.inf]
        return x

    yield "contiguous", data(elements)
    for row in (64, 256, 512, 1000, 4000):
        yield f"rows of {row}, padded by 24", data(elements // row, row + 24)[:, :row]
    for channels in (3, 4, 16, 64, 100):
        side = int((elements / channels) ** 0.5)
        yield (
            f"NHWC to NCHW, {channels} channels",
            data(1, side, side, channels).transpose(0, 3, 1, 2),
        )
    side = int(elements**0.5)
    yield "transposed", data(side, side).T
    yield "backwards", data(elements)[::-1]
    yield "every second", data(elements)[::2]
    yield "broadcast row", np.broadcast_to(data(side), (side, side))
    yield "broadcast column", np.broadcast_to(data(side, 1), (side, side))


def ours(library, x, out):
    """A function that calls us with the memory of the view `x`."""
    lowest = sum((size - 1) * min(stride, 0) for size, stride in zip(x.shape, x.strides))
    highest = sum((size - 1) * max(stride, 0) for size, stride in zip(x.shape, x.strides))
    start = x.__array_interface__["data"][0] + lowest
    sizes = (ctypes.c_size_t * x.ndim)(*x.shape)
    strides = (ctypes.c_ssize_t * x.ndim)(*(stride // x.itemsize for stride in x.strides))
    arguments = (
        ctypes.c_uint32(0),
        ctypes.c_uint32(0),
        ctypes.c_void_p(start),
        ctypes.c_size_t(highest - lowest + x.itemsize),
        ctypes.c_size_t(-lowest // x.itemsize),
        ctypes.c_size_t(x.ndim),
        sizes,
        strides,
        ctypes.c_void_p(out.ctypes.data),
        ctypes.c_size_t(out.size),
    )
    return lambda: library.peers_mask_strided(*arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--kib", default="256,8192", help="sizes of the tensors in KiB")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    names = enumerate(("avx2", "avx512", "neon"))
    paths = [(number, name) for number, name in names if library.peers_use_backend(number)]
    print("| f32, GB/s | KiB |", *(f"{name} |" for _, name in paths), "numpy | best / numpy |")
    print("|---" * (4 + len(paths)) + "|")
    for kib in map(int, options.kib.split(",")):
        for name, x in cases(kib * 256):
            out = np.empty(x.shape, bool)
            tasks = {"numpy": (None, lambda x=x, out=out: np.isfinite(x, out=out))}
            for number, path in paths:
                tasks[path] = (number, ours(library, x, out))
            want = np.isfinite(x)
            samples = {task: [] for task in tasks}
            for number, task in tasks.values():
                out[...] = ~want
                if number is not None:
                    library.peers_use_backend(number)
                task()
                assert np.array_equal(out, want), name
            calls = max(1, int(2e-3 / (x.size * 4 / 30e9)))
            for _ in range(options.rounds):
                for label, (number, task) in tasks.items():
                    if number is not None:
                        library.peers_use_backend(number)
                    start = time.perf_counter()
                    for _ in range(calls):
                        task()
                    samples[label].append((time.perf_counter() - start) / calls)
            rate = {
                label: x.size * 4 / statistics.median(times) / 1e9
                for label, times in samples.items()
            }
            best = max(rate[path] for _, path in paths)
            figures = " ".join(f"{rate[path]:.1f} |" for _, path in paths)
            print(
                f"| {name} | {kib} | {figures} {rate['numpy']:.1f} | {best / rate['numpy']:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
