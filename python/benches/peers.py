"""Is everything finite? The time of this question in eight libraries: `python benches/peers.py`.

Prints a table in Markdown, and writes the picture of f32 to the file `--svg`. Every library uses
one thread. The calls of one dtype and size take turns; the table has the least time of a call. What
is not installed, or has no answer for a dtype, is left out.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Read when the libraries are imported.
os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np
from calls import bottleneck, ml_dtypes, optional, pa, torch

import nonfinite as nf

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from report_lib import machine
from report_lib.svg import FAINT, GRID, INK, Svg

jax, polars = optional("jax"), optional("polars")

SIZES = (64, 1000, 10**6, 10**8)
DTYPES = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn")
#: Bottleneck only asks for NaN. Colours that also differ for the colour-blind (Okabe and Ito).
LIBRARIES = {
    "nonfinite": "#d55e00",
    "nonfinite, torch": "#e69f00",
    "numpy": "#0072b2",
    "bottleneck": "#56b4e9",
    "torch": "#009e73",
    "jax": "#cc79a7",
    "pyarrow": "#999999",
    "polars": "#222222",
}

Call = Callable[[], Any]


def calls(dtype: str, size: int) -> dict[str, Call]:
    """The question about an array of ones, in each library that has an answer."""
    plain = hasattr(np, dtype)
    if not plain and not ml_dtypes:
        return {}
    a = np.ones(size, getattr(np if plain else ml_dtypes, dtype))
    found: dict[str, Call] = {
        "nonfinite": lambda: nf.all_finite(a),
        "numpy": lambda: np.isfinite(a).all(),
    }
    if torch:
        t = torch.from_numpy(a.view(f"u{a.itemsize}")).view(getattr(torch, dtype))
        found["nonfinite, torch"] = lambda: nf.all_finite(t)
        found["torch"] = lambda: torch.isfinite(t).all().item()
    if jax:
        j, ask = jax.numpy.asarray(a), jax.jit(lambda x: jax.numpy.isfinite(x).all())
        found["jax"] = lambda: bool(ask(j))
    if dtype in ("float32", "float64"):
        if bottleneck:
            found["bottleneck"] = lambda: not bottleneck.anynan(a)
        if pa:
            compute = optional("pyarrow.compute")
            letters = {"float32": pa.float32(), "float64": pa.float64()}
            r = pa.Array.from_buffers(letters[dtype], size, [None, pa.py_buffer(a)])
            found["pyarrow"] = lambda: compute.all(compute.is_finite(r)).as_py()
        if polars:
            s = polars.Series(a)
            found["polars"] = lambda: s.is_finite().all()
    return {name: call for name, call in found.items() if works(call)}


def works(call: Call) -> bool:
    """Whether the library has an answer for this dtype, which must be right."""
    try:
        answer = call()
    except (RuntimeError, TypeError, NotImplementedError):
        return False
    assert answer, "ones are finite"
    return True


def nanoseconds(call: Call, times: int) -> float:
    """The time of one of so many calls."""
    start = time.perf_counter_ns()
    for _ in range(times):
        call()
    return (time.perf_counter_ns() - start) / times


def measure(asked: dict[str, Call], rounds: int) -> dict[str, float]:
    """The least time of each call, less that of a call of nothing. The calls take turns."""
    asked = {**asked, "nothing": lambda: None}
    times = {name: max(1, int(200_000 / nanoseconds(call, 3))) for name, call in asked.items()}
    least = dict.fromkeys(asked, math.inf)
    for _ in range(rounds):
        for name, call in asked.items():
            least[name] = min(least[name], nanoseconds(call, times[name]))
    nothing = least.pop("nothing")
    return {name: took - nothing for name, took in least.items()}


def picture(found: dict[int, dict[str, float]]) -> str:
    """Time against size, both logarithmic."""
    width, height, left, top = 720, 430, 70, 40
    right, bottom = width - 160, height - 50
    lowest, decades = 10.0, 9
    svg = Svg(width, height)
    svg.text(left, 22, "Is everything finite? f32, one thread", 14, bold=True)

    def place(size: float, took: float) -> tuple[float, float]:
        across = math.log10(size / SIZES[0]) / math.log10(SIZES[-1] / SIZES[0])
        up = math.log10(took / lowest) / decades
        return left + across * (right - left), bottom - up * (bottom - top)

    labels = "10 ns,100 ns,1 us,10 us,100 us,1 ms,10 ms,100 ms,1 s,10 s".split(",")
    for decade, label in enumerate(labels):
        y = place(1, lowest * 10**decade)[1]
        svg.line([(left, y), (right, y)], GRID, 1)
        svg.text(left - 6, y + 4, label, 11, "end", FAINT)
    for size in SIZES:
        svg.text(place(size, 1)[0], bottom + 18, f"{size:,}", 11, "middle", FAINT)
    svg.text((left + right) / 2, bottom + 38, "elements", 12, "middle", INK)
    ends = []
    for name, color in LIBRARIES.items():
        points = [place(size, max(lowest, row[name])) for size, row in found.items() if name in row]
        if points:
            svg.line(points, color)
            for point in points:
                svg.dot(*point, color)
            ends.append((points[-1][1], name, color))
    # Labels one below the other.
    y = 0.0
    for end, name, color in sorted(ends):
        y = max(end, y + 14)
        svg.text(right + 10, y + 4, name, 12, color=color)
    return str(svg)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", type=Path, help="the file of the picture")
    parser.add_argument("--rounds", type=int, default=300, help="rounds of the small sizes")
    arguments = parser.parse_args()
    if torch:
        torch.set_num_threads(1)
    modules = (np, bottleneck, torch, jax, ml_dtypes, pa, polars)
    versions = ", ".join(f"{module.__name__} {module.__version__}" for module in modules if module)
    print(f"{machine.cpu()}, {machine.utc(time.time())}, load {machine.load()}. {versions}.\n")
    print("| dtype | elements | " + " | ".join(LIBRARIES) + " |")
    print("|---|--:" + "|--:" * len(LIBRARIES) + "|")
    for dtype in DTYPES:
        found: dict[int, dict[str, float]] = {}
        for size in SIZES:
            rounds = arguments.rounds if size < 10**6 else max(3, arguments.rounds // 60)
            found[size] = measure(calls(dtype, size), rounds)
            took = found[size]
            cells = [f"{took[name]:,.0f}" if name in took else "" for name in LIBRARIES]
            print(f"| {dtype} | {size:,} | " + " | ".join(cells) + " |", flush=True)
        if dtype == "float32" and arguments.svg:
            arguments.svg.write_text(picture(found))


if __name__ == "__main__":
    main()
