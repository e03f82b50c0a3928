"""Measures `nonfinite` and Python frameworks in one process, on one thread; see README.md."""

import argparse
import gc
import importlib.metadata
import json
import statistics
import time

import numpy as np

import peers
from data import ASKS, FORMATS, expected, tensor

# How long a sample takes at least, in seconds.
SAMPLE = 0.002


def cell(fmt, ask, size, kind="clean"):
    """As the project's own benchmarks name it."""
    what, question = ask.split("/")
    name = f"{size >> 20}MiB" if size >= 1 << 20 else f"{size >> 10}KiB"
    return f"{what}/{fmt}/{question}/{name}/{kind}"


def fits(result, right):
    if isinstance(right, bool):
        return result is right or (isinstance(result, (bool, np.bool_)) and bool(result) == right)
    return np.array_equal(np.asarray(result, bool), right)


def answers_wrongly(make, fmt, ask):
    """Checks answers on several kinds of data and odd lengths. None if there is no answer."""
    for kind in ("clean", "dirty", "random", "allnan"):
        for n in (1, 100, 4096, 50_021):
            x = tensor(fmt, kind, n)
            task = make(fmt, ask, x)
            if task is None:
                return None
            run, read = task
            if not fits(read(run()), expected(fmt, ask, x)):
                return f"{n} elements, {kind}"
    return ""


def calls_a_sample(run):
    run()
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        if time.perf_counter() - start >= SAMPLE:
            return calls
        calls *= 2


def measure(tasks, rounds):
    """Median seconds of a call. The tasks take turns, so that other load affects all of them."""
    calls, samples = {}, {name: [] for name in tasks}
    for name, (select, run) in tasks.items():
        select()
        calls[name] = calls_a_sample(run)
    for _ in range(rounds):
        for name, (select, run) in tasks.items():
            select()
            run()
            start = time.perf_counter()
            for _ in range(calls[name]):
                run()
            samples[name].append((time.perf_counter() - start) / calls[name])
    return {name: statistics.median(times) for name, times in samples.items()}


def table(title, rows, value):
    names = list(dict.fromkeys(row["name"] for row in rows))
    print(f"\n### {title}\n\n| | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for what in dict.fromkeys(row["cell"] for row in rows):
        found = {row["name"]: row[value] for row in rows if row["cell"] == what}
        shown = [f"{found[name]:.3g}" if name in found else "" for name in names]
        print(f"| {'/'.join(what.split('/')[:3])} | {' | '.join(shown)} |")


def main():
    # Signalling NaN among the data raise the flag that numpy warns of.
    np.seterr(all="ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="our shared library")
    parser.add_argument("--json", help="write the rows here")
    parser.add_argument("--kib", default="1,256,8192", help="sizes of the tensor")
    parser.add_argument("--filter", default="", help="only cells that have this in their name")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()

    peers.load_ours(options.library)
    # Ours first.
    everybody = dict(
        sorted(peers.PEERS.items(), key=lambda item: not item[0].startswith("nonfinite"))
    )
    sizes = [int(kib) << 10 for kib in options.kib.split(",")]

    missing = set()
    rows = []
    for fmt in FORMATS:
        for ask in ASKS:
            if options.filter not in cell(fmt, ask, sizes[0]):
                continue
            able = {}
            for name, make in everybody.items():
                if name in missing:
                    continue
                try:
                    wrong = answers_wrongly(make, fmt, ask)
                except ModuleNotFoundError as error:
                    missing.add(name)
                    print(f"{name} is not measured: {error}", flush=True)
                    continue
                if wrong:
                    # Measured anyway if its answers are right for the data that is timed.
                    out = "; it is left out" if wrong.endswith("clean") else ""
                    print(f"WRONG: {name}, {ask} of {fmt}, {wrong}{out}", flush=True)
                    name += " (wrong)"
                if wrong is not None and not wrong.endswith("clean"):
                    able[name] = make
            for size in sizes:
                x = tensor(fmt, "clean", size // np.dtype(FORMATS[fmt][0]).itemsize)
                tasks = {
                    name: (getattr(make, "select", lambda: None), make(fmt, ask, x)[0])
                    for name, make in able.items()
                }
                gc.collect()
                gc.disable()
                times = measure(tasks, options.rounds)
                gc.enable()
                for name, seconds in times.items():
                    rows.append(
                        {
                            "cell": cell(fmt, ask, size),
                            "name": name,
                            "gb_per_s": round(size / seconds / 1e9, 4),
                            "us_per_call": round(seconds * 1e6, 4),
                        }
                    )

    for size in sizes:
        of_size = [
            row
            for row in rows
            if row["cell"].split("/")[3] == cell("f32", ASKS[0], size).split("/")[3]
        ]
        name = of_size[0]["cell"].split("/")[3] if of_size else ""
        if size <= 4096:
            table(f"{name}: microseconds a call", of_size, "us_per_call")
        else:
            table(f"{name}: GB/s of input", of_size, "gb_per_s")
    packages = [
        "numpy",
        "ml_dtypes",
        "torch",
        "onnxruntime",
        "openvino",
        "pyarrow",
        "polars",
        "scikit-learn",
        "bottleneck",
        "opencv-python-headless",
    ]
    found = {
        dist.metadata["Name"].lower().replace("-", "_"): dist.version
        for dist in importlib.metadata.distributions()
    }
    versions = [
        f"{name} {found[key]}" for name in packages if (key := name.replace("-", "_")) in found
    ]
    print(f"\nVersions: {', '.join(versions)}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
