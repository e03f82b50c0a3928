#!/usr/bin/env python3
"""nan_to_num and the step of a gradient scaler: nonfinite against PyTorch's CPU kernels.

Both run in one process, on one thread.

    cd benches/frameworks
    cargo build --release --manifest-path ours/Cargo.toml
    PYTHON-WITH-TORCH sanitise.py --library ours/target/release/libnonfinite_frameworks.so

Answers are compared first: nan_to_num by its bits, products by their bits except for NaN, and
found_inf. Then the two take turns. Figures are medians of GB/s of input, by the CPU time of the
thread, so that other load does not count. The ratio is the median of the ratios of single rounds.
`copy` is memcpy (numpy.copyto).
"""

import argparse
import ctypes
import statistics
import sys
import time

import numpy as np
import torch

FORMATS = {
    "f32": (0, torch.float32),
    "f64": (1, torch.float64),
    "f16": (2, torch.float16),
    "bf16": (3, torch.bfloat16),
}
PATHS = ("avx2", "avx512", "neon")
FACTOR = 1 / 1024


def library(path):
    lib = ctypes.CDLL(path)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    lib.peers_replace.argtypes, lib.peers_replace.restype = (
        [ctypes.c_uint32, pointer, size],
        ctypes.c_int64,
    )
    lib.peers_replace_into.argtypes = [ctypes.c_uint32, pointer, pointer, size]
    lib.peers_replace_into.restype = ctypes.c_int64
    lib.peers_unscale.argtypes = [ctypes.c_uint32, pointer, size, ctypes.c_double]
    return lib


def bits(tensor):
    return tensor.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def make(dtype, elements, data):
    """Finite numbers that stay normal when scaled; "dirty": one in a thousand is not finite."""
    x = torch.rand(elements, dtype=torch.float64).add_(1).to(dtype)
    if data == "dirty":
        places = torch.arange(0, elements, 1000)
        special = torch.tensor([float("nan"), float("inf"), float("-inf")], dtype=dtype)
        x[places] = special[torch.arange(len(places)) % 3]
    return x


def tasks(lib, code, x):
    """Name -> (ours, torch's, whether they write x anew). Both are functions without arguments."""
    nbytes = x.numel() * x.element_size()
    ours, theirs, out, out2 = x.clone(), x.clone(), torch.empty_like(x), torch.empty_like(x)
    found, scale = torch.zeros(1), torch.tensor([FACTOR])
    p, q, source = ours.data_ptr(), out.data_ptr(), x.data_ptr()
    return {
        "nan_to_num_": (
            lambda: lib.peers_replace(code, p, nbytes),
            lambda: theirs.nan_to_num_(),
            (ours, theirs),
        ),
        "nan_to_num out=": (
            lambda: lib.peers_replace_into(code, source, q, nbytes),
            lambda: torch.nan_to_num(x, out=out2),
            (out, out2),
        ),
        "unscale": (
            lambda: lib.peers_unscale(code, p, nbytes, FACTOR),
            lambda: torch._amp_foreach_non_finite_check_and_unscale_([theirs], found, scale),
            (ours, theirs),
        ),
    }, found


def check(lib, code, dtype):
    """Whatever differs ends the program: figures of different answers compare nothing."""
    generator = torch.Generator().manual_seed(1)
    raw = torch.randint(0, 256, (1 << 17,), generator=generator, dtype=torch.uint8)
    x = raw.view(dtype)[: (raw.numel() // x_size(dtype)) - 3]
    for name in ("nan_to_num_", "nan_to_num out=", "unscale"):
        both, found = tasks(lib, code, x)
        ours, theirs, (a, b) = both[name]
        answer = ours()
        theirs()
        if name == "unscale":
            same = (bits(a) == bits(b)) | (a.isnan() & b.isnan())
            assert bool(same.all()), f"{dtype} {name}: {int((~same).sum())} products differ"
            assert answer == int(found.item()) == 1, f"{dtype} {name}: found_inf"
        else:
            assert bool((bits(a) == bits(b)).all()), f"{dtype} {name}: elements differ"
            assert answer == int((~x.isfinite()).sum()), f"{dtype} {name}: count"


def x_size(dtype):
    return torch.empty(0, dtype=dtype).element_size()


def rate(run, seconds, nbytes, restore):
    """GB/s of one round, by the CPU time of this thread.

    Calls `run` until the time is over. `restore` makes the input anew, outside the clock.
    """
    spent, calls = 0.0, 0
    batch = max(1, min(64, (1 << 21) // nbytes))
    while spent < seconds:
        restore()
        start = time.thread_time()
        for _ in range(batch):
            run()
        spent += time.thread_time() - start
        calls += batch
    return nbytes * calls / spent / 1e9


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--library", required=True)
    options.add_argument("--kib", default="16,1024,65536")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=float, default=0.02)
    options.add_argument("--paths", default=",".join(PATHS))
    options = options.parse_args()
    torch.set_num_threads(1)
    lib = library(options.library)
    paths = [path for path in options.paths.split(",") if lib.peers_use_backend(PATHS.index(path))]
    print(
        f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; "
        f"paths {' '.join(paths)}; one thread"
    )
    print(
        "| task | KiB | data | path | nonfinite GB/s | torch GB/s | ratio | copy GB/s |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    slower = 0
    for name, (code, dtype) in FORMATS.items():
        for path in paths:
            lib.peers_use_backend(PATHS.index(path))
            check(lib, code, dtype)
            for kib in map(int, options.kib.split(",")):
                for data in ("clean", "dirty"):
                    slower += cells(lib, code, dtype, name, path, kib, data, options)
    print(f"\n{slower} cells slower than torch")
    return 0


def cells(lib, code, dtype, name, path, kib, data, options):
    nbytes = kib << 10
    x = make(dtype, nbytes // x_size(dtype), data)
    slower = 0
    for task, (ours, theirs, (a, b)) in tasks(lib, code, x)[0].items():
        # A call in place cleans the data, so it is restored outside the clock, once for each batch.
        def restore():
            if task != "nan_to_num out=":
                a.copy_(x)
                b.copy_(x)

        target = np.empty(nbytes, np.uint8)
        source = np.zeros(nbytes, np.uint8)
        rows = []
        for _ in range(options.rounds):
            rows.append(
                (
                    rate(ours, options.seconds, nbytes, restore),
                    rate(theirs, options.seconds, nbytes, restore),
                    rate(
                        lambda: np.copyto(target, source), options.seconds / 2, nbytes, lambda: None
                    ),
                )
            )
        mine, torchs, copy = (statistics.median(column) for column in zip(*rows))
        ratio = statistics.median(row[0] / row[1] for row in rows)
        slower += ratio < 1
        print(
            f"| {task} {name} | {kib} | {data} | {path} | {mine:.1f} | {torchs:.1f} "
            f"| {ratio:.2f} | {copy:.1f} |",
            flush=True,
        )
    return slower


if __name__ == "__main__":
    sys.exit(main())
